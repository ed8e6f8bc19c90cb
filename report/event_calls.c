/*
 * Adds up calls from one function to another: finds out which of a function's
 * calls are, or may be, of those that an event means.
 */
#include "report/event_inner.h"

#include "report/names.h"

static const char callee_not_known[] = "it is not known what was called";

enum callee_match { CALLEE_OTHER, CALLEE_MEANT, CALLEE_UNKNOWN };

/*
 * Whether a call is of a function that is meant: by the name through which the
 * program imports it, or by where it went.  One through a stub of a static
 * program goes to what the program has chosen at its start.
 */
static enum callee_match
callee_match(const struct view *view, const struct callee *callee,
	     const struct selection *to)
{
	const struct image *image = view->plan->image;
	const struct insn *insn = &view->fplan->cfg->insns[callee->insn];
	bool indirect = insn->kind == INSN_CALL_INDIRECT ||
			insn->kind == INSN_JUMP_INDIRECT;
	const char *import = indirect ? name_imported(image, insn) :
					stub_import(image, insn->target);
	const struct func *func = NULL;

	if (!import && callee->plan)
		import = stub_import(callee->plan->image, callee->addr);
	if (import && select_func(to, import, NULL, 0))
		return CALLEE_MEANT;
	if (callee->plan)
		func = func_entered(callee->plan->image, callee->addr);
	if (func)
		return event_func_is(to, func) ? CALLEE_MEANT : CALLEE_OTHER;
	if (import)
		return CALLEE_OTHER;
	/* Into the middle of a function, which is no call of it. */
	if (callee->plan && plan_func_at(callee->plan, callee->addr))
		return CALLEE_OTHER;
	/* A pattern that an empty name matches means all functions. */
	return !to->funcs.globs[0].negated && select_func(to, "", NULL, 0) ?
		       CALLEE_MEANT :
		       CALLEE_UNKNOWN;
}

static const char *
callee_why(const struct callee *callee)
{
	return callee->where == CALLEE_UNSEEN	  ? callees_unseen :
	       callee->where == CALLEE_UNRECORDED ? callees_unrecorded :
						    callee_not_known;
}

void
event_calls_add(const struct adding *adding, size_t e,
		const struct event_term *term)
{
	for (size_t i = 0; i < adding->callees->n; i++) {
		const struct callee *callee = &adding->callees->calls[i];
		struct figure count = callee->count;
		enum callee_match match;

		if ((!count.why && !count.n) ||
		    !event_where_insn(&adding->events->events[e], adding->view,
				      callee->insn))
			continue;
		match = callee_match(adding->view, callee, &term->to);
		if (match == CALLEE_OTHER)
			continue;
		if (match == CALLEE_UNKNOWN)
			count = (struct figure){
				.why = count.why ? count.why :
						   callee_why(callee),
			};
		event_sum_add(&adding->sums[e], term->weight, count);
	}
}
