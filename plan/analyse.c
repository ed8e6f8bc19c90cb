/*
 * Looks at a function: makes its graph, finds the arcs that the units asked for
 * need, and places counters for them.  Knows nothing of processes; the monitor
 * plants the sites added here.
 */
#include "plan/build.h"

#include <stdlib.h>
#include <string.h>

#include "util/fail.h"
#include "util/mem.h"

/* ---- the graph */

static int
by_addr(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

struct cfg *
fplan_cfg(struct build *build, const struct func_plan *fplan, bool rows)
{
	uint64_t *leaders = NULL;
	struct cfg *cfg;
	size_t n = 0;

	if (rows)
		plan_lines_leaders(build, fplan, &leaders, &n);
	if (n)
		qsort(leaders, n, sizeof(*leaders), by_addr);
	cfg = graph_make(build->graphs,
			 &(struct graph_wish){
				 .ranges = fplan->ranges,
				 .n = fplan->nranges,
				 .entry = fplan->entry,
				 .leaders = leaders,
				 .nleaders = n,
				 .external = build->mid_entered,
				 .nexternal = build->nmid_entered,
				 .calls_end = build->plan->wish.leaks,
			 });
	free(leaders);
	return cfg;
}

/* The blocks that end in a call that may not come back. */
static uint32_t *
leaks_find(const struct cfg *cfg, size_t *n)
{
	uint32_t *leaky = NULL;

	for (uint32_t b = 0; b + 1 < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];
		const struct insn *last =
			&cfg->insns[block->first + block->count - 1];

		/* Without a next block it leads to EXIT anyway. */
		if (insn_comes_back(last) &&
		    last[1].addr == last->addr + last->len)
			*vec_push(leaky, *n) = b;
	}
	return leaky;
}

void
fplan_flow_build(struct build *build, struct func_plan *fplan)
{
	uint32_t *leaky = NULL;
	size_t nleaky = 0;

	if (build->plan->wish.leaks)
		leaky = leaks_find(fplan->cfg, &nleaky);
	fplan->flow = flow_build(fplan->cfg, leaky, nleaky);
	free(leaky);
}

void
fplan_forget(struct func_plan *fplan)
{
	cfg_free(fplan->cfg);
	flow_free(fplan->flow);
	free(fplan->counts);
	fplan->cfg = NULL;
	fplan->flow = NULL;
	fplan->counts = NULL;
	fplan->looked = false;
}

void
fplan_ready(struct build *build, struct func_plan *fplan)
{
	struct plan *plan = build->plan;

	fplan->state = FPLAN_READY;
	if (fplan->site == SITE_NONE)
		return;
	plan->sites[fplan->site].waiting = false;
	*vec_push(plan->woken, plan->nwoken) = fplan->site;
}

/*
 * Line rows begin blocks only if some jumps are not resolved: so blocks depend
 * on whether there are line rows as rarely as possible.
 */
static void
fplan_flow(struct build *build, struct func_plan *fplan)
{
	bool nameless = fplan->func == FUNC_NONE;

	fplan_forget(fplan);
	fplan->cfg = fplan_cfg(build, fplan, nameless);
	if (fplan->cfg->unresolved && !nameless && build->image->nrows) {
		cfg_free(fplan->cfg);
		fplan->cfg = fplan_cfg(build, fplan, true);
	}
	fplan_flow_build(build, fplan);
}

void
fplan_graph(struct build *build, struct func_plan *fplan)
{
	do
		fplan_flow(build, fplan);
	while (calls_inside(build, fplan));
	if (!mid_entries_known(build, fplan))
		fplan->mid_entered = true;
}

void
fplan_parts(struct build *build, uint32_t index)
{
	const struct func_plan *fplan = &build->plan->fplans[index];
	const struct cfg *cfg = fplan->cfg;
	struct part *part = NULL;

	for (size_t i = 0; i < cfg->ninsns; i++) {
		uint64_t addr = cfg->insns[i].addr;
		uint64_t end = addr + cfg->insns[i].len;

		if (part && part->range.hi == addr) {
			part->range.hi = end;
			continue;
		}
		part = NULL;
		if (range_has(fplan->ranges, fplan->nranges, addr) ||
		    plan_func(build->plan, addr) != FPLAN_NONE)
			continue;
		part = vec_push(build->parts, build->nparts);
		*part = (struct part){ { addr, end }, index };
	}
}

/* ---- what is wanted of it */

uint32_t
plan_arc(const struct plan *plan, const struct flow *flow, uint32_t arc)
{
	if (plan->wish.method != PLACE_ONCE || arc >= flow->nedges ||
	    flow->edges[arc].to < FLOW_BLOCK)
		return arc;
	return arc_of_block(flow, flow->edges[arc].to);
}

/* The arcs of one function plan that are wanted. */
struct wants {
	const struct plan *plan;
	const struct flow *flow;
	bool *arcs;
};

static void
arc_want(void *ctx, uint32_t id, uint32_t arc, uint32_t insn)
{
	const struct wants *wants = ctx;

	wants->arcs[plan_arc(wants->plan, wants->flow, arc)] = true;
}

static void
blocks_want(const struct func_plan *fplan, bool *wanted)
{
	for (uint32_t v = FLOW_BLOCK; v < fplan->flow->nverts; v++)
		wanted[arc_of_block(fplan->flow, v)] = true;
}

/*
 * Want the arcs that count direct calls: blocks that call, or end in a jump out
 * of the function, and edges of branches that leave the function.
 */
static void
calls_want(const struct func_plan *fplan, bool *wanted)
{
	const struct cfg *cfg = fplan->cfg;
	const struct flow *flow = fplan->flow;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct insn *insn = &cfg->insns[cfg->blocks[b].first];
		bool calls = false;

		for (uint32_t i = 0; i < cfg->blocks[b].count; i++)
			calls |= insn[i].kind == INSN_CALL ||
				 (insn[i].kind == INSN_JUMP &&
				  cfg_insn(cfg, insn[i].target) < 0);
		if (calls)
			wanted[arc_of_block(flow, FLOW_BLOCK + b)] = true;
	}
	for (uint32_t e = 0; e < flow->nedges; e++)
		if (flow->edges[e].to == FLOW_EXIT &&
		    flow->edges[e].by == BY_TAKEN)
			wanted[e] = true;
}

/* The wanted arcs, owned by the caller; NULL if all arcs are wanted. */
static bool *
arcs_want(struct build *build, const struct func_plan *fplan)
{
	const struct flow *flow = fplan->flow;
	struct wants wants = { .plan = build->plan, .flow = flow };
	bool *wanted;

	if (fplan->units & 1U << UNIT_EDGE)
		return NULL;
	wants.arcs = wanted = mem_alloc(flow_arcs(flow));
	if (fplan->units & (1U << UNIT_BLOCK | 1U << UNIT_INSN))
		blocks_want(fplan, wanted);
	if (fplan->units & 1U << UNIT_CALL)
		calls_want(fplan, wanted);
	if (fplan->named && fplan->cfg->entry >= 0 && flow->nedges &&
	    flow->edges[0].from == FLOW_ROOT)
		arc_want(&wants, 0, 0, INSN_NONE);
	if (fplan_calls_alone(fplan))
		calls_want_ways(fplan, wanted);
	if (fplan->units & 1U << UNIT_LINE)
		plan_lines_emit(build, fplan, arc_want, &wants);
	if (fplan->units & 1U << UNIT_INLINE)
		plan_inlines_emit(build, fplan, arc_want, &wants);
	return wanted;
}

/* ---- sites */

struct addrs {
	uint64_t *addrs;
	size_t n;
};

bool
insn_calls_indirect(const struct insn *insn)
{
	return insn->kind == INSN_CALL_INDIRECT ||
	       (insn->kind == INSN_JUMP_INDIRECT && insn->flow != FLOW_TABLE);
}

/*
 * Count how often each call in the middle of a counted block came back, for
 * placements from which that is not derived.
 */
static void
passes_place(struct func_plan *fplan, struct addrs *addrs)
{
	const struct placement *placement = fplan->placement;
	const struct cfg *cfg = fplan->cfg;
	bool *counted = mem_alloc(flow_arcs(fplan->flow));

	for (uint32_t i = 0; i < placement->narcs; i++)
		counted[placement->arcs[i]] = true;
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];

		if (!counted[arc_of_block(fplan->flow, FLOW_BLOCK + b)])
			continue;
		for (uint32_t i = 1; i < block->count; i++) {
			uint32_t insn = block->first + i;

			if (!insn_comes_back(&cfg->insns[insn - 1]))
				continue;
			*vec_push(fplan->passes, fplan->npasses) =
				(struct pass){ .insn = insn };
			*vec_push(addrs->addrs, addrs->n) =
				cfg->insns[insn].addr;
		}
	}
	free(counted);
}

static void
targets_place(const struct func_plan *fplan, struct addrs *addrs)
{
	if (!(fplan->units & 1U << UNIT_CALL))
		return;
	for (size_t i = 0; i < fplan->cfg->ninsns; i++)
		if (insn_calls_indirect(&fplan->cfg->insns[i]) &&
		    cfg_proven(fplan->cfg, i))
			*vec_push(addrs->addrs, addrs->n) =
				fplan->cfg->insns[i].addr;
}

void
fplan_counter_ref(struct plan *plan, struct func_plan *fplan,
		  const struct term *term)
{
	struct site *site = plan_site(plan, term->addr);

	if (term->kind == TERM_TAKEN || term->kind == TERM_FALL)
		site->branch = true;
	if (term->kind == TERM_TARGET)
		site->targets = true;
	*vec_push(fplan->counter_refs,
		  fplan->ncounter_refs) = (struct counter_ref){
		.site = site - plan->sites,
		.kind = term->kind,
		.to = term->to,
	};
}

static void
passes_make(struct plan *plan, struct func_plan *fplan)
{
	const struct cfg *cfg = fplan->cfg;

	for (size_t i = 0; i < fplan->npasses; i++) {
		struct pass *pass = &fplan->passes[i];
		uint32_t block = cfg_block_of(cfg, pass->insn);
		uint32_t first = cfg->blocks[block].first;

		pass->site = plan_site(plan, cfg->insns[pass->insn].addr) -
			     plan->sites;
		pass->first = plan_site(plan, cfg->insns[first].addr) -
			      plan->sites;
	}
}

static void
counter_refs_make(struct build *build, struct func_plan *fplan)
{
	struct plan *plan = build->plan;
	struct term term;

	for (uint32_t i = 0; i < fplan->placement->narcs; i++) {
		must(arc_term(fplan->flow, fplan->cfg,
			      fplan->placement->arcs[i], &term));
		fplan_counter_ref(plan, fplan, &term);
	}
	passes_make(plan, fplan);
	for (size_t i = 0; i < fplan->cfg->ninsns; i++)
		if (fplan->units & 1U << UNIT_CALL &&
		    insn_calls_indirect(&fplan->cfg->insns[i]) &&
		    cfg_proven(fplan->cfg, i))
			plan_site(plan, fplan->cfg->insns[i].addr)->targets =
				true;
}

/* Give sites to jumps past a prefix, which could bypass a trap there. */
static void
skips_place(struct build *build, uint32_t index)
{
	const struct cfg *cfg = build->plan->fplans[index].cfg;

	for (size_t i = 0; i < cfg->ninsns; i++) {
		uint32_t site;

		if (!cfg->insns[i].skips || !cfg_proven(cfg, i))
			continue;
		site = build_site(build, cfg->insns[i].addr, index);
		build->plan->sites[site].idle = false;
		build->plan->sites[site].skips = true;
	}
}

static void
sites_place(struct build *build, uint32_t index)
{
	struct func_plan *fplan = &build->plan->fplans[index];
	struct addrs addrs = { 0 };
	struct term term;

	for (uint32_t i = 0; i < fplan->placement->narcs; i++) {
		must(arc_term(fplan->flow, fplan->cfg,
			      fplan->placement->arcs[i], &term));
		*vec_push(addrs.addrs, addrs.n) = term.addr;
	}
	if (build->plan->wish.method == PLACE_EVERY ||
	    build->plan->wish.method == PLACE_ONCE)
		passes_place(fplan, &addrs);
	targets_place(fplan, &addrs);
	if (fplan->site != SITE_NONE)
		build->plan->sites[fplan->site].idle = true;
	if (addrs.n)
		qsort(addrs.addrs, addrs.n, sizeof(*addrs.addrs), by_addr);
	for (size_t i = 0; i < addrs.n; i++) {
		uint32_t site = build_site(build, addrs.addrs[i], index);

		build->plan->sites[site].idle = false;
	}
	free(addrs.addrs);
	skips_place(build, index);
	counter_refs_make(build, fplan);
}

static void
counters_place(struct build *build, uint32_t index, size_t hooks)
{
	struct func_plan *fplan = &build->plan->fplans[index];
	bool *wanted = arcs_want(build, fplan);
	const struct plan_wish *plan_wish = &build->plan->wish;
	struct weights *weights = NULL;
	struct placement_wish wish = {
		.method = plan_wish->method, .wanted = wanted,
		.traps = true, .tables = true,
	};

	if (plan_wish->weigh)
		weights = plan_wish->weigh(plan_wish->ctx, build->plan, fplan);
	if (!weights)
		weights = weights_guess(fplan->flow, fplan->cfg);
	if (relocated_place_counters(build, index, wanted, weights, hooks)) {
		/* The relocated function counts. */
	} else if (fplan_calls_alone(fplan) || plan_wish->no_traps) {
		calls_place(build, index);
	} else {
		fplan->placement = placement_make(fplan->flow, weights, &wish);
		sites_place(build, index);
	}
	weights_free(weights);
	free(wanted);
}

/* ---- looking at functions and placing their counters */

/*
 * If instructions overlap a trap at one would change the other: then make the
 * function plan FPLAN_FAULTY, with nothing planted.
 */
static bool
fplan_overlaps(struct build *build, struct func_plan *fplan)
{
	if (!fplan->cfg->overlap)
		return false;
	if (fplan->site != SITE_NONE)
		build->plan->sites[fplan->site].idle = true;
	fplan_ready(build, fplan);
	fplan_forget(fplan);
	fplan->state = FPLAN_FAULTY;
	fplan->why = "its instructions overlap";
	return true;
}

/*
 * Make the graph and note its mid-entries into other functions, which must be
 * looked at, too.  If the graph was made before, note them again: more of it
 * may be reached now.
 */
static void
fplan_look(struct build *build, uint32_t index)
{
	struct plan *plan = build->plan;
	struct func_plan *fplan = &plan->fplans[index];

	if (fplan->state == FPLAN_READY && fplan->cfg && fplan->mid_entered)
		mid_entries_note(build, index);
	if (fplan->state != FPLAN_WAITING)
		return;
	/* A counter in a relocated function costs less than a trap. */
	if (fplan_calls_alone(fplan) &&
	    !(plan->wish.relocated && fplan->nranges && fplan->entry)) {
		fplan_ready(build, fplan);
		calls_place(build, index);
		return;
	}
	if (!fplan->cfg)
		fplan_graph(build, fplan);
	if (fplan_overlaps(build, fplan) || neighbours_enter(build, index))
		return;
	fplan->looked = true;
	fplan_parts(build, index);
	mid_entries_note(build, index);
	*vec_push(build->looked, build->nlooked) = index;
}

static void
fplan_place(struct build *build, uint32_t index)
{
	struct func_plan *fplan = &build->plan->fplans[index];
	size_t hooks = build->plan->nhooks;

	if (fplan->state != FPLAN_WAITING)
		return;
	fplan_ready(build, fplan);
	if (fplan->units & ~(1U << UNIT_FUNC) && !build->plan->wish.unhooked)
		fplan_hooks(build, fplan);
	counters_place(build, index, hooks);
	hooks_place(build, hooks);
}

bool
build_goes_on(struct build *build)
{
	if (build->progress && !build->stopped)
		build->stopped = !build->progress(build->arg);
	return !build->stopped;
}

/*
 * Make all graphs before placing any counter: one function may jump into the
 * middle of another.
 */
void
build_analyse(struct build *build)
{
	while (build->ntodo && build_goes_on(build))
		fplan_look(build, build->todo[--build->ntodo]);
	while (build->nlooked && build_goes_on(build))
		fplan_place(build, build->looked[--build->nlooked]);
}
