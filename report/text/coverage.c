/*
 * The share of the lines that ran (--fail-under), and the lines that ran in
 * only one of two report inputs.  Never takes a line whose count is not known
 * for one that ran.
 */
#include <stdlib.h>
#include <string.h>

#include "report/kinds.h"
#include "report/printable.h"
#include "util/fail.h"
#include "util/mem.h"

enum { PERCENT_ALL = 100000, THOUSAND = 1000 };	/* 1/1000 percent */
enum { COUNT_WIDTH = 10 };

static struct totals
lines_total(const struct table *table)
{
	struct totals totals = { 0 };

	for (size_t i = 0; i < table->nlines; i++)
		totals_add(&totals, &table->lines[i].count);
	return totals;
}

/* "57.33 %", rounded down; owned by the caller. */
static char *
share_text(const struct totals *totals)
{
	size_t share = totals->all ? totals->run * 10000 / totals->all : 0;

	return mem_printf("%zu.%02zu %%", share / 100, share % 100);
}

/* "80", "99.95": owned by the caller. */
static char *
limit_text(unsigned limit)
{
	char *text = mem_printf("%u.%03u", limit / THOUSAND, limit % THOUSAND);
	char *end = text + strlen(text);

	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
	return text;
}

static int
totals_check(const struct totals *totals, unsigned limit)
{
	char *share, *under;

	if (!totals->all)
		return fail("--fail-under: no lines were counted");
	if ((uint64_t)totals->run * PERCENT_ALL >=
	    (uint64_t)totals->all * limit)
		return 0;
	share = share_text(totals);
	under = limit_text(limit);
	fail("%s of the lines ran (%zu of %zu; %zu not known), less than %s %%",
	     share, totals->run, totals->all, totals->unknown, under);
	free(share);
	free(under);
	return 1;
}

int
coverage_check(const struct table *table)
{
	unsigned limit = table->opts->fail_under;
	struct totals totals;

	if (!limit)
		return 0;
	totals = lines_total(table);
	return totals_check(&totals, limit);
}

/* ---- two report inputs */

/* The lines of one table compared with those of the other. */
struct changes {
	bool *only;		/* per line: ran here, but not there */
	size_t nonly;
	size_t unknown;		/* lines not known here or there */
	size_t alone;		/* lines not counted there at all */
};

static int
place_compare(const struct table *a, size_t i, const struct table *b, size_t k)
{
	const struct line_entry *line = &a->lines[i], *other = &b->lines[k];
	int order = strcmp(a->files[line->file].path,
			   b->files[other->file].path);

	if (order)
		return order;
	return line->line < other->line ? -1 : line->line > other->line;
}

/* Compare two tables, which both ascend by path and line. */
static struct changes
changes_find(const struct table *table, const struct table *other)
{
	struct changes changes = {
		.only = mem_alloc(table->nlines * sizeof(*changes.only)),
	};
	size_t k = 0;

	for (size_t i = 0; i < table->nlines; i++) {
		const struct figure *count = &table->lines[i].count;
		const struct figure *there;

		while (k < other->nlines &&
		       place_compare(table, i, other, k) > 0)
			k++;
		if (k == other->nlines || place_compare(table, i, other, k)) {
			changes.alone++;
			continue;
		}
		there = &other->lines[k].count;
		changes.unknown += count->why || there->why;
		changes.only[i] = !count->why && count->n && !there->why &&
				  !there->n;
		changes.nonly += changes.only[i];
	}
	return changes;
}

static void
share_write(const struct table *table, const char *when, FILE *out)
{
	struct totals totals = lines_total(table);
	char *share = share_text(&totals);

	fprintf(out, "%*s ", COUNT_WIDTH, when);
	text_count(out, totals.all, COUNT_WIDTH);
	putc(' ', out);
	text_count(out, totals.run, COUNT_WIDTH);
	putc(' ', out);
	text_count(out, totals.unknown, COUNT_WIDTH);
	fprintf(out, "  %s\n", share);
	free(share);
}

static void
changes_write(const struct table *table, const struct changes *changes,
	      const char *title, FILE *out)
{
	if (!changes->nonly)
		return;
	text_section(out, title);
	line_ranges_write(table, changes->only, out);
}

static void
note_write(FILE *out, size_t n, const char *what)
{
	if (n) {
		text_count(out, n, COUNT_WIDTH);
		fprintf(out, " %s\n", what);
	}
}

void
coverage_diff_write(const struct report_options *opts,
		    const struct report_input *before,
		    const struct report_input *after, FILE *out)
{
	struct table *first = table_make(opts, before);
	struct table *second = table_make(opts, after);
	struct changes lost = changes_find(first, second);
	struct changes won = changes_find(second, first);

	first->columns = second->columns = report_style(opts, out);
	fprintf(out, "Lines that ran\n\n%*s %*s %*s %*s\n", COUNT_WIDTH, "",
		COUNT_WIDTH, "counted", COUNT_WIDTH, "run", COUNT_WIDTH,
		"not known");
	share_write(first, "first", out);
	share_write(second, "second", out);
	changes_write(first, &lost, "Lines that ran only in the first file",
		      out);
	changes_write(second, &won, "Lines that ran only in the second file",
		      out);
	putc('\n', out);
	note_write(out, lost.nonly, "lines ran only in the first file");
	note_write(out, won.nonly, "lines ran only in the second file");
	note_write(out, lost.unknown,
		   "lines are not known in one of the files");
	note_write(out, lost.alone,
		   "lines were counted only in the first "
		   "file");
	note_write(out, won.alone,
		   "lines were counted only in the second "
		   "file");
	free(lost.only);
	free(won.only);
	table_free(first);
	table_free(second);
}
