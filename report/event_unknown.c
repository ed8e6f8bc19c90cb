/*
 * Makes sums of events unknown that code adds to which was not counted: functions
 * that could not be, units that were not asked for, programs that are missing.
 */
#include "report/event_inner.h"

static const char not_counted[] = "units that it needs were not counted";
static const char left_out[] = "a program or library was left out";

/* Does the term count in this function, as far as names tell? */
static bool
term_in(const struct event_term *term, const struct func *func)
{
	return term->kind != ELEMENT_LINE && event_func_is(&term->of, func);
}

/*
 * Why the events in a function are not known, if it may have run: it was not
 * counted, or not by the units that the term needs.  NULL: they are known.
 */
static const char *
term_why(const struct event_term *term, const struct plan *plan,
	 const struct func_plan *fplan)
{
	if (term_unit(term) & ~plan->units)
		return not_counted;
	return fplan->state == FPLAN_FAULTY && term->kind != ELEMENT_FUNC ?
		       fplan->why :
		       NULL;
}

/* Make sums of lines unknown if the plan has lines that were not counted. */
static void
lines_uncounted_add(struct event_sums *sums, const struct plan *plan,
		    const struct events *events)
{
	if (!plan->image->nrows || plan->units & 1U << UNIT_LINE)
		return;
	for (size_t e = 0; e < events->n; e++)
		for (size_t k = 0; k < events->events[e].nterms; k++)
			if (events->events[e].terms[k].kind == ELEMENT_LINE)
				figure_add(&sums->all[e],
					   &(struct figure){
						   .why = not_counted,
					   });
}

/* Make sums unknown that a function may add to without being counted. */
static void
uncounted_add(struct event_sums *sums, const struct plan *plan,
	      const struct func_plan *fplan, const struct events *events)
{
	const struct func *func = fplan_func(fplan, plan->image);
	struct figure calls = figure_of(&fplan->calls);

	/* Inlined functions do not tell which others ran, nor does code. */
	if (plan->units & ~(1U << UNIT_INLINE) &&
	    (fplan->state == FPLAN_WAITING ||
	     (fplan->named && !calls.why && !calls.n)))
		return;
	for (size_t e = 0; e < events->n; e++) {
		const struct event_def *event = &events->events[e];

		for (size_t k = 0; k < event->nterms; k++) {
			const struct event_term *term = &event->terms[k];
			const char *why = term_why(term, plan, fplan);

			if (why && term_in(term, func) &&
			    event_where_func(event, plan, func))
				figure_add(&sums->all[e],
					   &(struct figure){ .why = why });
		}
	}
}

void
event_unknown_add(struct event_sums *sums, const struct table *table,
		  const struct events *events)
{
	const struct report_input *report_input = table->report_input;

	for (size_t i = 0; i < report_input->nplans; i++) {
		const struct plan *plan = report_input->plans[i];

		for (size_t k = 0; k < plan->nfplans; k++)
			uncounted_add(sums, plan, &plan->fplans[k], events);
		lines_uncounted_add(sums, plan, events);
	}
	for (size_t e = 0; report_input->partial && e < events->n; e++)
		figure_add(&sums->all[e], &(struct figure){ .why = left_out });
}
