/*
 * Measures times: has probes at the entries and exits of functions, which record
 * the CPU's time stamp, and gives the records of each task to its stacks
 * (time_stacks.c).  Bishop 1987 names times as what patched counters lack.
 * doc/decisions/0023 has the costs.
 *
 * A task's clock (time_clock.c) leaves out stops and what probes take.
 */
#include <stdlib.h>

#include "monitor/client/slow_calls.h"
#include "monitor/client/times_inner.h"
#include "monitor/client/tracing.h"
#include "monitor/process/object.h"
#include "monitor/process/owners.h"
#include "monitor/process/records.h"
#include "monitor/process/regions.h"
#include "monitor/process/task.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/search.h"
#include "util/stamp.h"

/* ---- tasks */

/* The times of a function in the task's counter set. */
static struct times *
timed_times(void *ctx, uint32_t func)
{
	const struct timed_task *timed = ctx;
	const struct timed_func *of = &timed->timing->funcs[func];
	struct times *times = counter_set_times(
		plan_counter_set(of->plan, timed->counter_set), of->fplan,
		of->plan->nfplans);

	if (timed->timing->event && !times->event)
		times->event = mem_strdup(timed->timing->event->name);
	return times;
}

static size_t
task_index(const struct timing *timing, pid_t tid)
{
	return search_first(timing->ntasks, i, timing->tasks[i]->tid >= tid);
}

struct timed_task *
timed_find(const struct run *run, const struct task *task)
{
	const struct timing *timing = run->timing;
	size_t i = task_index(timing, task->tid);

	return i < timing->ntasks && timing->tasks[i]->tid == task->tid ?
		       timing->tasks[i] :
		       NULL;
}

/* Nanoseconds of a tick: exact after some milliseconds. */
static double
tick_ns(const struct timing *timing)
{
	struct moment now = moment_now();
	double ticks = (double)(now.stamp - timing->began.stamp);

	return ticks > 0 ? (double)(now.ns - timing->began.ns) / ticks : 0;
}

static void
call_ended(void *ctx, const struct time_frame *frames, size_t n, uint64_t time)
{
	const struct timed_task *timed = ctx;
	const struct timed_func *funcs = timed->timing->funcs;
	uint64_t slow = funcs[frames[n - 1].func].slow;
	size_t first = n > SLOW_FRAMES + 1 ? n - SLOW_FRAMES - 1 : 0;
	struct slow_frame told[SLOW_FRAMES + 1];
	uint64_t ns;

	if (!slow || frames[n - 1].inherited || frames[n - 1].lost)
		return;
	ns = (uint64_t)((double)time * tick_ns(timed->timing));
	if (ns <= slow)
		return;
	for (size_t i = first; i < n; i++)
		told[i - first] = (struct slow_frame){
			funcs[frames[i].func].plan,
			funcs[frames[i].func].fplan,
		};
	slow_call(timed->run, timed->tid, ns, told, n - first);
}

static void
task_began(struct run *run, const struct task *task)
{
	struct timing *timing = run->timing;
	size_t i = task_index(timing, task->tid);
	struct timed_task *timed = mem_alloc(sizeof(*timed));

	*timed = (struct timed_task){
		.run = run,
		.timing = timing,
		.tid = task->tid,
		.counter_set = run_counter_set(run, task),
		.clock.costs = &timing->costs,
	};
	if (run->opts->time || timing->event)
		timed->stacks = time_stacks_open(
			timed_times, NULL,
			run->opts->nslows ? call_ended : NULL, timed);
	if (timing->event)
		time_stacks_sparse(timed->stacks);
	if (run->tracing)
		timed->traced = tracing_thread(run, task);
	*vec_insert(timing->tasks, timing->ntasks, i) = timed;
}

static void
timed_free(struct timed_task *timed)
{
	time_stacks_close(timed->stacks);
	free(timed->held);
	free(timed->stops);
	free(timed);
}

/* ---- records */

uint64_t
timed_now(const struct timed_task *timed)
{
	return timed->timing->event ? timed->counted + timed->in_place :
				      timed->clock.last;
}

/* A function was entered or left, at these times. */
static void
call_take(struct timed_task *timed, enum record_kind kind, uint32_t func,
	  uint32_t sp, uint64_t stamp, uint64_t now)
{
	if (timed->stacks)
		time_stacks_record(timed->stacks, kind, func, sp, now);
	if (timed->run->tracing)
		tracing_item(timed->run->tracing,
			     &(struct trace_item){
				     .kind = TRACE_RECORD,
				     .thread = timed->traced,
				     .stamp = stamp,
				     .now = now,
				     .record = kind,
				     .func = func,
				     .sp = sp,
			     });
}

/* Something else happened in the task, now. */
static void
trace_take(struct timed_task *timed, enum trace_kind kind, uint64_t value)
{
	if (timed->run->tracing)
		tracing_item(timed->run->tracing,
			     &(struct trace_item){
				     .kind = kind,
				     .thread = timed->traced,
				     .stamp = stamp_now(),
				     .now = timed->clock.last,
				     .value = value,
			     });
}

/* The task has stopped, and goes on at this time stamp. */
static void
stop_take(struct timed_task *timed, uint64_t stamp)
{
	const struct trace_item stop = {
		.kind = TRACE_STOP,
		.thread = timed->traced,
		.stamp = timed->clock.stopped,
		.now = timed->clock.last,
		.value = stamp - timed->clock.stopped,
	};

	if (!timed->run->tracing)
		return;
	if (timed->pending.n)
		*vec_push(timed->stops, timed->nstops) = stop;
	else
		tracing_item(timed->run->tracing, &stop);
}

/* Nothing is pending any more. */
static void
pending_end(struct timed_task *timed)
{
	timed->pending = (struct pending){ 0 };
	for (size_t i = 0; i < timed->nstops; i++)
		tracing_item(timed->run->tracing, &timed->stops[i]);
	timed->nstops = 0;
}

void
timed_pending(struct timed_task *timed)
{
	struct pending *pending = &timed->pending;
	uint64_t behind = pending->when + pending->adds;

	timed->in_place += pending->adds;
	for (unsigned i = 0; i < pending->n; i++)
		call_take(timed, pending->kinds[i], pending->func, pending->sp,
			  pending->stamp,
			  pending->kinds[i] == RECORD_LEAVE ||
					  pending->kinds[i] == RECORD_BACK ?
				  behind :
				  pending->when);
	pending_end(timed);
}

static void
record_take(struct timed_task *timed, const struct record *record,
	    uint64_t most)
{
	uint64_t now = timed->timing->event ?
			       record->stamp + timed->in_place :
			       time_clock_record(&timed->clock, record->stamp);
	uint32_t func = record->what / RECORD_KINDS;

	/* The program may have written there. */
	if (func < timed->timing->nfuncs)
		call_take(timed, record->what % RECORD_KINDS, func, record->sp,
			  record->stamp < most ? record->stamp : most, now);
}

void
timed_records(struct timed_task *timed, const struct record *records, size_t n)
{
	uint64_t most = stamp_now();

	for (size_t i = 0; i < n; i++)
		record_take(timed, &records[i], most);
}

static void
task_recorded(struct run *run, const struct task *task,
	      const struct record *records, size_t n)
{
	struct timed_task *timed = timed_find(run, task);

	if (!timed || !n)
		return;
	timed_pending(timed);
	for (size_t i = 0; timed->leaving && i < n; i++)
		*vec_push(timed->held, timed->nheld) = records[i];
	if (!timed->leaving)
		timed_records(timed, records, n);
	tracing_look(run);
}

static void
task_stopped(struct run *run, const struct task *task, uint64_t stamp,
	     uint64_t full)
{
	struct timed_task *timed = timed_find(run, task);

	if (timed && timed->timing->event)
		records_events(task, &timed->counted);
	else if (timed)
		time_clock_stop(&timed->clock, stamp, full);
}

static void
task_goes_on(struct run *run, const struct task *task, uint64_t stamp)
{
	struct timed_task *timed = timed_find(run, task);

	if (!timed)
		return;
	if (timed->clock.stopped)
		stop_take(timed, stamp);
	time_clock_go(&timed->clock, stamp);
}

static enum trace_end
traced_end(enum task_end how)
{
	return how == TASK_LET_GO   ? TRACE_LET_GO :
	       how == TASK_REPLACED ? TRACE_REPLACED :
				      TRACE_EXITED;
}

static void
task_ended(struct run *run, const struct task *task, enum task_end how)
{
	struct timing *timing = run->timing;
	struct timed_task *timed = timed_find(run, task);
	size_t i = task_index(timing, task->tid);

	if (!timed)
		return;
	timed_pending(timed);
	events_go_on(timed);
	if (timed->stacks)
		time_stacks_end(timed->stacks, timed_now(timed));
	trace_take(timed, TRACE_END, traced_end(how));
	timed_free(timed);
	timing->ntasks--;
	for (; i < timing->ntasks; i++)
		timing->tasks[i] = timing->tasks[i + 1];
}

static void
task_forked(struct run *run, const struct task *maker, const struct task *child)
{
	const struct timed_task *from = timed_find(run, maker);
	struct timed_task *to = timed_find(run, child);

	if (!from || !to)
		return;
	if (to->stacks)
		time_stacks_inherit(to->stacks, from->stacks, timed_now(to));
	if (run->tracing)
		tracing_forked(run->tracing, from->traced, to->traced,
			       to->clock.last);
}

static void
task_execed(struct run *run, const struct task *task)
{
	struct timed_task *timed = timed_find(run, task);

	if (!timed)
		return;
	timed_pending(timed);
	events_go_on(timed);
	if (timed->stacks)
		time_stacks_end(timed->stacks, timed_now(timed));
	trace_take(timed, TRACE_EXEC, 0);
	if (run->tracing)
		tracing_program(run, task, timed->traced);
}

/* ---- functions that run in place */

static void
task_at_site(struct run *run, const struct task *task, struct plan *plan,
	     uint32_t site, enum site_event what)
{
	struct timed_task *timed = timed_find(run, task);
	uint32_t fplan = plan->sites[site].fplan, number;
	const struct timed_func *func;
	struct pending *pending;
	uint64_t sp;

	if (!timed)
		return;
	pending = &timed->pending;
	if (what == SITE_UNDONE) {
		pending_end(timed);
		return;
	}
	if (fplan == FPLAN_NONE || plan->fplans[fplan].relocated ||
	    (plan->fplans[fplan].func == FUNC_NONE && !run->timing->event))
		return;
	if (what == SITE_TAKEN && pending->falls)
		pending->n--;
	timed_pending(timed);
	number = timed_func_number(run, plan, fplan);
	func = &run->timing->funcs[number];
	timed_note(pending, func, plan->sites[site].addr, what);
	if (func->events)
		pending->adds = event_func_at(func->events,
					      plan->sites[site].addr, what);
	if (!pending->n && !pending->adds)
		return;
	if (run->host->reg_get(task->tid, run->arch->reg_sp, &sp)) {
		*pending = (struct pending){ 0 };
		return;
	}
	pending->func = number;
	pending->sp = (uint32_t)sp;
	pending->when = timed_now(timed);
	pending->stamp = stamp_now();
}

const struct client client_times = {
	.name = "times",
	.choose = timed_choose,
	.began = task_began,
	.ended = task_ended,
	.forked = task_forked,
	.execed = task_execed,
	.at_site = task_at_site,
	.stopped = task_stopped,
	.goes_on = task_goes_on,
	.recorded = task_recorded,
};

const struct client client_events = {
	.name = "events",
	.choose = timed_choose,
	.began = task_began,
	.ended = task_ended,
	.forked = task_forked,
	.execed = task_execed,
	.at_site = task_at_site,
	.abnormal = events_abnormal,
	.leaves = events_leave,
	.left = events_left,
	.moved = events_moved,
	.stopped = task_stopped,
	.goes_on = task_goes_on,
	.recorded = task_recorded,
};

/* ---- all */

void
times_open(struct run *run)
{
	const struct page_offsets offsets = region_offsets();

	run->timing = mem_alloc(sizeof(*run->timing));
	if (run->opts->per.funcs.n)
		run->timing->event = &run->opts->report.events.events[0];
	run->timing->costs.record = run->arch->emit.record_cost(&offsets);
	run->timing->began = moment_now();
}

uint64_t
times_cost(const struct run *run)
{
	return run->timing->costs.record;
}

void
times_close(struct run *run)
{
	struct timing *timing = run->timing;

	if (!timing)
		return;
	for (size_t i = 0; i < timing->nfuncs; i++)
		free(timing->funcs[i].sites);
	for (size_t i = 0; i < timing->nfuncs; i++)
		event_func_free(timing->funcs[i].events);
	for (size_t i = 0; i < timing->nplans; i++)
		free(timing->plans[i].funcs);
	for (size_t i = 0; i < timing->ntasks; i++)
		timed_free(timing->tasks[i]);
	free(timing->funcs);
	free(timing->plans);
	free(timing->tasks);
	free(timing->unknown);
	free(timing);
	run->timing = NULL;
}

void
times_settle(struct run *run)
{
	struct timing *timing = run->timing;

	if (!timing)
		return;
	for (size_t i = 0; i < timing->ntasks; i++)
		if (timing->tasks[i]->stacks &&
		    (timing->event || timing->tasks[i]->clock.begun))
			time_stacks_settle(timing->tasks[i]->stacks,
					   timed_now(timing->tasks[i]));
	for (size_t i = 0; i < run->nobjects; i++)
		if (run->objects[i].plan && (run->opts->time || timing->event))
			run->objects[i].plan->tick_ns = timing->event ?
								1 :
								tick_ns(timing);
	if (timing->event)
		events_settle(run);
}

void
times_reset(struct run *run)
{
	struct timing *timing = run->timing;

	for (size_t i = 0; timing && i < timing->ntasks; i++)
		if (timing->tasks[i]->stacks)
			time_stacks_reset(timing->tasks[i]->stacks,
					  timed_now(timing->tasks[i]));
}
