/*
 * Events by calls (--per): each thread counts an event while it runs (Ball 1994),
 * and what a call adds to that count is its number.
 *
 * A function's increments leave the count wrong while control is in its middle,
 * but by the same number as long as control stands in a call: so no call is
 * wrong that begins and ends meanwhile, and calls need no query increments, as
 * they do in the paper's section 4.  Only where control leaves a function or
 * comes to it over no edge is the query increment added (footnote 2), to the
 * frames on the stack that are measured.
 */
#include "monitor/client/times_inner.h"

#include <stdlib.h>

#include "monitor/process/object.h"
#include "util/mem.h"

void
events_lose(struct timing *timing, const char *why)
{
	if (!timing->unknown)
		timing->unknown = mem_strdup(why);
}

/* Calls of the function are not counted: nor are those that it may be in. */
static void
func_lose(struct run *run, const struct plan *plan,
	  const struct func_plan *fplan, const char *why)
{
	const struct func *func = fplan_func(fplan, plan->image);
	char *text = mem_printf("events of %s: %s",
				func ? func->name : "code outside any function",
				why);

	events_lose(run->timing, text);
	free(text);
}

void
events_choose(struct run *run, struct timed_func *func, struct probe_list *list)
{
	struct event_func *events;

	if (func->plan->options.shared) {
		events_lose(run->timing, "threads have no memory of their own "
					 "to count in");
		return;
	}
	events = event_func_make(run->timing->event, func->plan, list->fplan);
	if (!events || event_func_ask(events, list))
		func_lose(run, func->plan, list->fplan, fail_message());
	/* Frames may be alive that have begun with the increments of before. */
	if (events && func->events && !event_func_same(events, func->events))
		func_lose(run, func->plan, list->fplan,
			  "its code was looked at again");
	event_func_free(func->events);
	func->events = events;
}

/* The function's events, or NULL: it has none, or was never looked at. */
static const struct event_func *
events_of(struct run *run, struct plan *plan, uint32_t fplan)
{
	const struct timing *timing = run->timing;
	uint32_t number;

	if (fplan == FPLAN_NONE)
		return NULL;
	number = timed_func_number(run, plan, fplan);
	return timing->funcs[number].events;
}

void
events_abnormal(struct run *run, const struct task *task, struct plan *plan,
		const struct abnormal_edge *edge)
{
	struct timed_task *timed = timed_find(run, task);
	uint32_t fplan = plan_func(plan, edge->addr - (edge->during ? 1 : 0));
	const struct event_func *events = events_of(run, plan, fplan);
	uint64_t lack;

	if (!timed || !events)
		return;
	timed_pending(timed);
	timed->apart |= edge->apart;
	if (!event_func_lacks(events, &plan->fplans[fplan], edge, &lack))
		func_lose(run, plan, &plan->fplans[fplan],
			  "control came to it in an unknown way");
	else if (lack && (task->vforked || !edge->sp))
		func_lose(run, plan, &plan->fplans[fplan],
			  task->vforked ? "it made a process by vfork" :
					  "a stack is not known");
	/* Frames of a stack that control leaves stand elsewhere afterwards. */
	else if (lack && (edge->apart ||
			  time_stacks_more(timed->stacks, (uint32_t)edge->sp,
					   lack * (edge->left - edge->came))))
		func_lose(run, plan, &plan->fplans[fplan],
			  "it was left while other stacks had calls");
}

void
events_go_on(struct timed_task *timed)
{
	timed->leaving = false;
	timed_records(timed, timed->held, timed->nheld);
	free(timed->held);
	timed->held = NULL;
	timed->nheld = 0;
}

void
events_leave(struct run *run, const struct task *task)
{
	struct timed_task *timed = timed_find(run, task);

	if (!timed)
		return;
	timed_pending(timed);
	timed->leaving = true;
	timed->apart = false;
	timed->leaves_at = timed_now(timed);
}

void
events_left(struct run *run, const struct task *task, uint64_t sp)
{
	struct timed_task *timed = timed_find(run, task);

	if (!timed || !timed->leaving)
		return;
	if (sp && !timed->apart)
		time_stacks_gone(timed->stacks, (uint32_t)sp, timed->leaves_at);
	if (sp)
		time_stacks_record(timed->stacks, RECORD_LAND, 0, (uint32_t)sp,
				   timed->leaves_at);
	events_go_on(timed);
}

void
events_moved(struct run *run, const struct task *task, struct plan *plan,
	     uint32_t fplan, uint32_t element, uint64_t sp, bool back)
{
	struct timed_task *timed = timed_find(run, task);
	const struct event_func *events = events_of(run, plan, fplan);
	uint64_t adds;

	if (!timed || !events)
		return;
	adds = event_func_arc(events, element);
	if (adds &&
	    time_stacks_more(timed->stacks, (uint32_t)sp, back ? -adds : adds))
		func_lose(run, plan, &plan->fplans[fplan],
			  "it was interrupted while other stacks had calls");
}

/* ---- what is not known */

/* Why the events of a function's code may not all have been counted, or NULL. */
static const char *
fplan_uncounted(const struct func_plan *fplan)
{
	if (!fplan->units)
		return NULL;
	if (fplan->state == FPLAN_FAULTY)
		return fplan->why;
	if (fplan->dropped)
		return fplan->dropped;
	if (fplan->lost)
		return "its relocated code was given up";
	if (fplan->unwritten)
		return "some of its breakpoints could not be written";
	if (fplan->mid_entered)
		return "control may have come to its middle unseen";
	if (fplan->missed)
		return "it may have run before it was looked at";
	return NULL;
}

/* Why the plan's may not have been, or NULL. */
static const char *
plan_uncounted(const struct plan *plan)
{
	if (plan->tampered)
		return "the program has written over pmon's counters";
	if (plan->underivable)
		return "it is not known where a thread was";
	if (plan->calls_underivable)
		return "some stacks are not known";
	if (plan->unseen)
		return "the program ran on unseen";
	if (plan->options.leaks)
		return "stacks cannot be walked in all of the program";
	return NULL;
}

static void
plan_doubt(struct run *run, struct plan *plan)
{
	const char *why = plan_uncounted(plan);

	if (why)
		events_lose(run->timing, why);
	for (size_t i = 0; i < plan->nfplans; i++) {
		why = fplan_uncounted(&plan->fplans[i]);
		if (why)
			func_lose(run, plan, &plan->fplans[i], why);
	}
}

void
events_settle(struct run *run)
{
	struct timing *timing = run->timing;

	for (size_t i = 0; i < run->nobjects; i++)
		if (run->objects[i].plan && run->objects[i].counted)
			plan_doubt(run, run->objects[i].plan);
	for (size_t i = 0; timing->unknown && i < timing->nfuncs; i++) {
		struct func_plan *fplan =
			&timing->funcs[i].plan->fplans[timing->funcs[i].fplan];

		if (timing->funcs[i].nsites && !fplan->untimed)
			fplan->untimed = mem_strdup(timing->unknown);
	}
}
