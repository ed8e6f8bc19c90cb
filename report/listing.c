/*
 * The listing: every line of the source with its count, as in Bishop 1987.
 */
#include "report/kinds.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "report/text.h"

enum { COUNT_MIN = 5, LINE_MIN = 4, TEXT_MAX = 1000 };

struct widths {
	size_t file, line, count;
};

static struct widths
widths_find(struct table *table)
{
	struct widths widths = { .file = 4, .line = LINE_MIN };
	size_t i;

	widths.count = table_lines_digits(table, COUNT_MIN);
	for (i = 0; i < table->nfiles; i++) {
		const struct file_entry *file = &table->files[i];
		size_t wide = text_width(file->shown, strlen(file->shown));

		if (!file->nlines)
			continue;
		if (wide > widths.file)
			widths.file = wide;
		wide = text_digits(table->lines[file->line + file->nlines -
						1].line);
		if (wide > widths.line)
			widths.line = wide;
	}
	return widths;
}

/* Whether --line, if given, has the line. */
static bool
line_listed(const struct file_entry *file, uint32_t line)
{
	const struct selection *sel = file->plan->selection;

	return !sel || select_file_line(sel, file->path, line);
}

static void
row_write(const struct file_entry *file, const struct line_entry *entry,
	  uint32_t line, const struct widths *widths, FILE *out)
{
	const char *text = NULL;
	size_t len;

	text_column(out, file->shown, widths->file);
	fprintf(out, " %*u ", (int)widths->line, line);
	if (!entry)
		fprintf(out, "%*s:", (int)widths->count, "");
	else if (entry->count.why)
		fprintf(out, "%*s:", (int)widths->count, "?");
	else if (!entry->count.n)
		fprintf(out, "%*s:", (int)widths->count, "#####");
	else
		fprintf(out, "%*" PRIu64 ":", (int)widths->count,
			entry->count.n);
	if (file->source)
		text = source_line(file->source, line, &len);
	if (text && len) {
		fputs("  ", out);
		text_print(out, text, len, TEXT_MAX);
	}
	putc('\n', out);
}

/* What the reader should know of the file's text. */
static void
file_remark(const struct table *table, const struct file_entry *file,
	    FILE *out)
{
	const char *program = file->plan->image->path;
	size_t columns = table->opts->columns;
	struct stat st;

	if (!file->source) {
		text_paragraph(out, "# ", file->source_fault, columns);
		text_paragraph(out, "# ",
			       "Without the text only lines with code are "
			       "listed (see --source-path).", columns);
	} else if (stat(program, &st) == 0 &&
		   (file->source->changed.tv_sec > st.st_mtim.tv_sec ||
		    (file->source->changed.tv_sec == st.st_mtim.tv_sec &&
		     file->source->changed.tv_nsec > st.st_mtim.tv_nsec))) {
		text_paragraph(out, "# ", file->path, columns);
		text_paragraph(out, "# ",
			       "The source is newer than the program: lines "
			       "and counts may not belong together.", columns);
	}
}

static void
file_write(struct table *table, struct file_entry *file,
	   const struct widths *widths, FILE *out)
{
	const struct line_entry *entry = &table->lines[file->line];
	const struct line_entry *end = entry + file->nlines;
	struct source *source = table_source(table, file);
	uint32_t line, last = end[-1].line;

	if (source && source->nlines > last)
		last = source->nlines < UINT32_MAX ? source->nlines :
						     UINT32_MAX - 1;
	file_remark(table, file, out);
	for (line = 1; line <= last; line++) {
		bool has_code = entry < end && entry->line == line;

		if (has_code || (source && line <= source->nlines &&
				 line_listed(file, line)))
			row_write(file, has_code ? entry : NULL, line, widths,
				  out);
		if (has_code)
			entry++;
		/* No text from here on: straight to the next code. */
		if (!source || line >= source->nlines) {
			if (entry == end)
				break;
			line = entry->line - 1;
		}
	}
}

void
listing_write(struct table *table, FILE *out)
{
	struct widths widths = widths_find(table);
	size_t i;

	title_write(table, out, "Lines");
	if (!lines_present(table, out))
		return;
	fputs("  #####: has code that never ran; ?: count not known; "
	      "blank: no code counted\n\n", out);
	text_column(out, "FILE", widths.file);
	fprintf(out, " %*s %*s\n", (int)widths.line, "LINE",
		(int)widths.count, "COUNT");
	for (i = 0; i < table->nfiles; i++) {
		if (!table->files[i].nlines)
			continue;
		file_write(table, &table->files[i], &widths, out);
		table_source_drop(&table->files[i]);
	}
}
