/*
 * Calls that come back although the graph says that they do not.  A function
 * that never returns may do so after all if control comes to code of it to
 * which no known flow leads.  Then nobody knows how often control came behind
 * calls of it, nor what ran there.
 */
#include "probe/came_back.h"

#include "probe/build.h"
#include "relocate/relocate.h"

bool
vert_unled(const struct func_plan *fplan, uint32_t vert)
{
	return fplan->flow->in[vert] == fplan->flow->in[vert + 1];
}

/* The function may return whatever its code shows. */
static void
fplan_strays(struct plan *plan, uint32_t index)
{
	struct func_plan *fplan = &plan->fplans[index];

	if (!fplan->strayed)
		graphs_return(plan->build->graphs, fplan->ranges,
			      fplan->nranges);
	plan->strayed = true;
	fplan->strayed = true;
	fplan->came_back = true;
}

void
came_back_note(struct plan *plan, uint32_t index, long insn)
{
	const struct func_plan *fplan = &plan->fplans[index];
	uint32_t vert;

	if (fplan->partial)
		return;
	if (insn >= 0) {
		vert = FLOW_BLOCK + cfg_block_of(fplan->cfg, (size_t)insn);
		if (!vert_unled(fplan, vert))
			return;
	}
	fplan_strays(plan, index);
}

void
plan_came(struct plan *plan, uint64_t addr)
{
	uint32_t index = plan_func(plan, addr);

	if (index != FPLAN_NONE && plan_graphs(plan) && plan_graph(plan, index))
		came_back_note(plan, index,
			       cfg_insn(plan->fplans[index].cfg, addr));
}

/* Whether the call was taken not to come back, and may do so after all. */
static bool
call_came_back(const struct build *build, const struct insn *insn)
{
	return insn->flow == FLOW_NO_RETURN && !insn->pushes &&
	       !insn->reenters && graphs_comes_back(build->graphs, insn);
}

/*
 * Whether a handler may have led control on behind an instruction of the
 * function that stops, where pmon does not see what handlers return to.
 */
static bool
fplan_may_stray(const struct propagation *s, uint32_t index)
{
	const struct func_plan *fplan = &s->plan->fplans[index];

	if (!fplan->interrupted || fplan->strayed || !plan_graphs(s->plan) ||
	    (s->plan->options.method != PLACE_ONCE &&
	     doubt_of_stacks(s, fplan) != REASON_SIGNAL) ||
	    !plan_graph(s->plan, index))
		return false;
	for (size_t i = 0; i < fplan->cfg->ninsns; i++)
		if (fplan->cfg->insns[i].kind == INSN_STOP)
			return true;
	return false;
}

void
came_back_spread(const struct propagation *s)
{
	struct plan *plan = s->plan;

	for (uint32_t i = 0; i < plan->nfplans; i++)
		if (fplan_may_stray(s, i))
			fplan_strays(plan, i);
	for (size_t i = 0; i < plan->nfplans && plan->strayed; i++) {
		struct func_plan *fplan = &plan->fplans[i];
		const struct cfg *cfg = fplan->cfg;

		for (size_t k = 0; cfg && k < cfg->ninsns; k++)
			fplan->came_back |= !fplan->came_back &&
					    call_came_back(plan->build,
							   &cfg->insns[k]);
	}
}

/* Mark all nodes. */
static void
nodes_open(const struct flow *flow, bool *open)
{
	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++)
		open[node_before(v)] = open[node_behind(v)] = true;
}

/* Whether a guard counts what comes to the block from code in place. */
static bool
vert_guarded(const struct func_plan *fplan, uint32_t vert)
{
	const struct block *block = &fplan->cfg->blocks[vert - FLOW_BLOCK];
	const struct entry_patch *patch;

	if (!fplan->relocated)
		return false;
	patch = relocated_entry_patch(fplan->relocated,
				      fplan->cfg->insns[block->first].addr);
	return patch && patch->kind == ENTRY_PATCH_GUARD;
}

/* Mark the node before the block, which control may have come to unseen. */
static void
vert_open(const struct func_plan *fplan, uint32_t vert, bool *open)
{
	if (!vert_guarded(fplan, vert))
		open[node_before(vert)] = true;
}

void
came_back_open(const struct func_plan *fplan, bool *open)
{
	const struct flow *flow = fplan->flow;
	const struct cfg *cfg = fplan->cfg;

	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++) {
		const struct block *block = &cfg->blocks[v - FLOW_BLOCK];
		const struct insn *last =
			&cfg->insns[block->first + block->count - 1];

		/* Control comes behind the call, perhaps to a known block. */
		if (last->flow == FLOW_NO_RETURN && v + 1 < flow->nverts)
			vert_open(fplan, v + 1, open);
		if (!vert_unled(fplan, v))
			continue;
		open[node_before(v)] = open[node_behind(v)] = true;
		if (last->kind == INSN_JUMP_INDIRECT)
			nodes_open(flow, open);
	}
	for (size_t i = 0; i < cfg->nedges; i++)
		if (vert_unled(fplan, FLOW_BLOCK + cfg->edges[i].from))
			vert_open(fplan, FLOW_BLOCK + cfg->edges[i].to, open);
}
