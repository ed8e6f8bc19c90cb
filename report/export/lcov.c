/*
 * Writes a tracefile of lcov (geninfo(1), "TRACEFILE FORMAT").  Functions are
 * written as FN and FNDA, which every reader knows, with their linkage names,
 * as geninfo does; never with a comma, at which older readers end a name.
 * Unknown counts are left out, and comments tell their number.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/cover.h"
#include "report/kinds.h"
#include "report/printable.h"

/* Write a name without commas: names from DWARF may be "add<int, long>". */
static void
name_put(const char *name, FILE *out)
{
	text_line_put(out, name, ",", ';');
	putc('\n', out);
}

static void
funcs_put(const struct cover_file *file, FILE *out)
{
	size_t all = 0, hit = 0;

	for (size_t i = 0; i < file->nfuncs; i++) {
		if (file->funcs[i].count.why)
			continue;
		fprintf(out, "FN:%u,", file->funcs[i].line);
		name_put(file->funcs[i].name, out);
	}
	for (size_t i = 0; i < file->nfuncs; i++) {
		const struct cover_func *func = &file->funcs[i];

		if (func->count.why)
			continue;
		fprintf(out, "FNDA:%" PRIu64 ",", func->count.n);
		name_put(func->name, out);
		all++;
		hit += func->count.n != 0;
	}
	if (all)
		fprintf(out, "FNF:%zu\nFNH:%zu\n", all, hit);
}

static void
branches_put(const struct cover_file *file, FILE *out)
{
	size_t all = 0, hit = 0;

	for (size_t i = 0; i < file->nbranches; i++) {
		const struct cover_branch *branch = &file->branches[i];

		if (branch->count.why)
			continue;
		fprintf(out, "BRDA:%u,%u,%u,", branch->line, branch->branch,
			branch->way);
		if (!branch->begun.why && !branch->begun.n)
			fputs("-\n", out);
		else
			fprintf(out, "%" PRIu64 "\n", branch->count.n);
		all++;
		hit += branch->count.n != 0;
	}
	if (all)
		fprintf(out, "BRF:%zu\nBRH:%zu\n", all, hit);
}

static void
lines_put(const struct cover_file *file, FILE *out)
{
	size_t all = 0, hit = 0;

	for (size_t i = 0; i < file->nlines; i++) {
		const struct cover_line *line = &file->lines[i];

		if (line->count.why)
			continue;
		fprintf(out, "DA:%u,%" PRIu64 "\n", line->line, line->count.n);
		all++;
		hit += line->count.n != 0;
	}
	fprintf(out, "LF:%zu\nLH:%zu\n", all, hit);
}

static void
unknown_put(const struct cover_totals *totals, FILE *out)
{
	if (totals->funcs.unknown || totals->lines.unknown ||
	    totals->branches.unknown)
		fprintf(out,
			"# not known and left out: %zu functions, %zu "
			"lines, %zu ways of branches\n",
			totals->funcs.unknown, totals->lines.unknown,
			totals->branches.unknown);
}

void
lcov_write(struct table *table, FILE *out)
{
	struct cover *cover = cover_make(table);
	struct cover_totals totals = { 0 };

	for (size_t i = 0; i < cover->nfiles; i++)
		cover_totals_add(&totals, &cover->files[i]);
	unknown_put(&totals, out);
	for (size_t i = 0; i < cover->nfiles; i++) {
		const struct cover_file *file = &cover->files[i];

		if (!file->nlines)
			continue;
		fputs("TN:\nSF:", out);
		text_line_put(out, file->path, "", 0);
		putc('\n', out);
		funcs_put(file, out);
		branches_put(file, out);
		lines_put(file, out);
		fputs("end_of_record\n", out);
	}
	cover_free(cover);
}
