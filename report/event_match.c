/*
 * Checks that what events name is in the programs that were counted.  Never
 * prints.
 */
#include "report/event_inner.h"

/* The function's plan if the offset is in it, or NULL. */
static const struct func_plan *
fplan_at(const struct plan *plan, const struct func *func, uint64_t offset)
{
	uint64_t addr = func->addr + offset;

	return plan_func_at(plan, addr) == func ?
		       &plan->fplans[plan_func(plan, addr)] :
		       NULL;
}

/*
 * Whether the function has the instruction, or the edge, at these offsets.  That
 * is not known of one that never ran.
 */
static bool
place_there(const struct plan *plan, const struct func *func,
	    const struct event_term *term)
{
	const struct func_plan *from = fplan_at(plan, func, term->offset);
	const struct func_plan *to = fplan_at(plan, func, term->to_offset);
	uint32_t edge = 0;

	if (!from || !to)
		return false;
	if (!from->flow)
		return true;
	if (term->kind == ELEMENT_EDGE)
		return event_edge_next(from, func, term, &edge);
	return cfg_insn(from->cfg, func->addr + term->offset) >= 0;
}

/* Does any function that was counted fit, and have what the term names? */
static bool
func_there(const struct report_input *report_input, const struct selection *of,
	   const struct event_term *term)
{
	bool places = term && (term->kind == ELEMENT_BLOCK ||
			       term->kind == ELEMENT_EDGE);

	for (size_t i = 0; i < report_input->nplans; i++) {
		const struct plan *plan = report_input->plans[i];

		for (size_t k = 0; k < plan->nfplans; k++) {
			const struct func_plan *fplan = &plan->fplans[k];
			const struct func *func = fplan_func(fplan,
							     plan->image);

			if (func && fplan->units & plan->units &&
			    event_func_is(of, func) &&
			    (!places || place_there(plan, func, term)))
				return true;
		}
	}
	return false;
}

static bool
line_there(const struct table *table, const struct event_term *term)
{
	for (size_t i = 0; i < table->nlines; i++)
		if (table->lines[i].line == term->line &&
		    select_file(&term->of,
				table->files[table->lines[i].file].path))
			return true;
	return false;
}

static bool
term_there(const struct table *table, const struct event_term *term)
{
	switch (term->kind) {
	case ELEMENT_INSNS:
	case ELEMENT_TAKEN:
		return true;
	case ELEMENT_LINE:
		return line_there(table, term);
	case ELEMENT_FUNC:
	case ELEMENT_BLOCK:
	case ELEMENT_EDGE:
		return func_there(table->report_input, &term->of, term);
	case ELEMENT_CALL:
		/* What is called may be in an object that is not counted. */
		return func_there(table->report_input, &term->of, NULL);
	}
	return true;
}

static bool
where_there(const struct table *table, const struct selection *where)
{
	const struct report_input *report_input = table->report_input;
	bool any = false;

	if (where->funcs.n)
		return func_there(report_input, where, NULL);
	for (size_t i = 0; where->objects.n && i < report_input->nplans; i++)
		any |= select_object(where, report_input->plans[i]->image->path,
				     false);
	for (size_t i = 0; where->files.n && i < table->nfiles; i++)
		any |= select_file(where, table->files[i].path);
	return any || (!where->objects.n && !where->files.n);
}

static bool
either_has_where(const struct selection *where, const struct table *table,
		 const struct table *other)
{
	return where_there(table, where) ||
	       (other && where_there(other, where));
}

const char *
event_missing(const struct event_def *event, const struct table *table,
	      const struct table *other)
{
	for (size_t k = 0; k < event->nterms; k++)
		if (!term_there(table, &event->terms[k]) &&
		    !(other && term_there(other, &event->terms[k])))
			return event->terms[k].text;
	return either_has_where(&event->where, table, other) ? NULL :
							       event->name;
}

int
events_matched(const struct table *table, const struct table *other)
{
	const struct events *events = &table->opts->events;

	for (size_t e = 0; e < events->n; e++) {
		const struct event_def *event = &events->events[e];
		const char *missing = event_missing(event, table, other);

		if (missing == event->name)
			return fail("--event: pmon counted nothing at \"%s\"",
				    missing);
		if (missing)
			return fail("--event: pmon did not count \"%s\"",
				    missing);
	}
	return 0;
}
