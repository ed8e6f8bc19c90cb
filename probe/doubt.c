/*
 * Doubts: finds which of Kirchhoff's equations hold for a function plan if it
 * is not fully known how control left the function or came to it.
 * A counter is right whatever control did.  The law can fail: for the nodes
 * before and behind a block's first instruction (flow/graph.h) it says that
 * control came as often as it left, and control that came or left unreported
 * breaks it.  A node where that may have happened is open: its equation has one
 * more term, which nobody knows.  Counts are derived only from the equations of
 * the other nodes (propagate), so a count that is said to be known is the same
 * in every execution with the same counters.
 *
 * - If a stack could not be walked to its end, control may have left, or come
 *   to, frames further out unreported.  Each of these frames is in a call or a
 *   system call, so behind the first instruction of its block; the innermost
 *   frame is reported even then.  A longjmp leads to a place behind a call,
 *   too; landing pads are entered over edges.  Calls that have a counter behind
 *   them open no node.
 * - A function that a signal interrupted may be among those frames, with
 *   control at any instruction, also just before a block or at the entry.  With
 *   leaks this is always assumed, because a longjmp in code that belongs to no
 *   function has no hook and is not seen.
 * - If a call came back that was taken not to, control may have come behind it,
 *   and to all code that no flow is known to lead to.
 * - If it is not known where a thread ended, or what jumps into the function's
 *   middle, every node is open.
 *
 * If counting began while a stack was not known, functions that had not been
 * looked at by then may have run on uncounted: arcs that control can reach from
 * an open node are unknown there even if they have a counter.  So are arcs that
 * it can reach from other places where it comes from outside, by an unresolved
 * jump or from another such function; but not from the entry, which had its
 * trap.
 */
#include "probe/came_back.h"

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
	stacks = !s->plan->calls_underivable && !s->plan->options.no_traps;
	if (fplan->interrupted &&
	    (!stacks || s->plan->options.unhooked ||
	     (s->plan->options.leaks && plan_infers(s->plan))))
		return REASON_SIGNAL;
	if (stacks)
		return REASON_NONE;
	if (s->plan->options.no_traps)
		return REASON_NO_TRAPS;
	return s->plan->calls_reason ? s->plan->calls_reason : REASON_STACK;
}

enum count_reason
doubt_of(const struct propagation *s, const struct func_plan *fplan)
{
	enum count_reason stacks;

	/* No stacks are walked for functions whose calls alone count. */
	if (fplan->relocated && !(fplan->units & ~(1U << UNIT_FUNC)))
		return REASON_UNPLACED;
	stacks = doubt_of_stacks(s, fplan);
	/* Together they leave no node closed. */
	if (fplan->mid_entered || (fplan->came_back && stacks != REASON_NONE))
		return REASON_MID_ENTRY;
	return fplan->came_back ? REASON_CAME_BACK : stacks;
}

/* Whether the graph has an edge for control that leaves the block in a call. */
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
	if (fplan->doubt == REASON_CAME_BACK) {
		came_back_open(fplan, open);
		return open;
	}
	anywhere = reason_anywhere(fplan->doubt);
	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++) {
		const struct block *block = &fplan->cfg->blocks[v - FLOW_BLOCK];
		/* A missed function may have come back uncounted. */
		bool leaks = block_leaks(flow, v) && !fplan->missed;

		open[node_before(v)] = anywhere;
		open[node_behind(v)] = anywhere ||
				       (!leaks &&
					!calls_measured(fplan, block->first,
							block->first +
								block->count));
		any |= open[node_behind(v)];
	}
	if (any)
		return open;
	fplan->doubt = REASON_NONE;
	free(open);
	return NULL;
}

/* Whether the vertex is the entry: control cannot enter there unseen. */
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
