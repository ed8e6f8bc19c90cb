/*
 * Writes a tracefile of lcov (geninfo(1), "TRACEFILE FORMAT").  Functions are
 * written as FN and FNDA, which every reader knows, with their linkage names,
 * as geninfo does; never with a comma, at which older readers end a name.
 * Unknown counts are left out, and so is what lcov 2 would give up at;
 * comments tell how many.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/cover.h"
#include "report/kinds.h"
#include "report/printable.h"
#include "util/mem.h"
#include "util/search.h"

/* Write a name without commas: names from DWARF may be "add<int, long>". */
static void
name_put(const char *name, FILE *out)
{
	text_line_put(out, name, ",", ';');
	putc('\n', out);
}

/* ---- what lcov 2 takes for mistakes */

/* What is left out: numbers. */
struct left {
	size_t funcs, ways;
};

/* Did any of the lines [from, to) run? */
static bool
lines_ran(const struct cover_file *file, size_t from, size_t to)
{
	bool ran = false;

	for (; from < to; from++)
		ran |= figure_ran(&file->lines[from].count);
	return ran;
}

/* Did any of the functions [from, to) run?  *known: the count of any is. */
static bool
funcs_ran(const struct cover_file *file, size_t from, size_t to, bool *known)
{
	bool ran = false;

	for (*known = false; from < to; from++) {
		*known |= !file->funcs[from].count.why;
		ran |= figure_ran(&file->funcs[from].count);
	}
	return ran;
}

/*
 * Choose the functions to write.  lcov 2 takes the lines up to the next function
 * for those of a function, and gives up where some ran and the function did
 * not, or the other way about.  That happens with optimised code, and with the
 * lines of functions that have no name or no known count.  A function's first
 * line must be there: --line may leave it out.  Functions that begin at one line
 * are one to lcov.  Returns a flag per function, owned by the
 * caller.
 */
static bool *
funcs_choose(const struct cover_file *file, struct left *left)
{
	bool *chosen = mem_alloc(file->nfuncs * sizeof(*chosen));
	bool seen = false;
	size_t end = file->nlines, first;

	for (size_t i = file->nfuncs; i > 0; i = first) {
		const struct cover_func *funcs = file->funcs;
		uint32_t line = funcs[i - 1].line;
		size_t begin = search_first(file->nlines, k,
					    file->lines[k].line >= line);
		bool known, ran, there;

		for (first = i; first && funcs[first - 1].line == line; first--)
			;
		ran = funcs_ran(file, first, i, &known);
		seen |= lines_ran(file, begin, end);
		there = begin < end && file->lines[begin].line == line &&
			!file->lines[begin].count.why;
		end = begin;
		if (known && there && seen == ran) {
			seen = false;
			for (size_t k = first; k < i; k++)
				chosen[k] = !funcs[k].count.why;
		} else {
			for (size_t k = first; k < i; k++)
				left->funcs += !funcs[k].count.why;
		}
	}
	return chosen;
}

/*
 * Whether to write the branches of a line.  lcov 2 gives up if the line ran and
 * none of its branches was come to, as in an instance of a template that did
 * not run; or if a way was taken and the line did not run, or is not there.
 */
static bool
branches_fit(const struct cover_file *file, const struct cover_line *line)
{
	bool taken = false;

	for (size_t i = 0; i < line->nbranches; i++)
		taken |= figure_ran(&file->branches[line->branch + i].count);
	return !line->count.why && taken == figure_ran(&line->count);
}

/* ---- records */

static void
funcs_put(const struct cover_file *file, struct left *left, FILE *out)
{
	bool *chosen = funcs_choose(file, left);
	size_t all = 0, hit = 0;

	for (size_t i = 0; i < file->nfuncs; i++) {
		if (!chosen[i])
			continue;
		fprintf(out, "FN:%u,", file->funcs[i].line);
		name_put(file->funcs[i].name, out);
	}
	for (size_t i = 0; i < file->nfuncs; i++) {
		const struct cover_func *func = &file->funcs[i];

		if (!chosen[i])
			continue;
		fprintf(out, "FNDA:%" PRIu64 ",", func->count.n);
		name_put(func->name, out);
		all++;
		hit += func->count.n != 0;
	}
	if (all)
		fprintf(out, "FNF:%zu\nFNH:%zu\n", all, hit);
	free(chosen);
}

static void
branch_put(const struct cover_branch *branch, FILE *out)
{
	fprintf(out, "BRDA:%u,%u,%u,", branch->line, branch->branch,
		branch->way);
	if (!branch->begun.why && !branch->begun.n)
		fputs("-\n", out);
	else
		fprintf(out, "%" PRIu64 "\n", branch->count.n);
}

static void
branches_put(const struct cover_file *file, struct left *left, FILE *out)
{
	size_t all = 0, hit = 0;

	for (size_t i = 0; i < file->nlines; i++) {
		const struct cover_line *line = &file->lines[i];
		bool fit = branches_fit(file, line);

		for (size_t k = 0; k < line->nbranches; k++) {
			const struct cover_branch *branch =
				&file->branches[line->branch + k];

			if (branch->count.why)
				continue;
			if (!fit) {
				left->ways++;
				continue;
			}
			branch_put(branch, out);
			all++;
			hit += branch->count.n != 0;
		}
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
	struct left left = { 0 };

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
		funcs_put(file, &left, out);
		branches_put(file, &left, out);
		lines_put(file, out);
		fputs("end_of_record\n", out);
	}
	if (left.funcs || left.ways)
		fprintf(out,
			"# left out, as lcov 2 takes them for mistakes: %zu "
			"functions, %zu ways of branches\n",
			left.funcs, left.ways);
	cover_free(cover);
}
