/*
 * Saves the counts of plans in a profile.  Knows nothing of runs and processes:
 * the caller adds these.
 */
#include "report/profile/profile_plan.h"

#include <stdlib.h>

#include "probe/counts.h"
#include "probe/idle.h"
#include "report/profile/profile_inner.h"
#include "util/mem.h"
#include "util/search.h"

_Static_assert((int)PROFILE_FUNCS == 1 << UNIT_FUNC &&
		       (int)PROFILE_LINES == 1 << UNIT_LINE &&
		       (int)PROFILE_INLINES == 1 << UNIT_INLINE &&
		       (int)PROFILE_BLOCKS == 1 << UNIT_BLOCK &&
		       (int)PROFILE_EDGES == 1 << UNIT_EDGE &&
		       (int)PROFILE_INSNS == 1 << UNIT_INSN &&
		       (int)PROFILE_CALLS == 1 << UNIT_CALL,
	       "units are the same in plans and profiles");

/* A propagated plan that is being saved, for one part or for all. */
struct saving {
	struct plan *plan;
	const struct plan **plans;	/* per object of the profile */
	size_t nplans;
	uint32_t part;
	struct profile_object *object;
	struct arrival *arrivals;	/* ascending site */
	size_t narrivals;
};

static struct count
count_saved(const struct count *count)
{
	if (count->state != COUNT_UNKNOWN)
		return *count;
	return (struct count){
		.reason = count->reason ? count->reason : REASON_UNPLACED,
	};
}

uint64_t
fplan_addr(const struct plan *plan, const struct func_plan *fplan)
{
	if (fplan->func != FUNC_NONE)
		return plan->image->funcs[fplan->func].addr;
	return fplan->ranges[0].lo;
}

/* ---- one function */

/* Save the calls of a function without a graph. */
static void
calls_save(struct profile_func *func, const struct func_plan *fplan)
{
	*vec_push(func->edges, func->nedges) = (struct profile_edge){
		.from = FLOW_ROOT,
		.to = FLOW_EXIT,
		.count = count_saved(&fplan->calls),
	};
}

static void
graph_save(struct profile_func *func, const struct func_plan *fplan)
{
	const struct cfg *cfg = fplan->cfg;
	const struct flow *flow = fplan->flow;

	func->unresolved = cfg->unresolved;
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];
		const struct insn *insn = &cfg->insns[block->first];
		const struct insn *last = insn + block->count - 1;
		uint32_t arc = arc_of_block(flow, FLOW_BLOCK + b);

		*vec_push(func->blocks, func->nblocks) = (struct profile_block){
			.addr = insn->addr,
			.size = last->addr + last->len - insn->addr,
			.ninsns = block->count,
			.count = count_saved(&fplan->counts[arc]),
		};
	}
	for (uint32_t e = 0; e < flow->nedges; e++)
		if (e != flow->back)
			*vec_push(func->edges,
				  func->nedges) = (struct profile_edge){
				flow->edges[e].from,
				flow->edges[e].to,
				flow->edges[e].by,
				count_saved(&fplan->counts[e]),
			};
}

static void
abnormal_insns_save(struct profile_func *func, const struct func_plan *fplan)
{
	for (size_t i = 0; i < fplan->nabnormal_insns; i++) {
		const struct abnormal_insn *abnormal_insn =
			&fplan->abnormal_insns[i];
		const struct block *block = &fplan->cfg->blocks[cfg_block_of(
			fplan->cfg, abnormal_insn->insn)];

		if (!abnormal_insn->left && !abnormal_insn->came)
			continue;
		*vec_push(func->abnormals,
			  func->nabnormals) = (struct profile_abnormal){
			.addr = fplan->cfg->insns[abnormal_insn->insn].addr,
			.rest = block->first + block->count -
				abnormal_insn->insn,
			.during = abnormal_insn->during,
			.left = abnormal_insn->left,
			.came = abnormal_insn->came,
		};
	}
}

static size_t
arrivals_from(const struct saving *s, uint32_t site)
{
	return search_first(s->narrivals, i, s->arrivals[i].site >= site);
}

static uint32_t
object_of(const struct saving *s, const struct plan *plan)
{
	for (size_t i = 0; plan && i < s->nplans; i++)
		if (s->plans[i] == plan)
			return (uint32_t)i;
	return OBJECT_NONE;
}

/* Save the targets of a function's indirect calls. */
static void
targets_save(const struct saving *s, struct profile_func *func,
	     const struct func_plan *fplan)
{
	for (size_t i = 0; i < fplan->cfg->ninsns && !fplan->unwritten; i++) {
		const struct insn *insn = &fplan->cfg->insns[i];
		const struct site *at;
		uint32_t site;

		if (!insn_calls_indirect(insn) ||
		    !(at = plan_site(s->plan, insn->addr)))
			continue;
		site = (uint32_t)(at - s->plan->sites);
		for (size_t a = arrivals_from(s, site);
		     a < s->narrivals && s->arrivals[a].site == site; a++) {
			const struct arrival *arrival = &s->arrivals[a];
			uint32_t object = object_of(s, arrival->plan);

			if (!arrival->n)
				continue;
			*vec_push(func->calls,
				  func->ncalls) = (struct profile_call){
				insn->addr,
				object,
				object == OBJECT_NONE ? 0 : arrival->addr,
				arrival->n,
			};
		}
	}
}

static void
doubt_save(struct profile_func *func, const struct func_plan *fplan)
{
	func->doubt = fplan->doubt;
	for (size_t i = 0; fplan->doubt && i < fplan->npasses; i++)
		if (fplan->passes[i].measured)
			*vec_push(func->passed, func->npassed) =
				fplan->cfg->insns[fplan->passes[i].insn].addr;
}

/* The number of increments if each block had a counter. */
static uint64_t
every_of(const struct profile_func *func)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < func->nblocks; i++)
		if (func->blocks[i].count.state == COUNT_UNKNOWN ||
		    __builtin_add_overflow(sum, func->blocks[i].count.n, &sum))
			return NUMBER_UNKNOWN;
	return sum;
}

static void
counts_save(const struct saving *s, struct profile_func *func,
	    const struct func_plan *fplan)
{
	func->state = PROFILE_COUNTED;
	if (!fplan->flow || !plan_graphs(s->plan)) {
		calls_save(func, fplan);
		return;
	}
	graph_save(func, fplan);
	abnormal_insns_save(func, fplan);
	doubt_save(func, fplan);
	if (fplan->units & 1U << UNIT_CALL)
		targets_save(s, func, fplan);
	func->every = every_of(func);
	extras_sort(func);
}

static void
times_save(struct profile_func *func, const struct func_plan *fplan)
{
	const char *why = fplan_untimed(fplan);

	if (fplan->times)
		func->times = times_copy(fplan->times);
	if (why)
		func->untimed = mem_strdup(why);
}

static struct profile_func
fplan_save(const struct saving *s, const struct func_plan *fplan)
{
	const struct image *image = s->plan->image;
	struct profile_func func = {
		.addr = fplan_addr(s->plan, fplan),
		.part = s->part,
		.name = mem_strdup(fplan->func == FUNC_NONE ?
					   "" :
					   image->funcs[fplan->func].name),
	};

	for (size_t i = 0; i < fplan->nranges; i++)
		if (fplan->ranges[i].lo < fplan->ranges[i].hi)
			*vec_push(func.ranges, func.nranges) = fplan->ranges[i];
	if (fplan->state == FPLAN_FAULTY) {
		func.state = PROFILE_UNKNOWN;
		func.why = mem_strdup(fplan->why);
	} else if (fplan_never(s->plan, fplan)) {
		func.state = PROFILE_NEVER;
		func.sites = fplan->nsites;
	} else {
		counts_save(s, &func, fplan);
		func.sites = fplan->nsites;
		func.counters = fplan->ncounters;
		func.increments = fplan->increments;
	}
	if (plan_timed(s->plan))
		times_save(&func, fplan);
	return func;
}

/* ---- one object */

/* Whether a function is known not to have run at all. */
static bool
func_idle(const struct profile_func *func)
{
	bool idle = func->state == PROFILE_COUNTED && !func->nabnormals &&
		    !func->ncalls && !func->increments && !func->every &&
		    !func->doubt && !func->times;

	for (size_t i = 0; i < func->nedges; i++)
		idle &= func->edges[i].count.state != COUNT_UNKNOWN &&
			!func->edges[i].count.n;
	return idle;
}

static int
by_site(const void *va, const void *vb)
{
	const struct arrival *a = va, *b = vb;

	return a->site < b->site ? -1 : a->site > b->site;
}

static void
arrivals_gather(struct saving *s, const size_t *counter_set)
{
	const struct plan *plan = s->plan;

	for (size_t m = 0; m < plan->ncounter_sets; m++)
		for (size_t i = 0; i < plan->counter_sets[m]->narrivals &&
				   (!counter_set || *counter_set == m);
		     i++)
			*vec_push(s->arrivals, s->narrivals) =
				plan->counter_sets[m]->arrivals[i];
	if (s->narrivals)
		qsort(s->arrivals, s->narrivals, sizeof(*s->arrivals), by_site);
}

/*
 * Save the functions of one part, or, last, those that no part has.  told[i]
 * is whether some part has function plan i.  Functions that a part did not run,
 * or that are not counted, are left to the last call.
 */
static void
fplans_save(struct saving *s, bool *told, bool last)
{
	for (size_t i = 0; i < s->plan->nfplans; i++) {
		const struct func_plan *fplan = &s->plan->fplans[i];
		struct profile_func func;

		if (!fplan->units || (last && told[i]))
			continue;
		func = fplan_save(s, fplan);
		if (!last && !func.times &&
		    (func.state != PROFILE_COUNTED || func_idle(&func))) {
			func_clear(&func);
			continue;
		}
		*vec_push(s->object->funcs, s->object->nfuncs) = func;
		told[i] = true;
	}
}

static int
by_func(const void *a, const void *b)
{
	return func_compare(a, b);
}

/* Put the functions in order, when all are saved. */
static void
object_sort(struct profile_object *object)
{
	if (object->nfuncs)
		qsort(object->funcs, object->nfuncs, sizeof(*object->funcs),
		      by_func);
}

static void
part_save(struct saving s, const size_t *counter_set, bool *told)
{
	struct counter_set none = { 0 };

	if (!counter_set)
		plan_propagate_entered(s.plan, NULL);
	else
		plan_propagate_entered(
			s.plan, *counter_set < s.plan->ncounter_sets ?
					s.plan->counter_sets[*counter_set] :
					&none);
	arrivals_gather(&s, counter_set);
	fplans_save(&s, told, !counter_set);
	free(s.arrivals);
}

/*
 * Save a plan: part by part, and then, with the counts of all parts together,
 * the functions that no part entered, as PART_NONE.
 */
static void
plan_save(struct profile *profile, struct saving s, const size_t *counter_sets)
{
	bool *told = mem_alloc(s.plan->nfplans);

	for (size_t i = 0; counter_sets && i < profile->nparts; i++) {
		s.part = (uint32_t)i;
		part_save(s, &counter_sets[i], told);
	}
	s.part = PART_NONE;
	part_save(s, NULL, told);
	object_sort(s.object);
	free(told);
}

static void
object_add(struct profile *profile, const struct plan *plan)
{
	struct profile_object *object = vec_push(profile->objects,
						 profile->nobjects);

	*object = (struct profile_object){
		.placement = plan->options.method,
		.units = plan->units,
	};
	profile_identify(object, plan->image);
}

/* Add the objects that are only targets of calls. */
static void
targets_add(struct profile *profile, const struct plan *from,
	    const struct plan ***plans, size_t *nplans)
{
	for (size_t m = 0; m < from->ncounter_sets; m++)
		for (size_t i = 0; i < from->counter_sets[m]->narrivals; i++) {
			const struct plan *plan =
				from->counter_sets[m]->arrivals[i].plan;
			size_t k = 0;

			while (k < *nplans && (*plans)[k] != plan)
				k++;
			if (!plan || k < *nplans)
				continue;
			*vec_push(*plans, *nplans) = plan;
			object_add(profile, plan);
		}
}

void
profile_save(struct profile *profile, struct plan *const *plans, size_t nplans,
	     const size_t *counter_sets)
{
	const struct plan **all = NULL;
	size_t n = 0;

	for (size_t i = 0; i < nplans; i++) {
		*vec_push(all, n) = plans[i];
		object_add(profile, plans[i]);
	}
	for (size_t i = 0; i < nplans; i++)
		targets_add(profile, plans[i], &all, &n);
	for (size_t i = 0; i < nplans; i++)
		plan_save(profile,
			  (struct saving){
				  .plan = plans[i],
				  .plans = all,
				  .nplans = n,
				  .object = &profile->objects[i],
			  },
			  counter_sets);
	free(all);
}
