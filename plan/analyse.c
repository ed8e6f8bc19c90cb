/*
 * Looking at a function: makes its graph, finds out which arcs of it the
 * units asked for need, and places counters for them.  Knows nothing of
 * processes; the sites it adds are planted by the monitor.
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
body_cfg(struct build *build, const struct body *body, bool rows)
{
	uint64_t *leaders = NULL;
	struct cfg *cfg;
	size_t n = 0;

	if (rows)
		plan_lines_leaders(build, body, &leaders, &n);
	if (n)
		qsort(leaders, n, sizeof(*leaders), by_addr);
	cfg = graph_make(build->graphs, &(struct graph_wish){
		.ranges = body->ranges, .n = body->nranges,
		.entry = body->entry, .leaders = leaders, .nleaders = n,
		.external = build->intruded, .nexternal = build->nintruded,
		.calls_end = build->plan->wish.leaks,
	});
	free(leaders);
	return cfg;
}

/* Blocks that control may leave in a call, and not come back. */
static uint32_t *
leaks_find(const struct cfg *cfg, size_t *n)
{
	uint32_t *leaky = NULL;

	for (uint32_t b = 0; b + 1 < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];
		const struct insn *last =
			&cfg->insns[block->first + block->count - 1];

		/* Without a way on it leads to EXIT as it is. */
		if (insn_comes_back(last) &&
		    last[1].addr == last->addr + last->len)
			*vec_push(leaky, *n) = b;
	}
	return leaky;
}

void
body_flow_build(struct build *build, struct body *body)
{
	uint32_t *leaky = NULL;
	size_t nleaky = 0;

	if (build->plan->wish.leaks)
		leaky = leaks_find(body->cfg, &nleaky);
	body->flow = flow_build(body->cfg, leaky, nleaky);
	free(leaky);
}

void
body_forget(struct body *body)
{
	cfg_free(body->cfg);
	flow_free(body->flow);
	free(body->counts);
	body->cfg = NULL;
	body->flow = NULL;
	body->counts = NULL;
	body->looked = false;
}

void
body_ready(struct build *build, struct body *body)
{
	struct plan *plan = build->plan;

	body->state = BODY_READY;
	if (body->site == SITE_NONE)
		return;
	plan->sites[body->site].waiting = false;
	*vec_push(plan->settled, plan->nsettled) = body->site;
}

/*
 * Line rows begin blocks only where jumps are not known: so blocks do not
 * depend on whether there are lines, wherever that can be helped.
 */
static void
body_flow(struct build *build, struct body *body)
{
	bool nameless = body->func == FUNC_NONE;

	body_forget(body);
	body->cfg = body_cfg(build, body, nameless);
	if (body->cfg->unresolved && !nameless && build->image->nrows) {
		cfg_free(body->cfg);
		body->cfg = body_cfg(build, body, true);
	}
	body_flow_build(build, body);
}

void
body_graph(struct build *build, struct body *body)
{
	do
		body_flow(build, body);
	while (calls_inside(build, body));
	if (!intrusions_known(build, body))
		body->intruded = true;
}

/* Code that the function turned out to have outside its ranges is its. */
void
body_parts(struct build *build, uint32_t index)
{
	const struct body *body = &build->plan->bodies[index];
	const struct cfg *cfg = body->cfg;
	struct part *part = NULL;

	for (size_t i = 0; i < cfg->ninsns; i++) {
		uint64_t addr = cfg->insns[i].addr;
		uint64_t end = addr + cfg->insns[i].len;

		if (part && part->range.hi == addr) {
			part->range.hi = end;
			continue;
		}
		part = NULL;
		if (range_has(body->ranges, body->nranges, addr) ||
		    plan_body(build->plan, addr) != BODY_NONE)
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

/* What is wanted of one body. */
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
blocks_want(const struct body *body, bool *wanted)
{
	for (uint32_t v = FLOW_BLOCK; v < body->flow->nverts; v++)
		wanted[arc_of_block(body->flow, v)] = true;
}

/*
 * What direct calls are counted by: blocks that call, or end in a jump out of
 * the function, and edges of branches that lead there.
 */
static void
calls_want(const struct body *body, bool *wanted)
{
	const struct cfg *cfg = body->cfg;
	const struct flow *flow = body->flow;

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

/* Per arc, or NULL if all are; owned by the caller. */
static bool *
arcs_want(struct build *build, const struct body *body)
{
	const struct flow *flow = body->flow;
	struct wants wants = { .plan = build->plan, .flow = flow };
	bool *wanted;

	if (body->units & 1U << UNIT_EDGE)
		return NULL;
	wants.arcs = wanted = mem_alloc(flow_arcs(flow));
	if (body->units & (1U << UNIT_BLOCK | 1U << UNIT_INSN))
		blocks_want(body, wanted);
	if (body->units & 1U << UNIT_CALL)
		calls_want(body, wanted);
	if (body->named && body->cfg->entry >= 0 && flow->nedges &&
	    flow->edges[0].from == FLOW_ROOT)
		arc_want(&wants, 0, 0, INSN_NONE);
	if (body_calls_alone(body))
		calls_want_ways(body, wanted);
	if (body->units & 1U << UNIT_LINE)
		plan_lines_emit(build, body, arc_want, &wants);
	if (body->units & 1U << UNIT_INLINE)
		plan_inlines_emit(build, body, arc_want, &wants);
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
 * Without inference it is counted how often each call in the middle of a
 * block came back.
 */
static void
passes_place(struct body *body, struct addrs *addrs)
{
	const struct placement *placement = body->placement;
	const struct cfg *cfg = body->cfg;
	bool *counted = mem_alloc(flow_arcs(body->flow));

	for (uint32_t i = 0; i < placement->narcs; i++)
		counted[placement->arcs[i]] = true;
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];

		if (!counted[arc_of_block(body->flow, FLOW_BLOCK + b)])
			continue;
		for (uint32_t i = 1; i < block->count; i++) {
			uint32_t insn = block->first + i;

			if (!insn_comes_back(&cfg->insns[insn - 1]))
				continue;
			*vec_push(body->passes, body->npasses) =
				(struct pass){ .insn = insn };
			*vec_push(addrs->addrs, addrs->n) =
				cfg->insns[insn].addr;
		}
	}
	free(counted);
}

static void
targets_place(const struct body *body, struct addrs *addrs)
{
	if (!(body->units & 1U << UNIT_CALL))
		return;
	for (size_t i = 0; i < body->cfg->ninsns; i++)
		if (insn_calls_indirect(&body->cfg->insns[i]) &&
		    cfg_proven(body->cfg, i))
			*vec_push(addrs->addrs, addrs->n) =
				body->cfg->insns[i].addr;
}

void
body_gauge(struct plan *plan, struct body *body, const struct term *term)
{
	struct site *site = plan_site(plan, term->addr);

	if (term->kind == TERM_TAKEN || term->kind == TERM_FALL)
		site->branch = true;
	if (term->kind == TERM_TARGET)
		site->targets = true;
	*vec_push(body->gauges, body->ngauges) = (struct gauge){
		.site = site - plan->sites, .kind = term->kind,
		.to = term->to,
	};
}

static void
passes_make(struct plan *plan, struct body *body)
{
	const struct cfg *cfg = body->cfg;

	for (size_t i = 0; i < body->npasses; i++) {
		struct pass *pass = &body->passes[i];
		uint32_t block = cfg_block_of(cfg, pass->insn);
		uint32_t first = cfg->blocks[block].first;

		pass->site = plan_site(plan, cfg->insns[pass->insn].addr) -
			     plan->sites;
		pass->first = plan_site(plan, cfg->insns[first].addr) -
			      plan->sites;
	}
}

static void
gauges_make(struct build *build, struct body *body)
{
	struct plan *plan = build->plan;
	struct term term;

	for (uint32_t i = 0; i < body->placement->narcs; i++) {
		must(arc_term(body->flow, body->cfg, body->placement->arcs[i],
			      &term));
		body_gauge(plan, body, &term);
	}
	passes_make(plan, body);
	for (size_t i = 0; i < body->cfg->ninsns; i++)
		if (body->units & 1U << UNIT_CALL &&
		    insn_calls_indirect(&body->cfg->insns[i]) &&
		    cfg_proven(body->cfg, i))
			plan_site(plan, body->cfg->insns[i].addr)->targets =
				true;
}

/* What would go past a trap. */
static void
skips_place(struct build *build, uint32_t index)
{
	const struct cfg *cfg = build->plan->bodies[index].cfg;

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
	struct body *body = &build->plan->bodies[index];
	struct addrs addrs = { 0 };
	struct term term;

	for (uint32_t i = 0; i < body->placement->narcs; i++) {
		must(arc_term(body->flow, body->cfg,
			      body->placement->arcs[i], &term));
		*vec_push(addrs.addrs, addrs.n) = term.addr;
	}
	if (build->plan->wish.method == PLACE_EVERY ||
	    build->plan->wish.method == PLACE_ONCE)
		passes_place(body, &addrs);
	targets_place(body, &addrs);
	if (body->site != SITE_NONE)
		build->plan->sites[body->site].idle = true;
	if (addrs.n)
		qsort(addrs.addrs, addrs.n, sizeof(*addrs.addrs), by_addr);
	for (size_t i = 0; i < addrs.n; i++) {
		uint32_t site = build_site(build, addrs.addrs[i], index);

		build->plan->sites[site].idle = false;
	}
	free(addrs.addrs);
	skips_place(build, index);
	gauges_make(build, body);
}

static void
counters_place(struct build *build, uint32_t index, size_t hooks)
{
	struct body *body = &build->plan->bodies[index];
	bool *wanted = arcs_want(build, body);
	const struct plan_wish *plan_wish = &build->plan->wish;
	struct weights *weights = NULL;
	struct placement_wish wish = {
		.method = plan_wish->method, .wanted = wanted,
		.traps = true, .tables = true,
	};

	if (plan_wish->weigh)
		weights = plan_wish->weigh(plan_wish->ctx, build->plan, body);
	if (!weights)
		weights = weights_guess(body->flow, body->cfg);
	if (copy_place_counters(build, index, wanted, weights, hooks)) {
		/* All is done. */
	} else if (body_calls_alone(body) || plan_wish->no_traps) {
		calls_place(build, index);
	} else {
		body->placement = placement_make(body->flow, weights, &wish);
		sites_place(build, index);
	}
	weights_free(weights);
	free(wanted);
}

/* ---- */

/*
 * Where one instruction is in the middle of another a trap at the one would
 * change the other: nothing is planted.
 */
static bool
body_overlaps(struct build *build, struct body *body)
{
	if (!body->cfg->overlap)
		return false;
	if (body->site != SITE_NONE)
		build->plan->sites[body->site].idle = true;
	body_ready(build, body);
	body_forget(body);
	body->state = BODY_FAULTY;
	body->why = "its instructions overlap";
	return true;
}

/*
 * Make the graph, which may tell of others that must be looked at, too.  If
 * it was made before, it does once more: more of it may be reached now.
 */
static void
body_look(struct build *build, uint32_t index)
{
	struct plan *plan = build->plan;
	struct body *body = &plan->bodies[index];

	if (body->state == BODY_READY && body->cfg && body->intruded)
		intrusions_note(build, index);
	if (body->state != BODY_WAITING)
		return;
	/* One counter in a copy costs less than a trap. */
	if (body_calls_alone(body) &&
	    !(plan->wish.copies && body->nranges && body->entry)) {
		body_ready(build, body);
		calls_place(build, index);
		return;
	}
	if (!body->cfg)
		body_graph(build, body);
	if (body_overlaps(build, body) || neighbours_enter(build, index))
		return;
	body->looked = true;
	body_parts(build, index);
	intrusions_note(build, index);
	*vec_push(build->looked, build->nlooked) = index;
}

static void
body_place(struct build *build, uint32_t index)
{
	struct body *body = &build->plan->bodies[index];
	size_t hooks = build->plan->nhooks;

	if (body->state != BODY_WAITING)
		return;
	body_ready(build, body);
	if (body->units & ~(1U << UNIT_FUNC) && !build->plan->wish.unhooked)
		body_hooks(build, body);
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
 * All graphs are made before any counter is placed: one function may jump
 * into the middle of another.
 */
void
build_analyse(struct build *build)
{
	while (build->ntodo && build_goes_on(build))
		body_look(build, build->todo[--build->ntodo]);
	while (build->nlooked && build_goes_on(build))
		body_place(build, build->looked[--build->nlooked]);
}
