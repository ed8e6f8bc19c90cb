/*
 * Doubts: which of Kirchhoff's equations hold of a function plan if not all is
 * known of how control left it or came to it.
 * A counter is right whatever control did.  What fails is the law: of the nodes
 * before and behind a block's first instruction (flow/graph.h) it says that
 * what came is what left, and control that came or left unreported breaks it.
 * Where that may have been, the node is open: it has one more term, that nobody
 * knows.  The equations of all others hold, and nothing is derived but by those
 * (propagate), so what is said to be known is the same in every execution that
 * would have counted the same.
 *
 * - If a stack could not be walked to its end, frames further out were left,
 *   or come to, unreported.  Each is in a call or a system call, so behind the
 *   first instruction of its block; the innermost frame is told of even then.
 *   Where a longjmp leads is behind a call, too; landing pads are entered over
 *   edges.  A call behind which there is a counter is none of these.
 * - A function that a signal interrupted may be among those frames, wherever
 *   the signal came, also just before a block or where it is entered.  With
 *   leaks that is said always: code of no function has no hooks, and its
 *   longjmp is not seen.
 * - If it is not known where a thread ended, or what jumps into the function's
 *   middle, that may be anywhere.
 * If counting began while a stack was not known, functions that were not looked
 * at by then may have run on uncounted: what control can come to from an open
 * node is unknown there though it has a counter.  So is what it can come to
 * from where it comes from outside, but for the entry, which had its trap: by a
 * jump that is not resolved, or from another such function.
 */
#include "plan/propagation.h"

#include <stdlib.h>

#include "util/mem.h"

enum count_reason
doubt_of_stacks(const struct propagation *s, const struct func_plan *fplan)
{
	bool stacks;

	if (s->plan->underivable)
		return s->plan->underivable_reason ?
			       s->plan->underivable_reason :
			       REASON_UNDERIVABLE;
	stacks = !s->plan->calls_underivable && !s->plan->wish.no_traps;
	if (fplan->interrupted && (!stacks || s->plan->wish.unhooked ||
				   (s->plan->wish.leaks &&
				    plan_infers(s->plan))))
		return REASON_SIGNAL;
	if (stacks)
		return REASON_NONE;
	if (s->plan->wish.no_traps)
		return REASON_NO_TRAPS;
	return s->plan->calls_reason ? s->plan->calls_reason : REASON_STACK;
}

enum count_reason
doubt_of(const struct propagation *s, const struct func_plan *fplan)
{
	/* For calls alone stacks are not looked at. */
	if (fplan->relocated && !(fplan->units & ~(1U << UNIT_FUNC)))
		return REASON_UNPLACED;
	return fplan->mid_entered ? REASON_MID_ENTRY :
				    doubt_of_stacks(s, fplan);
}

/* Does the graph itself say that control may leave the block in a call? */
static bool
block_leaks(const struct flow *flow, uint32_t v)
{
	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++)
		if (flow->edges[e].by == BY_LEAK)
			return true;
	return false;
}

bool *
doubt_open(const struct propagation *s, struct func_plan *fplan)
{
	const struct flow *flow = fplan->flow;
	bool any = false, *open, anywhere;

	fplan->doubt = (uint8_t)doubt_of(s, fplan);
	if (!fplan->doubt)
		return NULL;
	open = mem_alloc(flow_nodes(flow) * sizeof(*open));
	anywhere = reason_anywhere(fplan->doubt);
	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++) {
		const struct block *block = &fplan->cfg->blocks[v - FLOW_BLOCK];
		/* What may have run uncounted may have come back so. */
		bool leaks = block_leaks(flow, v) && !fplan->missed;

		open[node_before(v)] = anywhere;
		open[node_behind(v)] = anywhere || (!leaks &&
			!calls_measured(fplan, block->first,
					block->first + block->count));
		any |= open[node_behind(v)];
	}
	if (any)
		return open;
	fplan->doubt = REASON_NONE;
	free(open);
	return NULL;
}

/* Only at the entry control does not come from outside unseen. */
static bool
vert_enters(const struct func_plan *fplan, uint32_t vert)
{
	return fplan->cfg->blocks[vert - FLOW_BLOCK].first == fplan->cfg->entry;
}

bool *
doubt_reach(const struct propagation *s, const struct func_plan *fplan,
	    const bool *open)
{
	const struct flow *flow = fplan->flow;
	bool *arcs, *nodes, changed = true;

	if (!fplan->missed || doubt_of(s, fplan) == REASON_NONE)
		return NULL;
	arcs = mem_alloc(flow_arcs(flow) * sizeof(*arcs));
	nodes = mem_alloc(flow_nodes(flow) * sizeof(*nodes));
	for (uint32_t i = 1; open && i < flow_nodes(flow); i++)
		nodes[i] = open[i];
	for (uint32_t e = flow->out[FLOW_ROOT]; e < flow->out[FLOW_ROOT + 1];
	     e++)
		if (!vert_enters(fplan, flow->edges[e].to))
			arcs[e] = nodes[node_before(flow->edges[e].to)] = true;
	while (changed) {
		changed = false;
		for (uint32_t arc = 0; arc < flow_arcs(flow); arc++) {
			uint32_t head = arc_head(flow, arc);

			if (arcs[arc] || !nodes[arc_tail(flow, arc)])
				continue;
			arcs[arc] = changed = true;
			nodes[head] = head != NODE_OUTSIDE;
		}
	}
	free(nodes);
	return arcs;
}
