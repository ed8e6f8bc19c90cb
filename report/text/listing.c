/*
 * The listing and the report of lines: every source line with its count, as in
 * Bishop 1987, and in the latter with its executed instructions, as in
 * Weinberger 1984.
 */
#include "report/kinds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/printable.h"
#include "report/work.h"

enum {
	COUNT_MIN = 5,
	LINE_MIN = 4,
	IE_MIN = 9,
	INSNS_WIDTH = 5,
	TEXT_MAX = 1000,
	CONTEXT = 3
};

struct widths {
	size_t file, line, count, ie;
};

struct page {
	struct table *table;
	FILE *out;
	struct widths widths;
	const struct work *works;	/* per line, or NULL */
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
		wide = text_digits(
			table->lines[file->line + file->nlines - 1].line);
		if (wide > widths.line)
			widths.line = wide;
	}
	return widths;
}

/* Whether --line, if given, chose the line. */
static bool
line_listed(const struct file_entry *file, uint32_t line)
{
	const struct selection *sel = file->plan->options.sel;

	return !sel || select_file_line(sel, file->path, line);
}

/*
 * Whether a line without code is shown: of the system's files only those near
 * code, from line `before` (0: none) or line `next` on.
 */
static bool
line_near(const struct file_entry *file, uint32_t before, uint32_t line,
	  uint32_t next)
{
	return !file->foreign || (before && line - before <= CONTEXT) ||
	       (next > line && next - line <= CONTEXT);
}

static void
count_write(const struct page *page, const struct line_entry *entry)
{
	if (!entry)
		fprintf(page->out, "%*s", (int)page->widths.count, "");
	else
		figure_or_never(page->out, &entry->count, page->widths.count);
}

static void
work_write(const struct page *page, const struct line_entry *entry)
{
	const struct work *work;

	if (!entry) {
		fprintf(page->out, " %*s %*s", (int)page->widths.ie, "",
			INSNS_WIDTH, "");
		return;
	}
	work = &page->works[entry - page->table->lines];
	putc(' ', page->out);
	figure_write(page->out, &work->ie, page->widths.ie);
	putc(' ', page->out);
	text_count(page->out, work->i, INSNS_WIDTH);
}

static void
row_write(const struct page *page, const struct file_entry *file,
	  const struct line_entry *entry, uint32_t line)
{
	const char *text = NULL;
	size_t len;

	text_column(page->out, file->shown, page->widths.file);
	fprintf(page->out, " %*u ", (int)page->widths.line, line);
	count_write(page, entry);
	if (page->works)
		work_write(page, entry);
	putc(':', page->out);
	if (file->source)
		text = source_line(file->source, line, &len);
	if (text && len) {
		fputs("  ", page->out);
		if (entry && !entry->count.why && !entry->count.n)
			text_colour(page->out, TEXT_BAD);
		text_print(page->out, text, len, TEXT_MAX);
		text_colour(page->out, TEXT_PLAIN);
	}
	putc('\n', page->out);
}

/* Warn that the source is missing, or newer than the program. */
static void
file_remark(const struct table *table, const struct file_entry *file, FILE *out)
{
	size_t columns = table->columns;

	if (!file->source) {
		text_paragraph(out, "# ", file->source_fault, columns);
		text_paragraph(out, "# ",
			       "Without the text only lines with code are "
			       "listed (see --source-path).",
			       columns);
	} else if (table_source_newer(file)) {
		text_paragraph(out, "# ", file->path, columns);
		text_paragraph(out, "# ",
			       "The source is newer than the program: counts "
			       "may be at the wrong lines.",
			       columns);
	}
}

static void
file_write(const struct page *page, struct file_entry *file)
{
	struct table *table = page->table;
	const struct line_entry *entry = &table->lines[file->line];
	const struct line_entry *end = entry + file->nlines;
	struct source *source = table_source(table, file);
	uint32_t line, last = end[-1].line, before = 0;

	if (source && source->nlines > last)
		last = source->nlines < UINT32_MAX ? source->nlines :
						     UINT32_MAX - 1;
	file_remark(table, file, page->out);
	for (line = 1; line <= last; line++) {
		bool has_code = entry < end && entry->line == line;

		if (has_code || (source && line <= source->nlines &&
				 line_listed(file, line) &&
				 line_near(file, before, line,
					   entry < end ? entry->line : 0)))
			row_write(page, file, has_code ? entry : NULL, line);
		if (has_code) {
			before = line;
			entry++;
		}
		/* No text from here on: skip to the next line with code. */
		if (!source || line >= source->nlines) {
			if (entry == end)
				break;
			line = entry->line - 1;
		}
	}
}

static void
page_write(struct page *page)
{
	struct table *table = page->table;

	fputs("  #####: has code that never ran; ?: count not known; "
	      "blank: no code counted\n",
	      page->out);
	foreign_write(table, "  ", page->out);
	putc('\n', page->out);
	text_column(page->out, "FILE", page->widths.file);
	fprintf(page->out, " %*s %*s", (int)page->widths.line, "LINE",
		(int)page->widths.count, "COUNT");
	if (page->works)
		fprintf(page->out, " %*s %*s", (int)page->widths.ie, "EXECUTED",
			INSNS_WIDTH, "INSNS");
	putc('\n', page->out);
	for (size_t i = 0; i < table->nfiles; i++) {
		if (!table->files[i].nlines)
			continue;
		file_write(page, &table->files[i]);
		table_source_drop(&table->files[i]);
	}
}

void
listing_write(struct table *table, FILE *out)
{
	struct page page = { .table = table, .out = out };

	title_write(table, out, "Lines");
	if (!lines_present(table, out))
		return;
	page.widths = widths_find(table);
	page_write(&page);
}

void
lines_write(struct table *table, FILE *out)
{
	struct page page = { .table = table, .out = out };
	struct work rest, *works;
	struct reasons reasons = { 0 };

	title_write(table, out, "Lines");
	if (!lines_present(table, out) || !units_present(table, out, UNIT_INSN))
		return;
	page.works = works = work_by_line(table, &rest);
	page.widths = widths_find(table);
	page.widths.ie = IE_MIN;
	for (size_t i = 0; i < table->nlines; i++)
		figure_widen(&page.widths.ie, &works[i].ie);
	fputs("  EXECUTED: instructions executed; INSNS: instructions\n", out);
	page_write(&page);
	for (size_t i = 0; i < table->nlines; i++) {
		reasons_add_unit(&reasons, table->lines[i].count.why,
				 UNIT_LINE);
		if (!table->lines[i].count.why)
			reasons_add(&reasons, works[i].ie.why,
				    "line's instructions",
				    "lines' instructions");
	}
	if (rest.i) {
		fputs("\nOutside the lines above: ", out);
		figure_write(out, &rest.ie, 1);
		fputs(" executed, of ", out);
		text_count(out, rest.i, 0);
		fputs(" instructions.\n", out);
	}
	reasons_write(&reasons, out);
	free(works);
}
