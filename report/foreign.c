/*
 * Source files that are the system's or the compiler's, not the program's:
 * headers, and the sources of libraries whose code is compiled into it.  Reports
 * leave out their lines unless they are asked for, and those of files that the
 * user excludes.  Opens no file.
 */
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

#include "report/printable.h"
#include "util/mem.h"

static bool
path_foreign(const char *path)
{
	/* Rust's library has that path wherever it was built. */
	static const char *const theirs[] = { "/usr/", "/rustc/" };
	static const char *const own[] = { "/usr/src/", "/usr/local/src/" };
	bool foreign = false;

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		foreign |= !strncmp(path, theirs[i], strlen(theirs[i]));
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		foreign &= strncmp(path, own[i], strlen(own[i])) != 0;
	return foreign;
}

/* Has the user chosen source files or lines? */
static bool
files_chosen(const struct report_input *report_input)
{
	for (size_t i = 0; i < report_input->nplans; i++) {
		const struct selection *sel =
			report_input->plans[i]->options.sel;

		if (sel && (sel->files.n || sel->lines.n))
			return true;
	}
	return false;
}

static bool
path_excluded(const struct report_options *opts, const char *path)
{
	for (size_t i = 0; i < opts->nexclude_paths; i++)
		if (select_path(opts->exclude_paths[i], path))
			return true;
	return false;
}

void
foreign_mark(struct table *table)
{
	bool chosen = files_chosen(table->report_input), leaves;
	size_t n = 0;

	for (size_t i = 0; i < table->nfiles; i++) {
		struct file_entry *file = &table->files[i];

		file->excluded = path_excluded(table->opts, file->path);
		file->foreign = !chosen && path_foreign(file->path);
		n += file->foreign;
	}
	/* Not of a library of the system, counted for its own sake. */
	leaves = !table->opts->system_headers && n < table->nfiles;
	for (size_t i = 0; i < table->nfiles; i++)
		table->files[i].left = table->files[i].excluded ||
				       (leaves && table->files[i].foreign);
}

bool
foreign_left(const struct table *table, uint32_t file)
{
	return file != FILE_NONE && table->files[file].left;
}

/* Say what was left out of the files that are excluded, or of the others. */
static void
left_write(const struct table *table, bool excluded, const char *indent,
	   FILE *out)
{
	char *lines, *files, *line;
	size_t nfiles = 0, nlines = 0;

	for (size_t i = 0; i < table->nfiles; i++) {
		if (table->files[i].excluded != excluded)
			continue;
		nlines += table->files[i].nleft;
		nfiles += table->files[i].nleft != 0;
	}
	if (!nfiles)
		return;
	lines = text_number(nlines, "line");
	files = text_number(nfiles, excluded ? "file" : "system file");
	line = mem_printf("without %s of %s, which %s", lines, files,
			  excluded ? "--exclude-path leaves out" :
				     "--system-headers adds");
	text_paragraph(out, indent, line, table->columns);
	free(line);
	free(files);
	free(lines);
}

void
foreign_write(const struct table *table, const char *indent, FILE *out)
{
	left_write(table, false, indent, out);
	left_write(table, true, indent, out);
}
