/*
 * What plans have counted, as a profile.  Knows nothing of runs and processes:
 * whoever does adds them.
 */
#include "report/profile_plan.h"

#include <stdlib.h>

#include "report/profile_inner.h"
#include "util/fail.h"
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

/* One settled plan being saved, for one part or for all. */
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
body_addr(const struct plan *plan, const struct body *body)
{
	if (body->func != FUNC_NONE)
		return plan->image->funcs[body->func].addr;
	return body->ranges[0].lo;
}

/* ---- one function */

/* Its graph is not known: only its calls are. */
static void
calls_save(struct profile_func *func, const struct body *body)
{
	*vec_push(func->edges, func->nedges) = (struct profile_edge){
		.from = FLOW_ROOT, .to = FLOW_EXIT,
		.count = count_saved(&body->calls),
	};
}

static void
graph_save(struct profile_func *func, const struct body *body)
{
	const struct cfg *cfg = body->cfg;
	const struct flow *flow = body->flow;

	func->unresolved = cfg->unresolved;
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];
		const struct insn *insn = &cfg->insns[block->first];
		const struct insn *last = insn + block->count - 1;
		uint32_t arc = arc_of_block(flow, FLOW_BLOCK + b);

		*vec_push(func->blocks, func->nblocks) =
			(struct profile_block){
				.addr = insn->addr,
				.size = last->addr + last->len - insn->addr,
				.ninsns = block->count,
				.count = count_saved(&body->counts[arc]),
			};
	}
	for (uint32_t e = 0; e < flow->nedges; e++)
		if (e != flow->back)
			*vec_push(func->edges, func->nedges) =
				(struct profile_edge){
					flow->edges[e].from, flow->edges[e].to,
					flow->edges[e].by,
					count_saved(&body->counts[e]),
				};
}

static void
leaps_save(struct profile_func *func, const struct body *body)
{
	for (size_t i = 0; i < body->nleaps; i++) {
		const struct leap *leap = &body->leaps[i];
		const struct block *block = &body->cfg->blocks[
			cfg_block_of(body->cfg, leap->insn)];

		if (!leap->left && !leap->came)
			continue;
		*vec_push(func->strays, func->nstrays) =
			(struct profile_stray){
				.addr = body->cfg->insns[leap->insn].addr,
				.rest = block->first + block->count -
					leap->insn,
				.during = leap->during,
				.left = leap->left, .came = leap->came,
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

/* Where the indirect calls of a body went. */
static void
targets_save(const struct saving *s, struct profile_func *func,
	     const struct body *body)
{
	for (size_t i = 0; i < body->cfg->ninsns; i++) {
		const struct insn *insn = &body->cfg->insns[i];
		const struct site *at;
		uint32_t site;

		if (!insn_calls_indirect(insn) ||
		    !(at = plan_site(s->plan, insn->addr)))
			continue;
		site = (uint32_t)(at - s->plan->sites);
		for (size_t a = arrivals_from(s, site); a < s->narrivals &&
		     s->arrivals[a].site == site; a++) {
			const struct arrival *arrival = &s->arrivals[a];
			uint32_t object = object_of(s, arrival->plan);

			if (!arrival->n)
				continue;
			*vec_push(func->calls, func->ncalls) =
				(struct profile_call){
					insn->addr, object,
					object == OBJECT_NONE ? 0 :
					arrival->addr, arrival->n,
				};
		}
	}
}

static void
doubt_save(struct profile_func *func, const struct body *body)
{
	func->doubt = body->doubt;
	for (size_t i = 0; body->doubt && i < body->npasses; i++)
		if (body->passes[i].measured)
			*vec_push(func->passed, func->npassed) =
				body->cfg->insns[body->passes[i].insn].addr;
}

/* Increments of one counter per block. */
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
	    const struct body *body)
{
	func->state = PROFILE_COUNTED;
	if (!body->flow || !plan_graphs(s->plan)) {
		calls_save(func, body);
		return;
	}
	graph_save(func, body);
	leaps_save(func, body);
	doubt_save(func, body);
	if (body->units & 1U << UNIT_CALL)
		targets_save(s, func, body);
	func->every = every_of(func);
	extras_sort(func);
}

/*
 * It was never entered, and all its counts are known to be 0: of one of which
 * they may not be known the graph was made when it was settled.
 */
static bool
body_never(const struct plan *plan, const struct body *body)
{
	bool never = body->state == BODY_WAITING && !body->guest &&
		     !body->calls.n && !body->nleaps && !body->doubt;

	if (!plan_graphs(plan))
		never &= body->calls.state != COUNT_UNKNOWN;
	for (uint32_t i = 0; never && body->counts &&
	     i < flow_arcs(body->flow); i++)
		never = body->counts[i].state != COUNT_UNKNOWN;
	return never;
}

static struct profile_func
body_save(const struct saving *s, const struct body *body)
{
	const struct image *image = s->plan->image;
	struct profile_func func = {
		.addr = body_addr(s->plan, body), .part = s->part,
		.name = mem_strdup(body->func == FUNC_NONE ? "" :
				   image->funcs[body->func].name),
	};

	for (size_t i = 0; i < body->nranges; i++)
		if (body->ranges[i].lo < body->ranges[i].hi)
			*vec_push(func.ranges, func.nranges) = body->ranges[i];
	if (body->state == BODY_FAULTY) {
		func.state = PROFILE_UNKNOWN;
		func.why = mem_strdup(body->why);
	} else if (body_never(s->plan, body)) {
		func.state = PROFILE_NEVER;
		func.sites = body->nsites;
	} else {
		counts_save(s, &func, body);
		func.sites = body->nsites;
		func.counters = body->ncounters;
		func.increments = body->increments;
	}
	return func;
}

/* ---- one object */

/* Nothing of it ran, and all of that is known. */
static bool
func_idle(const struct profile_func *func)
{
	bool idle = func->state == PROFILE_COUNTED && !func->nstrays &&
		    !func->ncalls && !func->increments && !func->every &&
		    !func->doubt;

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
arrivals_gather(struct saving *s, const size_t *meter)
{
	const struct plan *plan = s->plan;

	for (size_t m = 0; m < plan->nmeters; m++)
		for (size_t i = 0; i < plan->meters[m]->narrivals &&
		     (!meter || *meter == m); i++)
			*vec_push(s->arrivals, s->narrivals) =
				plan->meters[m]->arrivals[i];
	if (s->narrivals)
		qsort(s->arrivals, s->narrivals, sizeof(*s->arrivals),
		      by_site);
}

/*
 * The functions of one part, or of all: told are, per body, whether any part
 * has it, and those that have nothing of their own are left to the last.
 */
static void
bodies_save(struct saving *s, bool *told, bool last)
{
	for (size_t i = 0; i < s->plan->nbodies; i++) {
		const struct body *body = &s->plan->bodies[i];
		struct profile_func func;

		if (!body->units || (last && told[i]))
			continue;
		func = body_save(s, body);
		if (!last && (func.state != PROFILE_COUNTED ||
			      func_idle(&func))) {
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

/* All functions are in: put them in order. */
static void
object_sort(struct profile_object *object)
{
	if (object->nfuncs)
		qsort(object->funcs, object->nfuncs, sizeof(*object->funcs),
		      by_func);
}

static void
part_save(struct saving s, const size_t *meter, bool *told)
{
	struct meter none = { 0 };

	if (!meter)
		plan_settle_entered(s.plan, NULL);
	else
		plan_settle_entered(s.plan, *meter < s.plan->nmeters ?
				    s.plan->meters[*meter] : &none);
	arrivals_gather(&s, meter);
	bodies_save(&s, told, !meter);
	free(s.arrivals);
}

/*
 * What no part has entered is of none; to be sure that it was not, all parts
 * are settled together for it.
 */
static void
plan_save(struct profile *profile, struct saving s, const size_t *meters)
{
	bool *told = mem_alloc(s.plan->nbodies);

	for (size_t i = 0; meters && i < profile->nparts; i++) {
		s.part = (uint32_t)i;
		part_save(s, &meters[i], told);
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
		.placement = plan->wish.method, .units = plan->units,
	};
	profile_identify(object, plan->image);
}

/* Calls may go to what is not counted itself. */
static void
targets_add(struct profile *profile, const struct plan *from,
	    const struct plan ***plans, size_t *nplans)
{
	for (size_t m = 0; m < from->nmeters; m++)
		for (size_t i = 0; i < from->meters[m]->narrivals; i++) {
			const struct plan *plan =
				from->meters[m]->arrivals[i].plan;
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
profile_save(struct profile *profile, struct plan *const *plans,
	     size_t nplans, const size_t *meters)
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
		plan_save(profile, (struct saving){
			.plan = plans[i], .plans = all, .nplans = n,
			.object = &profile->objects[i],
		}, meters);
	free(all);
}
