/*
 * The report of calls: from where to where, and how often.
 */
#include "report/callees.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/kinds.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum { COUNT_MIN = 9, ADDR_MIN = 4, PLACE_MAX = 28 };

struct calls {
	struct table *table;
	FILE *out;
	size_t digits, addr, place;	/* widths */
	struct callees callees;	/* of the current function */
	struct figure sum;
	struct reasons reasons;
};

static void
call_write(struct calls *calls, const struct view *view,
	   const struct callee *call)
{
	size_t used = calls->digits + calls->addr + calls->place + 6;
	char *place = view_place(view, call->insn);
	char *text = mem_printf("%s%s%s%s", call->name ? call->name : "?",
				*call->how ? " (" : "", call->how,
				*call->how ? ")" : "");

	figure_write(calls->out, &call->count, calls->digits);
	fprintf(calls->out, "  %*" PRIx64 "  ", (int)calls->addr,
		view->fplan->cfg->insns[call->insn].addr);
	if (calls->place) {
		text_column(calls->out, place, calls->place);
		fputs("  ", calls->out);
	}
	name_fit(calls->out, text, calls->table->columns, used);
	putc('\n', calls->out);
	free(text);
	free(place);
}

static void
place_widen(struct calls *calls, const struct view *view)
{
	calls->place = 0;
	for (size_t i = 0; i < calls->callees.n; i++) {
		char *place = view_place(view, calls->callees.calls[i].insn);

		text_widen(&calls->place, place,
			   table_widest(calls->table, PLACE_MAX));
		free(place);
	}
	text_head(&calls->place, "LINE");
}

static void
fplan_write(struct calls *calls, const struct view *view)
{
	if (!calls->callees.n)
		return;
	place_widen(calls, view);
	putc('\n', calls->out);
	view_heading_write(view, calls->out);
	fprintf(calls->out, "%*s  %*s  ", (int)calls->digits, "TIMES",
		(int)calls->addr, "AT");
	if (calls->place) {
		text_column(calls->out, "LINE", calls->place);
		fputs("  ", calls->out);
	}
	fputs("CALLS\n", calls->out);
	for (size_t i = 0; i < calls->callees.n; i++)
		call_write(calls, view, &calls->callees.calls[i]);
}

/* Add up all calls, and find the widths. */
static void
calls_sum(struct calls *calls)
{
	struct view *view = NULL;

	while ((view = view_next(calls->table, view, VIEW_CALLS))) {
		view_widen(view, &calls->digits, &calls->addr);
		callees_find(&calls->callees, view);
		for (size_t i = 0; i < calls->callees.n; i++)
			figure_add(&calls->sum, &calls->callees.calls[i].count);
	}
}

static void
totals_write(const struct calls *calls)
{
	char *made = text_number(calls->callees.made, "place");
	char *never = text_number(calls->callees.never, "place");

	fputs("  ", calls->out);
	figure_say(calls->out, &calls->sum);
	fprintf(calls->out, " calls from %s; %s %s\n", made, never,
		report_input_never(calls->table->report_input));
	free(made);
	free(never);
}

static void
reasons_take(struct calls *calls)
{
	for (size_t i = 0; i < calls->callees.n; i++) {
		const struct callee *call = &calls->callees.calls[i];
		const char *why = call->where == CALLEE_UNSEEN ?
					  callees_unseen :
				  call->where == CALLEE_UNRECORDED ?
					  callees_unrecorded :
					  NULL;

		if (why != call->count.why)
			reasons_add(&calls->reasons, why, "call site",
				    "call sites");
		reasons_add(&calls->reasons, call->count.why, "call", "calls");
	}
}

void
calls_write(struct table *table, FILE *out)
{
	struct calls calls = {
		.table = table,
		.out = out,
		.digits = COUNT_MIN,
		.addr = ADDR_MIN,
	};
	struct view *view = NULL;

	title_write(table, out, "Calls");
	if (!units_present(table, out, UNIT_CALL))
		return;
	calls_sum(&calls);
	totals_write(&calls);
	while ((view = view_next(table, view, VIEW_CALLS))) {
		callees_find(&calls.callees, view);
		reasons_take(&calls);
		fplan_write(&calls, view);
	}
	reasons_write(&calls.reasons, out);
	callees_free(&calls.callees);
}
