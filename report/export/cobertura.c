/*
 * Writes coverage in Cobertura's XML (coverage-04.dtd).  A package is a
 * directory, a class a source file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/cover.h"
#include "report/kinds.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

struct page {
	const struct table *table;
	struct cover *cover;
	FILE *out;
	char *root;		/* directory of all files; no '/' at its end */
};

/* ---- figures */

/* Write the rate of known units that ran; 1 if there are none. */
static void
rate_put(FILE *out, const char *name, const struct totals *totals)
{
	size_t known = totals->run + totals->never;

	fprintf(out, " %s=\"%.6g\"", name,
		known ? (double)totals->run / (double)known : 1.0);
}

static void
rates_put(FILE *out, const struct cover_totals *totals)
{
	rate_put(out, "line-rate", &totals->lines);
	rate_put(out, "branch-rate", &totals->branches);
	fputs(" complexity=\"0\"", out);
}

static void
attribute_put(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	text_xml(out, value);
	putc('"', out);
}

/* ---- lines */

/* The totals of the ways of a line's branches. */
static struct totals
line_ways(const struct cover_file *file, const struct cover_line *line)
{
	struct totals ways = { 0 };

	for (size_t i = 0; i < line->nbranches; i++)
		totals_add(&ways, &file->branches[line->branch + i].count);
	return ways;
}

/* Write a condition for each branch. */
static void
conditions_put(FILE *out, const struct cover_file *file,
	       const struct cover_line *line)
{
	size_t end = line->branch + line->nbranches, i, j;

	fputs(">\n<conditions>\n", out);
	for (i = line->branch; i < end; i = j) {
		const struct cover_branch *branch = &file->branches[i];
		struct totals ways = { 0 };

		for (j = i;
		     j < end && file->branches[j].branch == branch->branch; j++)
			totals_add(&ways, &file->branches[j].count);
		if (ways.run + ways.never)
			fprintf(out,
				"<condition number=\"%u\" type=\"%s\" "
				"coverage=\"%zu%%\"/>\n",
				branch->branch, j - i == 2 ? "jump" : "switch",
				100 * ways.run / (ways.run + ways.never));
	}
	fputs("</conditions>\n</line>\n", out);
}

static void
line_put(FILE *out, const struct cover_file *file,
	 const struct cover_line *line)
{
	struct totals ways = line_ways(file, line);
	size_t known = ways.run + ways.never;

	if (line->count.why)
		return;
	fprintf(out,
		"<line number=\"%u\" hits=\"%" PRIu64 "\" "
		"branch=\"%s\"",
		line->line, line->count.n, known ? "true" : "false");
	if (!known) {
		fputs("/>\n", out);
		return;
	}
	fprintf(out, " condition-coverage=\"%zu%% (%zu/%zu)\"",
		100 * ways.run / known, ways.run, known);
	conditions_put(out, file, line);
}

/* Write the lines of a file, or of one function unless that is FUNC_NONE. */
static void
lines_put(FILE *out, const struct cover_file *file, uint32_t func)
{
	fputs("<lines>\n", out);
	for (size_t i = 0; i < file->nlines; i++)
		if (func == FUNC_NONE || file->lines[i].func == func)
			line_put(out, file, &file->lines[i]);
	fputs("</lines>\n", out);
}

/* ---- functions and files */

static void
method_put(const struct page *page, const struct cover_file *file,
	   uint32_t func)
{
	const char *linkage = file->funcs[func].name;
	char *name = name_shown(linkage, page->table->opts->demangle);
	struct cover_totals totals = { 0 };

	for (size_t i = 0; i < file->nlines; i++)
		if (file->lines[i].func == func)
			totals_add(&totals.lines, &file->lines[i].count);
	for (size_t i = 0; i < file->nbranches; i++)
		if (file->branches[i].func == func)
			totals_add(&totals.branches, &file->branches[i].count);
	fputs("<method", page->out);
	attribute_put(page->out, "name", name);
	attribute_put(page->out, "signature",
		      strcmp(name, linkage) ? linkage : "");
	rates_put(page->out, &totals);
	fputs(">\n", page->out);
	lines_put(page->out, file, func);
	fputs("</method>\n", page->out);
	free(name);
}

static const char *
path_below(const struct page *page, const char *path)
{
	if (*page->root || *path == '/')
		return path + strlen(page->root) + 1;
	return strncmp(path, "./", 2) ? path : path + 2;
}

static void
class_put(const struct page *page, const struct cover_file *file)
{
	const char *path = path_below(page, file->path);
	const char *slash = strrchr(path, '/');
	struct cover_totals totals = { 0 };

	cover_totals_add(&totals, file);
	fputs("<class", page->out);
	attribute_put(page->out, "name", slash ? slash + 1 : path);
	attribute_put(page->out, "filename", path);
	rates_put(page->out, &totals);
	fputs(">\n<methods>\n", page->out);
	for (uint32_t i = 0; i < file->nfuncs; i++)
		method_put(page, file, i);
	fputs("</methods>\n", page->out);
	lines_put(page->out, file, FUNC_NONE);
	fputs("</class>\n", page->out);
}

/* ---- directories */

static size_t
directory_length(const char *path)
{
	return (size_t)(strrchr(path, '/') - path);
}

static bool
same_directory(const struct cover_file *a, const struct cover_file *b)
{
	size_t len = directory_length(a->path);

	return len == directory_length(b->path) &&
	       strncmp(a->path, b->path, len) == 0;
}

static int
by_directory(const void *va, const void *vb)
{
	const struct cover_file *a = va, *b = vb;
	size_t i = directory_length(a->path), j = directory_length(b->path);
	int order = strncmp(a->path, b->path, i < j ? i : j);

	if (order || i != j)
		return order ? order : i < j ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* The package of a file, its directory below the root: "src.lib"; owned. */
static char *
package_name(const struct page *page, const char *path)
{
	char *name = mem_strdup(path_below(page, path));
	char *slash = strrchr(name, '/');

	if (slash)
		*slash = '\0';
	else
		*name = '\0';
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '.';
	return name;
}

/* Write the files of the directory of `first`; returns the next file. */
static size_t
package_put(const struct page *page, size_t first)
{
	const struct cover_file *files = page->cover->files;
	char *name = package_name(page, files[first].path);
	struct cover_totals totals = { 0 };
	size_t end = first;

	while (end < page->cover->nfiles &&
	       same_directory(&files[first], &files[end]))
		cover_totals_add(&totals, &files[end++]);
	fputs("<package", page->out);
	attribute_put(page->out, "name", name);
	rates_put(page->out, &totals);
	fputs(">\n<classes>\n", page->out);
	for (size_t i = first; i < end; i++)
		class_put(page, &files[i]);
	fputs("</classes>\n</package>\n", page->out);
	free(name);
	return end;
}

/* ---- all of it */

/*
 * Keep the files that have lines, and sort them by directory.  A path without
 * one gets "./".
 */
static void
files_choose(struct cover *cover)
{
	size_t n = 0;

	for (size_t i = 0; i < cover->nfiles; i++) {
		struct cover_file file = cover->files[i];

		if (!file.nlines)
			continue;
		if (!strchr(file.path, '/')) {
			char *path = mem_printf("./%s", file.path);

			free(file.path);
			file.path = path;
		}
		cover->files[i] = cover->files[n];
		cover->files[n++] = file;
	}
	if (n)
		qsort(cover->files, n, sizeof(*cover->files), by_directory);
	for (size_t i = n; i < cover->nfiles; i++)
		cover_file_free(&cover->files[i]);
	cover->nfiles = n;
}

/* The deepest directory of all files, owned by the caller; "" for "/". */
static char *
root_find(const struct cover *cover)
{
	char *root;
	size_t len;

	if (!cover->nfiles)
		return mem_strdup("");
	root = mem_strndup(cover->files[0].path,
			   directory_length(cover->files[0].path));
	for (size_t i = 1; i < cover->nfiles; i++) {
		const char *path = cover->files[i].path;

		len = strlen(root);
		while (strncmp(path, root, len) || path[len] != '/') {
			if (!len)
				break;
			while (len && root[--len] != '/')
				;
			root[len] = '\0';
		}
	}
	return root;
}

static void
coverage_put(const struct page *page)
{
	struct cover_totals totals = { 0 };
	size_t lines, ways;

	for (size_t i = 0; i < page->cover->nfiles; i++)
		cover_totals_add(&totals, &page->cover->files[i]);
	lines = totals.lines.run + totals.lines.never;
	ways = totals.branches.run + totals.branches.never;
	fputs("<coverage", page->out);
	rate_put(page->out, "line-rate", &totals.lines);
	rate_put(page->out, "branch-rate", &totals.branches);
	fprintf(page->out,
		" lines-covered=\"%zu\" lines-valid=\"%zu\" "
		"branches-covered=\"%zu\" branches-valid=\"%zu\" "
		"complexity=\"0\" version=\"pmon %s\" timestamp=\"%lld\">\n",
		totals.lines.run, lines, totals.branches.run, ways,
		PMON_VERSION, (long long)time(NULL));
	if (totals.lines.unknown || totals.branches.unknown)
		fprintf(page->out,
			"<!-- not known and left out: %zu lines, "
			"%zu ways of branches -->\n",
			totals.lines.unknown, totals.branches.unknown);
}

/* Below which directories the files are. */
static void
sources_put(const struct page *page, const char *project)
{
	fputs("<sources>\n<source>", page->out);
	text_xml(page->out, project ? project : *page->root ? page->root : "/");
	fputs("</source>\n", page->out);
	if (project && project[1])
		fputs("<source>/</source>\n", page->out);
	else if (!project && !*page->root)
		/* Some paths are relative to the compiler's directory. */
		fputs("<source>.</source>\n", page->out);
	fputs("</sources>\n", page->out);
}

void
cobertura_write(struct table *table, FILE *out)
{
	const char *project = table->opts->source_root;
	struct page page = {
		.table = table,
		.cover = cover_make(table),
		.out = out,
	};

	files_choose(page.cover);
	page.root = project ? mem_strdup("") : root_find(page.cover);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/"
	      "xml/coverage-04.dtd\">\n",
	      out);
	coverage_put(&page);
	sources_put(&page, project);
	fputs("<packages>\n", out);
	for (size_t i = 0; i < page.cover->nfiles;)
		i = package_put(&page, i);
	fputs("</packages>\n</coverage>\n", out);
	free(page.root);
	cover_free(page.cover);
}
