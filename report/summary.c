/*
 * The summary: what was counted, and what ran most.
 */
#include "report/kinds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"
#include "util/mem.h"

enum { PLACE_MAX = 28, PLACE_MIN = 8, COUNT_MIN = 9 };

static void
run_write(const struct table *table, FILE *out)
{
	const struct tally *tally = table->tally;
	char *processes = text_number(tally->nprocesses, "process");
	char *threads = text_number(tally->nthreads, "thread");
	char *events = text_number(tally->events, "trap");
	char *line = mem_printf("%s%s%.2f s, %s, %s, %s",
				tally->outcome ? tally->outcome : "",
				tally->outcome ? "; " : "", tally->seconds,
				processes, threads, events);

	title_write(table, out, "Counts");
	text_paragraph(out, "  ", line, table->opts->columns);
	free(line);
	free(processes);
	free(threads);
	free(events);
}

static void
totals_write(const struct totals *totals, FILE *out, const char *what,
	     const char *object)
{
	if (!totals->all)
		return;
	fprintf(out, "%10zu %10zu %10zu %10zu  %s", totals->all, totals->run,
		totals->never, totals->unknown, what);
	if (object) {
		fputs(" of ", out);
		text_print(out, object, strlen(object), 20);
	}
	putc('\n', out);
}

static struct totals
plan_totals(const struct plan *plan, enum unit_kind kind)
{
	struct totals totals = { 0 };
	size_t i;

	for (i = 0; i < plan->nunits; i++) {
		struct count count;

		if (plan->units[i].kind != kind)
			continue;
		plan_count(plan, &plan->units[i], &count.n, &count.why);
		totals_add(&totals, &count);
	}
	return totals;
}

static void
counted_write(const struct table *table, FILE *out)
{
	static const char *const what[UNIT_KINDS] = {
		[UNIT_FUNC] = "functions",
		[UNIT_LINE] = "lines",
		[UNIT_INLINE] = "inlined functions",
	};
	const struct tally *tally = table->tally;
	size_t i;
	int kind;

	if (!table->funcs.n && !table->nlines && !table->inlines.n) {
		fputs("\nNothing was chosen to be counted.\n", out);
		return;
	}
	fprintf(out, "\n%10s %10s %10s %10s\n", "counted", "run", "never run",
		"not known");
	for (kind = 0; kind < UNIT_KINDS; kind++) {
		for (i = 0; i < tally->nplans; i++) {
			struct totals totals = plan_totals(tally->plans[i],
							   kind);

			totals_write(&totals, out, what[kind],
				     tally->nplans > 1 ?
				     table_object(table, i) : NULL);
		}
	}
}

/* Descending count; ties in the order of files and lines. */
static int
by_count(const void *va, const void *vb)
{
	const struct line_entry *a = *(struct line_entry *const *)va;
	const struct line_entry *b = *(struct line_entry *const *)vb;

	if (a->count.n != b->count.n)
		return a->count.n > b->count.n ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* The lines that ran, most often run first; owned by the caller. */
static struct line_entry **
lines_rank(const struct table *table, size_t *n)
{
	struct line_entry **rank = NULL;
	size_t i;

	*n = 0;
	for (i = 0; i < table->nlines; i++)
		if (!table->lines[i].count.why && table->lines[i].count.n)
			*vec_push(rank, *n) = &table->lines[i];
	if (rank)
		qsort(rank, *n, sizeof(struct line_entry *), by_count);
	return rank;
}

static void
line_write(struct table *table, const struct line_entry *line, FILE *out,
	   int digits, size_t width)
{
	struct file_entry *file = &table->files[line->file];
	struct source *source = table_source(table, file);
	char *place = table_place(table, line->file, line->line);
	size_t len, used = (size_t)digits + 4 + width;
	const char *text = NULL;

	fprintf(out, "%*" PRIu64 "  ", digits, line->count.n);
	if (source)
		text = source_line(source, line->line, &len);
	if (text) {
		text_column(out, place, width);
		fputs("  ", out);
		while (len && (*text == ' ' || *text == '\t')) {
			text++;
			len--;
		}
		text_print(out, text, len, table->opts->columns > used ?
			   table->opts->columns - used : 0);
	} else {
		text_print(out, place, strlen(place), WIDTH_ALL);
	}
	putc('\n', out);
	free(place);
}

static void
lines_write(struct table *table, FILE *out)
{
	size_t i, n, digits, width = PLACE_MIN, max = table->opts->top;
	struct line_entry **rank = lines_rank(table, &n);

	if (n > max)
		n = max;
	if (n) {
		digits = text_digits(rank[0]->count.n);
		if (digits < COUNT_MIN)
			digits = COUNT_MIN;
		for (i = 0; i < n; i++) {
			char *place = table_place(table, rank[i]->file,
						  rank[i]->line);
			size_t wide = text_width(place, strlen(place));

			if (wide > width)
				width = wide < PLACE_MAX ? wide : PLACE_MAX;
			free(place);
		}
		fprintf(out, "\nLines run most:\n%*s  LINE\n", (int)digits,
			"COUNT");
		for (i = 0; i < n; i++)
			line_write(table, rank[i], out, (int)digits, width);
	}
	free(rank);
}

/* Why something was not counted, and how often. */
struct reason {
	const char *why;
	const char *what, *whats;	/* one, several */
	size_t n;
};

struct reasons {
	struct reason *reasons;
	size_t n;
};

static void
reason_add(struct reasons *reasons, const char *why, const char *what,
	   const char *whats)
{
	size_t i;

	if (!why)
		return;
	for (i = 0; i < reasons->n; i++) {
		struct reason *reason = &reasons->reasons[i];

		if (strcmp(reason->why, why) == 0 &&
		    strcmp(reason->what, what) == 0) {
			reason->n++;
			return;
		}
	}
	*vec_push(reasons->reasons, reasons->n) = (struct reason){
		.why = why, .what = what, .whats = whats, .n = 1,
	};
}

static struct reasons
reasons_find(const struct table *table)
{
	const struct tally *tally = table->tally;
	struct reasons reasons = { 0 };
	size_t i, j;

	for (i = 0; i < table->funcs.n; i++)
		reason_add(&reasons, table->funcs.entries[i].count.why,
			   "function", "functions");
	for (i = 0; i < table->nlines; i++)
		reason_add(&reasons, table->lines[i].count.why, "line",
			   "lines");
	for (i = 0; i < table->inlines.n; i++)
		reason_add(&reasons, table->inlines.entries[i].count.why,
			   "inlined function", "inlined functions");
	for (i = 0; i < tally->nplans; i++)
		for (j = 0; j < tally->plans[i]->nskips; j++)
			reason_add(&reasons, tally->plans[i]->skips[j].why,
				   "row or symbol left out",
				   "rows or symbols left out");
	return reasons;
}

static void
reasons_write(const struct table *table, FILE *out)
{
	struct reasons reasons = reasons_find(table);
	size_t i;

	if (reasons.n)
		fputs("\nNot counted:\n", out);
	for (i = 0; i < reasons.n; i++) {
		const struct reason *reason = &reasons.reasons[i];

		fprintf(out, "%10zu %s: %s\n", reason->n,
			reason->n == 1 ? reason->what : reason->whats,
			reason->why);
	}
	free(reasons.reasons);
}

static void
remarks_write(const struct table *table, FILE *out)
{
	const struct tally *tally = table->tally;
	size_t i, j, columns = table->opts->columns;
	bool any = tally->nremarks != 0;

	for (i = 0; i < tally->nplans; i++)
		any |= tally->plans[i]->image->nremarks != 0;
	if (any)
		putc('\n', out);
	for (i = 0; i < tally->nplans; i++) {
		const struct image *image = tally->plans[i]->image;

		for (j = 0; j < image->nremarks; j++)
			text_paragraph(out, "Note: ", image->remarks[j],
				       columns);
	}
	for (i = 0; i < tally->nremarks; i++)
		text_paragraph(out, "Note: ", tally->remarks[i], columns);
}

void
summary_write(struct table *table, FILE *out)
{
	run_write(table, out);
	counted_write(table, out);
	if (table->funcs.n && !table->funcs.entries[0].count.why &&
	    table->funcs.entries[0].count.n) {
		fputs("\nFunctions called most:\n", out);
		func_rows_write(table, &table->funcs, out, table->opts->top,
				false);
	}
	if (table->inlines.n && !table->inlines.entries[0].count.why &&
	    table->inlines.entries[0].count.n) {
		fputs("\nInlined functions run most:\n", out);
		func_rows_write(table, &table->inlines, out,
				table->opts->top, false);
	}
	lines_write(table, out);
	reasons_write(table, out);
	remarks_write(table, out);
}
