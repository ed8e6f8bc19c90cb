/*
 * The report of times: how long functions took, in themselves and with what they
 * called; or how many events there were in that.
 */
#include "report/kinds.h"

#include <stdlib.h>

#include "report/names.h"
#include "report/text/time_rows.h"
#include "util/mem.h"

static void
row_add(struct time_rows *rows, const struct table *table,
	const struct plan *plan, const struct func_plan *fplan)
{
	struct time_row row = { .why = fplan_untimed(fplan) };

	if (fplan->func == FUNC_NONE || (!fplan->times && !row.why))
		return;
	if (fplan->times)
		row.times = *fplan->times;
	row.calls = figure_of(&fplan->calls);
	if (!fplan->times && !row.calls.why && !row.calls.n)
		return;
	row.name = name_with_aliases(fplan_func(fplan, plan->image),
				     table->opts->demangle);
	*vec_push(rows->rows, rows->n) = row;
}

static bool
times_measured(const struct report_input *report_input)
{
	for (size_t i = 0; i < report_input->nplans; i++)
		if (plan_timed(report_input->plans[i]))
			return true;
	return false;
}

void
times_write(struct table *table, FILE *out)
{
	const struct report_input *report_input = table->report_input;
	struct time_rows rows = { 0 };
	const char *event;

	for (size_t i = 0; i < report_input->nplans; i++) {
		const struct plan *plan = report_input->plans[i];

		for (size_t k = 0; plan_timed(plan) && k < plan->nfplans; k++)
			row_add(&rows, table, plan, &plan->fplans[k]);
	}
	event = time_rows_event(&rows);
	title_write(table, out, event ? "Events per call" : "Times");
	run_line_write(table, out);
	if (event)
		fprintf(out, "  of the event %s\n", event);
	if (!times_measured(report_input))
		fputs("\nNo times were measured; pmon --time measures them.\n",
		      out);
	else if (!rows.n)
		fputs("\nNo function that was to be measured was called.\n",
		      out);
	time_rows_write(&rows, SIZE_MAX, table->columns, out);
}
