/*
 * Makes plans from profiles, so that every report can be made of data files.
 * Never counts or derives anything: each count is the profile's.
 */
#include "report/profile/profile_plan.h"

#include <stdlib.h>

#include "probe/idle.h"
#include "probe/restore.h"
#include "util/mem.h"
#include "util/search.h"

/* Units whose counts follow from those of edges, or of blocks. */
enum {
	UNITS_OF_EDGES = 1 << UNIT_FUNC | 1 << UNIT_LINE | 1 << UNIT_INLINE |
			 1 << UNIT_BLOCK | 1 << UNIT_EDGE | 1 << UNIT_INSN |
			 1 << UNIT_CALL,
	UNITS_OF_BLOCKS = 1 << UNIT_BLOCK | 1 << UNIT_INSN | 1 << UNIT_CALL,
};

unsigned
units_saved(const struct profile_object *object, const struct selection *sel)
{
	unsigned units = object->units, wanted = sel->units;

	if (wanted == UNITS_DEFAULT)
		wanted = select_units_default(sel);
	if (units & PROFILE_EDGES)
		units |= UNITS_OF_EDGES;
	if (units & (PROFILE_BLOCKS | PROFILE_INSNS))
		units |= UNITS_OF_BLOCKS;
	return wanted & units ? wanted & units : object->units;
}

size_t
profile_func_from(const struct profile_object *object, uint64_t addr)
{
	return search_first(object->nfuncs, i, object->funcs[i].addr >= addr);
}

/* ---- graphs */

static bool
blocks_are(const struct profile_func *func, const struct cfg *cfg)
{
	if (func->nblocks != cfg->nblocks ||
	    func->unresolved != cfg->unresolved)
		return false;
	for (size_t b = 0; b < cfg->nblocks; b++) {
		const struct profile_block *old = &func->blocks[b];
		const struct block *block = &cfg->blocks[b];
		const struct insn *insn = &cfg->insns[block->first];
		const struct insn *last = insn + block->count - 1;

		if (old->addr != insn->addr || old->ninsns != block->count ||
		    old->addr + old->size != last->addr + last->len)
			return false;
	}
	return true;
}

bool
profile_graph_is(const struct profile_func *func, const struct cfg *cfg,
		 const struct flow *flow)
{
	if (!blocks_are(func, cfg) || func->nedges + 1 != flow->nedges)
		return false;
	for (uint32_t e = 0; e < flow->nedges; e++) {
		const struct flow_edge *edge = &flow->edges[e];
		const struct profile_edge *old =
			&func->edges[e - (e > flow->back)];

		if (e != flow->back &&
		    (old->from != edge->from || old->to != edge->to ||
		     old->by != edge->by))
			return false;
	}
	return true;
}

/* The parts of a graph that the code alone does not show, as addrs. */
struct hints {
	uint64_t *leaders, *external;
	size_t nleaders, nexternal;
};

/*
 * external: the blocks that are entered from outside, but for a named
 * function's entry.  leaders: in code without a name, the blocks that only the
 * block before leads to, whose beginning lines or data gave.  If indirect jumps
 * are unresolved, all proven code is entered from outside; then such blocks are
 * leaders instead.
 */
static struct hints
hints_find(const struct profile_func *func, bool named)
{
	bool given = !func->unresolved && !named;
	bool *plain = mem_alloc(func->nblocks), *root;
	struct hints hints = { 0 };

	root = mem_alloc(func->nblocks);
	for (size_t b = 0; b < func->nblocks; b++)
		plain[b] = given;
	for (size_t e = 0; e < func->nedges; e++) {
		const struct profile_edge *edge = &func->edges[e];

		if (edge->to < FLOW_BLOCK)
			continue;
		if (edge->from != FLOW_ROOT &&
		    (edge->from + 1 != edge->to || edge->by != BY_LAST))
			plain[edge->to - FLOW_BLOCK] &= func->unresolved;
		else if (edge->from == FLOW_ROOT && func->unresolved)
			plain[edge->to - FLOW_BLOCK] = true;
		else if (edge->from == FLOW_ROOT && (e || !named))
			root[edge->to - FLOW_BLOCK] = true;
	}
	for (size_t b = 0; b < func->nblocks; b++) {
		if (plain[b])
			*vec_push(hints.leaders,
				  hints.nleaders) = func->blocks[b].addr;
		if (root[b])
			*vec_push(hints.external,
				  hints.nexternal) = func->blocks[b].addr;
	}
	free(plain);
	free(root);
	return hints;
}

static bool
graph_restore(struct plan *plan, uint32_t index,
	      const struct profile_func *func)
{
	const struct func_plan *fplan = &plan->fplans[index];
	struct hints hints = hints_find(func, fplan->func != FUNC_NONE);
	bool made = plan_graph_as(plan, index, hints.leaders, hints.nleaders,
				  hints.external, hints.nexternal);

	free(hints.leaders);
	free(hints.external);
	return made && profile_graph_is(func, fplan->cfg, fplan->flow);
}

/* ---- counts */

/* Set all counts of a function, and that of its calls. */
static void
counts_fill(struct func_plan *fplan, struct count count)
{
	if (fplan->flow) {
		fplan->counts = mem_alloc(flow_arcs(fplan->flow) *
					  sizeof(*fplan->counts));
		for (uint32_t i = 0; i < flow_arcs(fplan->flow); i++)
			fplan->counts[i] = count;
	}
	fplan->calls = count;
}

/* The count of EXIT -> ROOT: how often control came in. */
static struct count
back_count(const struct profile_func *func)
{
	struct count sum = { .state = COUNT_DERIVED };

	for (size_t e = 0; e < func->nedges; e++) {
		const struct count *count = &func->edges[e].count;

		if (func->edges[e].from != FLOW_ROOT)
			break;
		if (count->state == COUNT_UNKNOWN)
			return *count;
		if (__builtin_add_overflow(sum.n, count->n, &sum.n))
			return (struct count){ .reason = REASON_OVERFLOW };
	}
	return sum;
}

static void
counts_restore(struct func_plan *fplan, const struct profile_func *func)
{
	const struct flow *flow = fplan->flow;

	counts_fill(fplan, (struct count){ .reason = REASON_UNPLACED });
	for (uint32_t e = 0; e < flow->nedges; e++)
		fplan->counts[e] =
			e == flow->back ?
				back_count(func) :
				func->edges[e - (e > flow->back)].count;
	for (uint32_t b = 0; b < func->nblocks; b++)
		fplan->counts[arc_of_block(flow, FLOW_BLOCK + b)] =
			func->blocks[b].count;
	if (flow->nedges && flow->edges[0].from == FLOW_ROOT &&
	    fplan->cfg->entry >= 0)
		fplan->calls = fplan->counts[0];
}

/*
 * Restore the doubt.  Old data files have no doubts; they show one by unknown
 * counts of blocks.
 */
static void
doubt_restore(struct func_plan *fplan, const struct profile_func *func)
{
	fplan->doubt = func->doubt;
	fplan->mid_entered = func->doubt == REASON_MID_ENTRY;
	fplan->came_back = func->doubt == REASON_CAME_BACK;
	for (size_t i = 0; i < func->npassed; i++) {
		long insn = cfg_insn(fplan->cfg, func->passed[i]);

		if (insn >= 0)
			*vec_push(fplan->passes,
				  fplan->npasses) = (struct pass){
				.insn = (uint32_t)insn,
				.site = SITE_NONE,
				.first = SITE_NONE,
				.measured = true,
			};
	}
	for (size_t b = 0; b < func->nblocks && !func->doubt; b++) {
		const struct count *count = &func->blocks[b].count;

		if (count->state == COUNT_UNKNOWN &&
		    (reason_anywhere(count->reason) ||
		     reason_calls(count->reason)))
			fplan->doubt = count->reason;
	}
}

/* Restore the abnormal edges; false if a number of them is not known. */
static bool
abnormals_restore(struct func_plan *fplan, const struct profile_func *func)
{
	for (size_t i = 0; i < func->nabnormals; i++) {
		const struct profile_abnormal *abnormal = &func->abnormals[i];
		long insn = cfg_insn(fplan->cfg, abnormal->addr);

		if (insn < 0 || abnormal->left == NUMBER_UNKNOWN ||
		    abnormal->came == NUMBER_UNKNOWN)
			return false;
		*vec_push(fplan->abnormal_insns,
			  fplan->nabnormal_insns) = (struct abnormal_insn){
			(uint32_t)insn,
			abnormal->during,
			abnormal->left,
			abnormal->came,
		};
	}
	return true;
}

/* ---- functions */

/*
 * The function of the profile at addr that is of the part, or unknown; else
 * NULL.  Sets *any to one at addr of whatever part, or NULL.
 */
static const struct profile_func *
func_of(const struct profile_object *object, uint64_t addr, uint32_t part,
	const struct profile_func **any)
{
	*any = NULL;
	for (size_t i = profile_func_from(object, addr);
	     i < object->nfuncs && object->funcs[i].addr == addr; i++) {
		*any = &object->funcs[i];
		if (object->funcs[i].part == part ||
		    object->funcs[i].state == PROFILE_UNKNOWN)
			return *any;
	}
	return NULL;
}

/* Restore a function that was never entered, by anyone or by this part. */
static void
never_restore(struct plan *plan, uint32_t index,
	      const struct profile_func *func)
{
	struct func_plan *fplan = &plan->fplans[index];
	bool graph = plan_graphs(plan) && !fplan->guest && func->nblocks;

	if (graph && !graph_restore(plan, index, func)) {
		counts_fill(fplan, (struct count){ .reason = REASON_GRAPH });
		return;
	}
	counts_fill(fplan, (struct count){ .state = COUNT_EXACT });
	fplan->nsites = func->sites;
}

static void
unknown_restore(struct plan *plan, uint32_t index,
		const struct profile_func *func)
{
	struct func_plan *fplan = &plan->fplans[index];

	if (fplan->state == FPLAN_FAULTY)
		return;
	/* The graph makes lines that it shares with others unknown, too. */
	if (plan_graphs(plan))
		plan_graph(plan, index);
	counts_fill(fplan, (struct count){ .reason = REASON_GRAPH });
	fplan->why = func->why;
	fplan->state = FPLAN_FAULTY;
}

static void
counted_restore(struct plan *plan, uint32_t index,
		const struct profile_func *func)
{
	struct func_plan *fplan = &plan->fplans[index];

	fplan->nsites = func->sites;
	fplan->ncounters = func->counters;
	fplan->increments = func->increments;
	if (!fplan->guest)
		fplan->state = FPLAN_READY;
	if (!plan_graphs(plan) || fplan->guest || !fplan->nranges ||
	    !func->nblocks) {
		fplan->calls = profile_calls(func);
		return;
	}
	if (!graph_restore(plan, index, func)) {
		counts_fill(fplan, (struct count){ .reason = REASON_GRAPH });
	} else {
		counts_restore(fplan, func);
		doubt_restore(fplan, func);
		if (!abnormals_restore(fplan, func))
			counts_fill(fplan, (struct count){
						   .reason = REASON_OVERFLOW });
	}
}

static void
times_restore(struct plan *plan, struct func_plan *fplan,
	      const struct profile_func *func)
{
	if (!func->times && !func->untimed)
		return;
	plan->tick_ns = 1;
	if (func->times)
		fplan->times = times_copy(func->times);
	if (func->untimed)
		fplan->untimed = mem_strdup(func->untimed);
}

static void
fplan_restore(struct plan *plan, uint32_t index,
	      const struct profile_object *object, uint32_t part)
{
	struct func_plan *fplan = &plan->fplans[index];
	const struct profile_func *func, *any;

	func = func_of(object, fplan_addr(plan, fplan), part, &any);
	if (!any) {
		fplan->units = 0;
		fplan->named = false;
		return;
	}
	if (!fplan->units)
		return;
	if (func)
		times_restore(plan, fplan, func);
	if (!func || func->state == PROFILE_NEVER)
		never_restore(plan, index, any);
	else if (func->state == PROFILE_UNKNOWN)
		unknown_restore(plan, index, func);
	else if (fplan->state != FPLAN_FAULTY)
		counted_restore(plan, index, func);
}

/*
 * Whether the object was counted without relying on calls to come back: its
 * graphs have leak edges.
 */
static bool
object_leaks(const struct profile_object *object)
{
	for (size_t i = 0; i < object->nfuncs; i++)
		for (size_t e = 0; e < object->funcs[i].nedges; e++)
			if (object->funcs[i].edges[e].by == BY_LEAK)
				return true;
	return false;
}

struct plan *
profile_restore(const struct profile *profile, size_t number, uint32_t part,
		struct image *image, const struct selection *sel)
{
	const struct profile_object *object = &profile->objects[number];
	struct plan *plan = plan_open(
		image,
		&(struct plan_options){
			.sel = sel,
			.counted = true,
			.leaks = object_leaks(object),
			.method = object->placement == PLACE_MIXED ?
					  PLACE_OPTIMAL :
					  object->placement,
		},
		NULL, NULL);

	for (size_t i = 0; i < plan->nfplans; i++)
		fplan_restore(plan, (uint32_t)i, object, part);
	return plan;
}

void
profile_restore_idle(struct plan *plan)
{
	for (size_t i = 0; i < plan->nfplans && plan_graphs(plan); i++) {
		struct func_plan *fplan = &plan->fplans[i];
		struct count calls = fplan->calls;

		if (fplan->cfg || !fplan_idle(plan, fplan))
			continue;
		plan_graph(plan, (uint32_t)i);
		if (fplan->state == FPLAN_WAITING)
			counts_fill(fplan,
				    (struct count){ .state = COUNT_EXACT });
		else
			counts_fill(
				fplan,
				(struct count){
					.reason = calls.reason ?
							  calls.reason :
							  REASON_UNPLACED });
		fplan->calls = calls;
	}
}

/* ---- where indirect calls went */

static void
call_restore(struct plan *plan, struct plan *const *plans,
	     const struct profile_call *call)
{
	const struct site *at = plan_site(plan, call->addr);
	struct plan *target = call->object == OBJECT_NONE ? NULL :
							    plans[call->object];
	struct counter_set *counter_set = plan_counter_set(plan, 0);
	uint32_t site = (uint32_t)(at - plan->sites);

	if (!at || !at->targets)
		return;
	counter_set_arrival(counter_set, site, target,
			    target ? call->target : 0, true)
		->n += call->n;
	counter_set_site(counter_set, site, plan->nsites)->hits += call->n;
}

/*
 * Restore the counters of a function's call sites.  A counter may exceed the
 * sum of its targets, as the target of some calls is not known.  A site that was
 * lost has no targets.
 */
static void
hits_restore(struct plan *plan, const struct func_plan *fplan)
{
	for (size_t i = 0; i < fplan->cfg->ninsns; i++) {
		struct site *site = plan_site(plan, fplan->cfg->insns[i].addr);
		struct count count = fplan_insn(fplan, (uint32_t)i);
		struct counter *counter;

		if (!site)
			continue;
		counter = counter_set_site(plan_counter_set(plan, 0),
					   (uint32_t)(site - plan->sites),
					   plan->nsites);
		if (count.state != COUNT_UNKNOWN)
			counter->hits = count.n;
		else if (!counter->hits)
			site->lost |= count.reason == REASON_LOST ||
				      count.reason == REASON_RELOCATED ||
				      count.reason == REASON_DROPPED;
	}
}

void
profile_restore_calls(const struct profile *profile, uint32_t part,
		      struct plan *const *plans)
{
	for (size_t o = 0; o < profile->nobjects; o++) {
		const struct profile_object *object = &profile->objects[o];
		struct plan *plan = plans[o];
		const struct profile_func *func, *any;

		if (!plan || !plan->options.counted ||
		    !(object->units & PROFILE_CALLS))
			continue;
		for (size_t i = 0; i < plan->nfplans; i++) {
			const struct func_plan *fplan = &plan->fplans[i];

			if (!(fplan->units & 1U << UNIT_CALL) || !fplan->counts)
				continue;
			plan_targets(plan, (uint32_t)i);
			func = func_of(object, fplan_addr(plan, fplan), part,
				       &any);
			for (size_t c = 0; func && c < func->ncalls; c++)
				call_restore(plan, plans, &func->calls[c]);
			hits_restore(plan, fplan);
		}
	}
}
