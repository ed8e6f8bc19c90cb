/*
 * The summary report: the run, the numbers of counted units, and the functions
 * and lines that ran most.
 */
#include "report/kinds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/idle.h"
#include "report/text/stop_causes.h"
#include "report/view.h"
#include "report/ways.h"
#include "report/names.h"
#include "report/outcome.h"
#include "report/printable.h"
#include "report/remarks.h"
#include "util/mem.h"

enum { OBJECT_MAX = 20, COUNT_WIDTH = 10 };

/* Milliseconds, rounded up to tenths, so that no standstill is shown as 0. */
static double
tenths(double seconds)
{
	return ((uint64_t)(seconds * 10000) + 1) / 10.0;
}

static void
stall_write(const struct stall *stall, FILE *out, int columns)
{
	char *attached, *traps, *line;

	if (stall->attach <= 0)
		return;
	attached = mem_printf("stopped for %.1f ms at the attach",
			      tenths(stall->attach));
	traps = text_number(stall->traps, "trap");
	line = stall->detach > 0 ?
		       mem_printf(
			       "%s, and for %.1f ms at the detach, with %s in its "
			       "text",
			       attached, tenths(stall->detach), traps) :
		       mem_strdup(attached);
	text_paragraph(out, "  ", line, columns);
	free(line);
	free(traps);
	free(attached);
}

/* How functions are entered. */
static void
ways_write(const struct table *table, FILE *out)
{
	struct ways counted = ways_count(table->report_input);
	char *ways = ways_text(&counted);

	if (*ways)
		text_paragraph(out, "  ", ways, table->columns);
	free(ways);
}

void
run_line_write(const struct table *table, FILE *out)
{
	const struct report_input *report_input = table->report_input;
	char *processes = text_number(report_input->nprocesses, "process");
	char *threads = text_number(report_input->nthreads, "thread");
	char *events = text_number(report_input->events, "trap");
	char *stops = text_number(stops_all(report_input), "stop");
	char *outcome = outcome_text(table);
	char *line = mem_printf("%s%s%.2f s, %s, %s, %s%s%s", outcome,
				*outcome ? "; " : "", report_input->seconds,
				processes, threads,
				report_input->nstops ? stops : "",
				report_input->nstops ? ", " : "", events);

	text_paragraph(out, "  ", line, table->columns);
	free(line);
	free(outcome);
	free(processes);
	free(threads);
	free(events);
	free(stops);
}

static void
run_write(const struct table *table, FILE *out)
{
	title_write(table, out, "Counts");
	run_line_write(table, out);
	if (table->opts->verbose)
		ways_write(table, out);
	stall_write(&table->report_input->stall, out, table->columns);
}

/* That of a share in tenths of a percent, by the limits of genhtml(1). */
static enum text_colour
share_colour(size_t share)
{
	return share >= 900 ? TEXT_GOOD : share >= 750 ? TEXT_FAIR : TEXT_BAD;
}

static void
totals_write(const struct table *table, const struct totals *totals, FILE *out,
	     const char *what, const char *object)
{
	size_t share = totals->all ? totals->run * 1000 / totals->all : 0;

	if (!totals->all)
		return;
	text_count(out, totals->all, COUNT_WIDTH);
	putc(' ', out);
	text_count(out, totals->run, COUNT_WIDTH);
	text_colour(out, share_colour(share));
	fprintf(out, " %5zu.%zu %% ", share / 10, share % 10);
	text_colour(out, TEXT_PLAIN);
	text_count(out, totals->never, COUNT_WIDTH);
	putc(' ', out);
	text_count(out, totals->unknown, COUNT_WIDTH);
	fprintf(out, "  %s", what);
	if (object) {
		fputs(" of ", out);
		text_print(out, object, strlen(object),
			   table_widest(table, OBJECT_MAX));
	}
	putc('\n', out);
}

/* The totals of each kind of unit in each object. */
struct summary {
	struct totals (*totals)[UNIT_KINDS];
	struct reasons reasons;
};

/* Is it a function that every program has? */
static bool
func_added(const struct plan *plan, uint32_t func)
{
	return name_added(plan->image->funcs[func].name);
}

/* Add up functions, lines and inlined functions. */
static void
units_total(const struct table *table, struct summary *summary)
{
	for (size_t i = 0; i < table->report_input->nplans; i++) {
		const struct units *units = &table->units[i];

		for (size_t k = 0; k < units->n; k++) {
			const struct unit *unit = &units->units[k];

			if (!table_leaves(table, i, unit) &&
			    (unit->kind != UNIT_FUNC ||
			     !func_added(table->report_input->plans[i],
					 unit->ref)))
				totals_add(&summary->totals[i][unit->kind],
					   &(struct figure){ unit->n,
							     unit->why });
		}
	}
}

/*
 * Which of the plan's units are not counted in its idle functions, of which the
 * summary leaves out all code: a set.
 */
static unsigned
units_left(const struct table *table, const struct plan *plan)
{
	unsigned units = plan->units &
			 (1U << UNIT_BLOCK | 1U << UNIT_EDGE | 1U << UNIT_INSN);

	return units && report_leaves_idle(table->opts, plan) ? units : 0;
}

/* Add up blocks, edges and instructions. */
static void
code_total(struct table *table, struct summary *summary)
{
	const struct report_input *report_input = table->report_input;
	struct view *view = NULL;
	unsigned *left = mem_alloc(report_input->nplans * sizeof(*left));

	for (size_t i = 0; i < report_input->nplans; i++)
		left[i] = units_left(table, report_input->plans[i]);
	while ((view = view_next(table, view, VIEW_ALL))) {
		if (left[view->plan_index] &&
		    fplan_idle(view->plan, view->fplan))
			continue;
		for (int kind = UNIT_BLOCK; kind < UNIT_KINDS; kind++)
			view_totals(view, kind,
				    &summary->totals[view->plan_index][kind],
				    &summary->reasons);
	}
	free(left);
}

static void
counted_write(const struct table *table, const struct summary *summary,
	      FILE *out)
{
	const struct report_input *report_input = table->report_input;
	bool any = false;

	fprintf(out, "\n%*s %*s %9s %*s %*s\n", COUNT_WIDTH, "counted",
		COUNT_WIDTH, "run", "", COUNT_WIDTH, "never run", COUNT_WIDTH,
		"not known");
	for (int kind = 0; kind < UNIT_KINDS; kind++) {
		for (size_t i = 0; i < report_input->nplans; i++) {
			const struct totals *totals = &summary->totals[i][kind];

			any |= totals->all;
			totals_write(table, totals, out,
				     unit_word(kind, totals->all),
				     report_input->nplans > 1 ?
					     table_object(table, i) :
					     NULL);
		}
	}
	if (!any)
		fputs("Nothing was selected.\n", out);
}

/* "blocks and edges", of a set of units; owned by the caller. */
static char *
units_words(unsigned units)
{
	char *words = mem_strdup("");

	for (int kind = 0; kind < UNIT_KINDS; kind++) {
		const char *join = units >> (kind + 1) ? ", " : " and ";
		char *more;

		if (!(units & 1U << kind))
			continue;
		more = mem_printf("%s%s%s", words, *words ? join : "",
				  unit_word((enum unit_kind)kind, 0));
		free(words);
		words = more;
	}
	return words;
}

/* Say what is not among the totals of an object, and which report adds it. */
static void
left_write(const struct table *table, size_t index, FILE *out)
{
	const struct plan *plan = table->report_input->plans[index];
	bool alone = table->report_input->nplans == 1;
	unsigned units = units_left(table, plan);
	const char *report = units & 1U << UNIT_BLOCK ? "blocks" :
			     units & 1U << UNIT_EDGE  ? "edges" :
							"insns";
	struct idle idle;
	bool much;
	char *words, *funcs, *line;

	if (!units)
		return;
	idle = plan_idle(plan);
	much = idle.size >= 10 << 20;
	words = units_words(units);
	funcs = text_number(idle.nfuncs, "function");
	line = mem_printf("without the %s of %s%s%s that never ran (%" PRIu64
			  " %s of code), which --report=summary,%s:FILE adds",
			  words, funcs, alone ? "" : " of ",
			  alone ? "" : table_object(table, index),
			  idle.size >> (much ? 20 : 10), much ? "MB" : "KB",
			  report);
	text_paragraph(out, "  ", line, table->columns);
	free(line);
	free(funcs);
	free(words);
}

static void
reasons_find(const struct table *table, struct reasons *reasons)
{
	const struct report_input *report_input = table->report_input;
	size_t i, j;

	for (i = 0; i < table->funcs.n; i++) {
		const struct func_entry *func = &table->funcs.entries[i];

		if (!func_added(report_input->plans[func->plan], func->ref))
			reasons_add_unit(reasons, func->count.why, UNIT_FUNC);
	}
	for (i = 0; i < table->nlines; i++)
		reasons_add_unit(reasons, table->lines[i].count.why, UNIT_LINE);
	for (i = 0; i < table->inlines.n; i++)
		reasons_add_unit(reasons, table->inlines.entries[i].count.why,
				 UNIT_INLINE);
	for (i = 0; i < report_input->nplans; i++)
		for (j = 0; j < report_input->plans[i]->nskips; j++)
			reasons_add(reasons,
				    report_input->plans[i]->skips[j].why,
				    "row or symbol left out",
				    "rows or symbols left out");
}

static void
remarks_write(const struct table *table, FILE *out)
{
	size_t n;
	char **remarks;

	if (table->opts->quiet)
		return;
	remarks = report_remarks(table->report_input, &n);
	if (n)
		putc('\n', out);
	for (size_t i = 0; i < n; i++)
		text_paragraph(out, "Note: ", remarks[i], table->columns);
	report_remarks_free(remarks, n);
}

void
summary_write(struct table *table, FILE *out)
{
	struct summary summary = {
		.totals = mem_alloc(table->report_input->nplans *
				    sizeof(*summary.totals)),
	};

	run_write(table, out);
	if (table->opts->brief) {
		if (!funcs_busiest_write(table, out))
			funcs_most_write(table, &table->funcs,
					 "Functions called most", out);
		free(summary.totals);
		return;
	}
	units_total(table, &summary);
	reasons_find(table, &summary.reasons);
	code_total(table, &summary);
	counted_write(table, &summary, out);
	for (size_t i = 0; i < table->report_input->nplans; i++)
		left_write(table, i, out);
	foreign_write(table, "  ", out);
	free(summary.totals);
	if (!funcs_busiest_write(table, out)) {
		funcs_most_write(table, &table->funcs, "Functions called most",
				 out);
		funcs_most_write(table, &table->inlines,
				 "Inlined functions run most", out);
	}
	hot_lines_write(table, out);
	reasons_write(&summary.reasons, out);
	remarks_write(table, out);
}
