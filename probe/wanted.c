/*
 * Finds the arcs and instructions of a function plan whose counts the units
 * asked for need.  Chooses no counters.
 */
#include "probe/build.h"

#include <stdlib.h>

#include "util/mem.h"

uint32_t
plan_arc(const struct plan *plan, const struct flow *flow, uint32_t arc)
{
	if (plan->options.method != PLACE_ONCE || arc >= flow->nedges ||
	    flow->edges[arc].to < FLOW_BLOCK)
		return arc;
	return arc_of_block(flow, flow->edges[arc].to);
}

bool
fplan_calls_alone(const struct func_plan *fplan)
{
	return fplan->func != FUNC_NONE &&
	       (!fplan->nranges || !(fplan->units & ~(1U << UNIT_FUNC)));
}

bool
insn_calls_indirect(const struct insn *insn)
{
	return insn->kind == INSN_CALL_INDIRECT ||
	       (insn->kind == INSN_JUMP_INDIRECT && insn->flow != FLOW_TABLE);
}

/*
 * The arc that counts an edge exactly even if control may end in a call; or
 * ARC_NONE.
 */
static uint32_t
way_arc(const struct func_plan *fplan, uint32_t e)
{
	const struct flow *flow = fplan->flow;
	const struct flow_edge *edge = &flow->edges[e];
	const struct block *block;

	if (edge->by != BY_LAST && edge->by != BY_TAKEN && edge->by != BY_FALL)
		return ARC_NONE;
	if (flow->out[edge->from + 1] - flow->out[edge->from] != 1)
		return e;
	block = &fplan->cfg->blocks[edge->from - FLOW_BLOCK];
	for (uint32_t i = 0; i < block->count; i++)
		if (insn_comes_back(&fplan->cfg->insns[block->first + i]))
			return edge->by == BY_LAST ? e : ARC_NONE;
	return arc_of_block(flow, edge->from);
}

bool
calls_want_ways(const struct func_plan *fplan, bool *wanted)
{
	const struct flow *flow = fplan->flow;
	uint32_t v;

	if (!flow->nedges || flow->edges[0].from != FLOW_ROOT)
		return false;
	v = flow->edges[0].to;
	if (wanted)
		wanted[arc_of_block(flow, v)] = true;
	for (uint32_t i = flow->in[v]; i < flow->in[v + 1]; i++) {
		uint32_t e = flow->ins[i], arc = e ? way_arc(fplan, e) : e;

		if (arc == ARC_NONE)
			return false;
		if (wanted)
			wanted[arc] = true;
	}
	return true;
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

bool *
arcs_want(struct build *build, const struct func_plan *fplan)
{
	const struct flow *flow = fplan->flow;
	struct wants wants = { .plan = build->plan, .flow = flow };
	struct unit_code code = fplan_code(fplan);
	bool *wanted;

	if (fplan->units & 1U << UNIT_EDGE && !build->plan->options.bare)
		return NULL;
	wants.arcs = wanted = mem_alloc(flow_arcs(flow));
	if (fplan->named && fplan->cfg->entry >= 0 && flow->nedges &&
	    flow->edges[0].from == FLOW_ROOT)
		arc_want(&wants, 0, 0, INSN_NONE);
	if (fplan_calls_alone(fplan))
		calls_want_ways(fplan, wanted);
	if (build->plan->options.bare)
		return wanted;
	if (fplan->units & (1U << UNIT_BLOCK | 1U << UNIT_INSN))
		blocks_want(fplan, wanted);
	if (fplan->units & 1U << UNIT_CALL)
		calls_want(fplan, wanted);
	if (fplan->units & 1U << UNIT_LINE)
		unit_lines_emit(build->table, &code, arc_want, &wants);
	if (fplan->units & 1U << UNIT_INLINE)
		unit_inlines_emit(build->table, &code, arc_want, &wants);
	return wanted;
}
