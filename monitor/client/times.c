/*
 * Measures times: has probes at the entries and exits of functions, which record
 * the CPU's time stamp, and gives the records of each task to its stacks
 * (time_stacks.c).  Bishop 1987 names times as what patched counters lack.
 * doc/decisions/0023 has the costs.
 *
 * A task's clock (time_clock.c) leaves out stops and what probes take.
 */
#include "monitor/client/times.h"

#include <stdlib.h>

#include "monitor/client/slow_calls.h"
#include "monitor/client/time_clock.h"
#include "monitor/client/tracing.h"
#include "monitor/process/object.h"
#include "monitor/process/owners.h"
#include "monitor/process/regions.h"
#include "monitor/process/task.h"
#include "probe/time_stacks.h"
#include "util/addrs.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/search.h"
#include "util/stamp.h"

/* A block that begins at an instruction, and an edge that it ends in. */
enum { PENDING_MAX = 2 };

/* Where one of a function's probes is, if the function runs in place. */
struct timed_site {
	uint64_t addr;
	uint8_t kind;		/* enum term_kind */
	uint8_t record;		/* enum record_kind */
};

struct timed_func {
	struct plan *plan;
	uint32_t fplan;
	struct timed_site *sites;	/* by ascending addr */
	size_t nsites;
	uint64_t slow;		/* tell of calls that take longer, in ns; 0: of
				   none */
};

/* The functions of one plan. */
struct timed_plan {
	const struct plan *plan;
	uint32_t *funcs;	/* per function plan: index into timing->funcs,
				   from 1 on; 0: none yet */
};

/*
 * What a task is about to do, which is at a site: its instruction may turn out
 * not to have begun, or to branch.
 */
struct pending {
	uint8_t kinds[PENDING_MAX];	/* enum record_kind */
	unsigned n;
	bool falls;		/* the last one, if the branch is not taken */
	uint32_t func, sp;
	uint64_t when;		/* as the clock shows, and ... */
	uint64_t stamp;		/* ... the CPU's time stamp */
};

struct timed_task {
	struct run *run;
	struct timing *timing;
	pid_t tid;
	size_t counter_set;	/* that has its times */
	struct time_stacks *stacks;	/* --time; or NULL */
	uint32_t traced;	/* --trace: the thread's number */
	struct time_clock clock;
	struct pending pending;
};

struct timing {
	struct timed_func *funcs;
	size_t nfuncs;
	struct timed_plan *plans;
	size_t nplans;
	struct timed_task **tasks;	/* ascending tid */
	size_t ntasks;
	struct time_costs costs;
	uint64_t stamp;		/* when measuring began, and ... */
	double clock;		/* ... monotonic seconds */
};

/* ---- tasks */

/* The times of a function in the task's counter set. */
static struct times *
timed_times(void *ctx, uint32_t func)
{
	const struct timed_task *timed = ctx;
	const struct timed_func *of = &timed->timing->funcs[func];

	return counter_set_times(plan_counter_set(of->plan, timed->counter_set),
				 of->fplan, of->plan->nfplans);
}

static size_t
task_index(const struct timing *timing, pid_t tid)
{
	return search_first(timing->ntasks, i, timing->tasks[i]->tid >= tid);
}

static struct timed_task *
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
	double ticks = (double)(stamp_now() - timing->stamp);

	return ticks > 0 ? (clock_seconds() - timing->clock) * 1e9 / ticks : 0;
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
	if (run->opts->time)
		timed->stacks = time_stacks_open(
			timed_times, NULL,
			run->opts->nslows ? call_ended : NULL, timed);
	if (run->tracing)
		timed->traced = tracing_thread(run, task);
	*vec_insert(timing->tasks, timing->ntasks, i) = timed;
}

static void
timed_free(struct timed_task *timed)
{
	time_stacks_close(timed->stacks);
	free(timed);
}

/* ---- records */

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
trace_take(struct timed_task *timed, enum trace_kind kind, uint64_t stamp,
	   uint64_t value)
{
	if (timed->run->tracing)
		tracing_item(timed->run->tracing,
			     &(struct trace_item){
				     .kind = kind,
				     .thread = timed->traced,
				     .stamp = stamp,
				     .now = timed->clock.last,
				     .value = value,
			     });
}

/* What the task was about to do at its last site, it has done. */
static void
pending_take(struct timed_task *timed)
{
	struct pending *pending = &timed->pending;

	for (unsigned i = 0; i < pending->n; i++)
		call_take(timed, pending->kinds[i], pending->func, pending->sp,
			  pending->stamp, pending->when);
	*pending = (struct pending){ 0 };
}

static void
record_take(struct timed_task *timed, const struct record *record,
	    uint64_t most)
{
	uint64_t now = time_clock_record(&timed->clock, record->stamp);
	uint32_t func = record->what / RECORD_KINDS;

	/* The program may have written there. */
	if (func < timed->timing->nfuncs)
		call_take(timed, record->what % RECORD_KINDS, func, record->sp,
			  record->stamp < most ? record->stamp : most, now);
}

static void
task_recorded(struct run *run, const struct task *task,
	      const struct record *records, size_t n)
{
	struct timed_task *timed = timed_find(run, task);
	uint64_t most = stamp_now();

	if (!timed || !n)
		return;
	pending_take(timed);
	for (size_t i = 0; i < n; i++)
		record_take(timed, &records[i], most);
	tracing_look(run);
}

static void
task_stopped(struct run *run, const struct task *task, uint64_t stamp,
	     uint64_t full)
{
	struct timed_task *timed = timed_find(run, task);

	if (timed)
		time_clock_stop(&timed->clock, stamp, full);
}

static void
task_goes_on(struct run *run, const struct task *task, uint64_t stamp)
{
	struct timed_task *timed = timed_find(run, task);

	if (!timed)
		return;
	if (timed->clock.stopped)
		trace_take(timed, TRACE_STOP, timed->clock.stopped,
			   stamp - timed->clock.stopped);
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
	pending_take(timed);
	if (timed->stacks)
		time_stacks_end(timed->stacks, timed->clock.last);
	trace_take(timed, TRACE_END, stamp_now(), traced_end(how));
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
		time_stacks_inherit(to->stacks, from->stacks, to->clock.last);
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
	pending_take(timed);
	if (timed->stacks)
		time_stacks_end(timed->stacks, timed->clock.last);
	trace_take(timed, TRACE_EXEC, stamp_now(), 0);
	if (run->tracing)
		tracing_program(run, task, timed->traced);
}

/* ---- probes */

/* The function's number. */
static uint32_t
func_number(const struct run *run, struct plan *plan, uint32_t fplan)
{
	struct timing *timing = run->timing;
	struct timed_plan *of = NULL;
	uint32_t *number;

	for (size_t i = 0; i < timing->nplans && !of; i++)
		if (timing->plans[i].plan == plan)
			of = &timing->plans[i];
	if (!of) {
		of = vec_push(timing->plans, timing->nplans);
		*of = (struct timed_plan){
			.plan = plan,
			.funcs = mem_numbers(plan->nfplans, 0),
		};
	}
	number = &of->funcs[fplan];
	if (!*number) {
		*vec_push(timing->funcs, timing->nfuncs) = (struct timed_func){
			.plan = plan, .fplan = fplan
		};
		*number = (uint32_t)timing->nfuncs;
		if (run->tracing)
			tracing_func(run->tracing, plan, fplan);
	}
	return *number - 1;
}

/* The probes that are being asked for. */
struct asking {
	struct probe_list *list;
	struct timed_func *func;
	uint32_t number;
	struct func_plan *fplan;
};

/* Ask for a probe that records; without one, times cannot be known. */
static void
record_ask(struct asking *asking, uint32_t element, enum record_kind kind)
{
	uint32_t what = asking->number * RECORD_KINDS + kind;
	struct timed_func *func = asking->func;
	struct term term;
	size_t i;

	if (probe_ask(asking->list, element, PROBE_RECORD, (int32_t)what)) {
		if (!asking->fplan->untimed)
			asking->fplan->untimed = mem_strdup(fail_message());
		return;
	}
	must(arc_term(asking->fplan->flow, asking->fplan->cfg, element, &term));
	i = search_first(func->nsites, k, func->sites[k].addr > term.addr);
	*vec_insert(func->sites, func->nsites, i) = (struct timed_site){
		.addr = term.addr,
		.kind = term.kind,
		.record = kind,
	};
}

/* Does the edge come from a block that is known to be code? */
static bool
edge_known(const struct func_plan *fplan, const struct flow_edge *edge)
{
	return edge->from >= FLOW_BLOCK &&
	       fplan->cfg->blocks[edge->from - FLOW_BLOCK].proof == PROOF_FLOW;
}

static bool
edge_goes_back(const struct func_plan *fplan, const struct flow_edge *edge)
{
	return edge->to == fplan->flow->edges[0].to && edge_known(fplan, edge);
}

/* Does control leave the function for good by the edge's last instruction? */
static bool
edge_leaves(const struct func_plan *fplan, const struct flow_edge *edge)
{
	const struct block *from;

	if (edge->to != FLOW_EXIT || !edge_known(fplan, edge) ||
	    edge->by == BY_LEAK)
		return false;
	from = &fplan->cfg->blocks[edge->from - FLOW_BLOCK];
	switch (fplan->cfg->insns[from->first + from->count - 1].kind) {
	case INSN_RETURN:
	case INSN_JUMP:
	case INSN_JUMP_INDIRECT:
	case INSN_BRANCH:
		return true;
	default:
		return false;
	}
}

/*
 * At the entry, the exits, where control goes back to the entry, and where
 * exceptions are handled.
 */
static void
records_ask(struct asking *asking, const struct image *image)
{
	const struct flow *flow = asking->fplan->flow;
	const struct cfg *cfg = asking->fplan->cfg;
	uint32_t entry = flow->edges[0].to;

	record_ask(asking, arc_of_block(flow, entry), RECORD_ENTER);
	for (uint32_t e = 0; e < flow->nedges; e++)
		if (edge_leaves(asking->fplan, &flow->edges[e]))
			record_ask(asking, e, RECORD_LEAVE);
		else if (edge_goes_back(asking->fplan, &flow->edges[e]))
			record_ask(asking, e, RECORD_BACK);
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		if (cfg->blocks[b].proof == PROOF_FLOW &&
		    addrs_has(image->pads, image->npads,
			      cfg->insns[cfg->blocks[b].first].addr))
			record_ask(asking, arc_of_block(flow, FLOW_BLOCK + b),
				   RECORD_LAND);
}

static void
funcs_choose(struct run *run, struct plan *plan, struct probe_list *list)
{
	uint32_t index = (uint32_t)(list->fplan - plan->fplans);
	struct asking asking = { .list = list, .fplan = &plan->fplans[index] };
	const struct flow *flow = list->fplan->flow;

	if (list->fplan->func == FUNC_NONE || !list->fplan->units)
		return;
	asking.number = func_number(run, plan, index);
	asking.func = &run->timing->funcs[asking.number];
	asking.func->slow = slow_limit(run->opts,
				       &plan->image->funcs[list->fplan->func]);
	asking.func->nsites = 0;
	free(asking.func->sites);
	asking.func->sites = NULL;
	free(asking.fplan->untimed);
	asking.fplan->untimed = NULL;
	if (plan->options.shared)
		asking.fplan->untimed = mem_strdup(
			"threads have no memory of their own to record in");
	else if (!flow->nedges || flow->edges[0].from != FLOW_ROOT)
		asking.fplan->untimed = mem_strdup(
			"the function's beginning is not known");
	else
		records_ask(&asking, plan->image);
	if (run->tracing && asking.fplan->untimed)
		tracing_untraced(run->tracing, plan, index,
				 asking.fplan->untimed);
}

/* ---- functions that run in place */

/* Note what is recorded of an instruction that has begun, or has branched. */
static void
pending_note(struct pending *pending, const struct timed_func *func,
	     uint64_t addr, enum site_event what)
{
	size_t i = search_first(func->nsites, k, func->sites[k].addr >= addr);

	for (; i < func->nsites && func->sites[i].addr == addr; i++) {
		const struct timed_site *site = &func->sites[i];

		if ((site->kind == TERM_TAKEN) != (what == SITE_TAKEN))
			continue;
		must(pending->n < PENDING_MAX);
		pending->kinds[pending->n++] = site->record;
		pending->falls |= site->kind == TERM_FALL;
	}
}

static void
task_at_site(struct run *run, const struct task *task, struct plan *plan,
	     uint32_t site, enum site_event what)
{
	struct timed_task *timed = timed_find(run, task);
	uint32_t fplan = plan->sites[site].fplan, number;
	struct pending *pending;
	uint64_t sp;

	if (!timed)
		return;
	pending = &timed->pending;
	if (what == SITE_UNDONE) {
		*pending = (struct pending){ 0 };
		return;
	}
	if (fplan == FPLAN_NONE || plan->fplans[fplan].relocated ||
	    plan->fplans[fplan].func == FUNC_NONE)
		return;
	if (what == SITE_TAKEN && pending->falls)
		pending->n--;
	pending_take(timed);
	number = func_number(run, plan, fplan);
	pending_note(pending, &run->timing->funcs[number],
		     plan->sites[site].addr, what);
	if (!pending->n)
		return;
	if (run->host->reg_get(task->tid, run->arch->reg_sp, &sp)) {
		*pending = (struct pending){ 0 };
		return;
	}
	pending->func = number;
	pending->sp = (uint32_t)sp;
	pending->when = timed->clock.last;
	pending->stamp = stamp_now();
}

const struct client client_times = {
	.name = "times",
	.choose = funcs_choose,
	.began = task_began,
	.ended = task_ended,
	.forked = task_forked,
	.execed = task_execed,
	.at_site = task_at_site,
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
	run->timing->costs.record = run->arch->emit.record_cost(&offsets);
	run->timing->clock = clock_seconds();
	run->timing->stamp = stamp_now();
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
	for (size_t i = 0; i < timing->nplans; i++)
		free(timing->plans[i].funcs);
	for (size_t i = 0; i < timing->ntasks; i++)
		timed_free(timing->tasks[i]);
	free(timing->funcs);
	free(timing->plans);
	free(timing->tasks);
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
		if (timing->tasks[i]->stacks && timing->tasks[i]->clock.begun)
			time_stacks_settle(timing->tasks[i]->stacks,
					   timing->tasks[i]->clock.last);
	for (size_t i = 0; i < run->nobjects; i++)
		if (run->objects[i].plan && run->opts->time)
			run->objects[i].plan->tick_ns = tick_ns(timing);
}

void
times_reset(struct run *run)
{
	struct timing *timing = run->timing;

	for (size_t i = 0; timing && i < timing->ntasks; i++)
		if (timing->tasks[i]->stacks)
			time_stacks_reset(timing->tasks[i]->stacks,
					  timing->tasks[i]->clock.last);
}
