/*
 * Source files that are the system's or the compiler's, not the program's:
 * headers, and the sources of libraries whose code is compiled into it.  Reports
 * leave out their lines unless they are asked for.  Opens no file.
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

void
foreign_mark(struct table *table)
{
	size_t n = 0;

	if (files_chosen(table->report_input))
		return;
	for (size_t i = 0; i < table->nfiles; i++) {
		table->files[i].foreign = path_foreign(table->files[i].path);
		n += table->files[i].foreign;
	}
	/* Not of a library of the system, counted for its own sake. */
	table->leaves = !table->opts->system_headers && n < table->nfiles;
}

bool
foreign_left(const struct table *table, uint32_t file)
{
	return table->leaves && file != FILE_NONE && table->files[file].foreign;
}

void
foreign_write(const struct table *table, const char *indent, FILE *out)
{
	char *lines, *files, *line;
	size_t nfiles = 0;

	for (size_t i = 0; i < table->nfiles; i++)
		nfiles += table->files[i].left;
	if (!nfiles)
		return;
	lines = text_number(table->nleft, "line");
	files = text_number(nfiles, "system file");
	line = mem_printf("without %s of %s, which --system-headers adds",
			  lines, files);
	text_paragraph(out, indent, line, table->columns);
	free(line);
	free(files);
	free(lines);
}
