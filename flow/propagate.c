/*
 * Derives counts by a depth-first search of the uncounted arcs.  The search
 * gives each tree arc the count that Kirchhoff's law leaves for it, last found
 * first; the other uncounted arcs count as zero, as the paper's set Break does.
 * So bridges, which are on no cycle, get their true count.  An open node has an
 * arc to the outside that is not in the flow: these arcs are numbered behind
 * the flow's own, and their counts do not matter.
 * Arithmetic is modulo 2^64: counts of arcs that are no bridges may come out as
 * any number.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/propagate.h"
#include "util/fail.h"
#include "util/mem.h"

struct tree {
	const struct flow *flow;
	struct count *counts;
	const bool *open;	/* per node, or NULL */
	uint32_t *ends;		/* nodes + 1: unknown arcs at a node are
				   arcs[ends[node]] .. */
	uint32_t *arcs;
	uint64_t *balance;	/* per node: known arrivals less departures */
	uint32_t *found;	/* per node: order found, from 1; 0: not yet */
	uint32_t *low;		/* per node: the earliest node reached from it
				   or below without its tree arc */
	uint32_t *via;		/* per node: its tree arc */
	uint32_t *stack, *cursor;
	uint32_t depth, nfound;
	uint32_t bad;		/* an arc with a contradiction, or ARC_NONE */
	bool negative;
};

static uint32_t
tree_tail(const struct tree *tree, uint32_t arc)
{
	uint32_t narcs = flow_arcs(tree->flow);

	return arc < narcs ? arc_tail(tree->flow, arc) : arc - narcs;
}

static uint32_t
tree_head(const struct tree *tree, uint32_t arc)
{
	return arc < flow_arcs(tree->flow) ? arc_head(tree->flow, arc) :
					     NODE_OUTSIDE;
}

/* The node at the other end of an arc. */
static uint32_t
arc_other(const struct tree *tree, uint32_t arc, uint32_t node)
{
	return tree_tail(tree, arc) ^ tree_head(tree, arc) ^ node;
}

/* Whether the arc is in the graph of uncounted arcs. */
static bool
arc_unknown(const struct tree *tree, uint32_t arc)
{
	uint32_t narcs = flow_arcs(tree->flow);

	if (arc >= narcs)
		return tree->open && arc > narcs && tree->open[arc - narcs];
	return tree->counts[arc].state == COUNT_UNKNOWN &&
	       arc != tree->flow->back;
}

/* Collect the unknown arcs at each node. */
static void
ends_make(struct tree *tree)
{
	uint32_t n = flow_nodes(tree->flow), arc;
	uint32_t narcs = flow_arcs(tree->flow) + n;
	uint32_t *ends = mem_alloc((n + 2) * sizeof(*ends));

	for (arc = 0; arc < narcs; arc++) {
		if (!arc_unknown(tree, arc))
			continue;
		ends[tree_tail(tree, arc) + 2]++;
		ends[tree_head(tree, arc) + 2]++;
	}
	for (uint32_t i = 0; i < n; i++)
		ends[i + 2] += ends[i + 1];
	tree->arcs = mem_alloc((ends[n + 1] + 1) * sizeof(*tree->arcs));
	for (arc = 0; arc < narcs; arc++) {
		if (!arc_unknown(tree, arc))
			continue;
		tree->arcs[ends[tree_tail(tree, arc) + 1]++] = arc;
		tree->arcs[ends[tree_head(tree, arc) + 1]++] = arc;
	}
	tree->ends = ends;
}

static void
tree_open(struct tree *tree, uint32_t node, uint32_t via)
{
	tree->found[node] = tree->low[node] = ++tree->nfound;
	tree->via[node] = via;
	tree->cursor[node] = tree->ends[node];
	tree->stack[tree->depth++] = node;
}

/* All below node is done: its tree arc gets the count that balances node. */
static void
tree_close(struct tree *tree, uint32_t node)
{
	uint32_t arc = tree->via[node], parent;
	uint64_t n = tree->balance[node];
	struct count *count;

	if (arc == ARC_NONE) {
		if (n && tree->bad == ARC_NONE)
			tree->bad = node == NODE_OUTSIDE ?
					    tree->flow->back :
					    tree->flow->nedges + (node - 1) / 2;
		return;
	}
	parent = arc_other(tree, arc, node);
	tree->balance[parent] += n;
	if (tree->low[node] < tree->low[parent])
		tree->low[parent] = tree->low[node];
	if (tree->low[node] < tree->found[node] || arc >= flow_arcs(tree->flow))
		return;
	count = &tree->counts[arc];
	count->n = arc_tail(tree->flow, arc) == node ? n : -n;
	count->state = COUNT_DERIVED;
	if (count->n >> 63 && tree->bad == ARC_NONE &&
	    !(arc < tree->flow->nedges &&
	      tree->flow->edges[arc].by == BY_LEAK)) {
		tree->bad = arc;
		tree->negative = true;
	}
}

static void
tree_search(struct tree *tree, uint32_t root)
{
	tree_open(tree, root, ARC_NONE);
	while (tree->depth) {
		uint32_t node = tree->stack[tree->depth - 1], arc, other;

		if (tree->cursor[node] == tree->ends[node + 1]) {
			tree->depth--;
			tree_close(tree, node);
			continue;
		}
		arc = tree->arcs[tree->cursor[node]++];
		if (arc == tree->via[node])
			continue;
		other = arc_other(tree, arc, node);
		if (!tree->found[other])
			tree_open(tree, other, arc);
		else if (tree->found[other] < tree->low[node])
			tree->low[node] = tree->found[other];
	}
}

/* Derive all unknown counts that the known ones and balance determine. */
static void
tree_propagate(struct tree *tree)
{
	uint32_t n = flow_nodes(tree->flow);

	ends_make(tree);
	tree->found = mem_alloc(n * sizeof(*tree->found));
	tree->low = mem_alloc(n * sizeof(*tree->low));
	tree->via = mem_alloc(n * sizeof(*tree->via));
	tree->stack = mem_alloc(n * sizeof(*tree->stack));
	tree->cursor = mem_alloc(n * sizeof(*tree->cursor));
	for (uint32_t node = 0; node < n; node++)
		if (!tree->found[node])
			tree_search(tree, node);
	free(tree->ends);
	free(tree->arcs);
	free(tree->found);
	free(tree->low);
	free(tree->via);
	free(tree->stack);
	free(tree->cursor);
}

/*
 * Give the reason to all unknown arcs that would be determined if no counter of
 * the placement were lost, and control had come and left unreported at the
 * nodes in `open` only.
 */
static void
reasons_find(const struct flow *flow, const struct placement *placement,
	     const bool *open, enum count_reason reason, struct count *counts)
{
	uint32_t narcs = flow_arcs(flow);
	struct tree tree = { .flow = flow, .open = open, .bad = ARC_NONE };

	tree.counts = mem_alloc(narcs * sizeof(*tree.counts));
	tree.balance = mem_alloc(flow_nodes(flow) * sizeof(*tree.balance));
	for (uint32_t i = 0; i < placement->narcs; i++)
		tree.counts[placement->arcs[i]].state = COUNT_EXACT;
	tree_propagate(&tree);
	for (uint32_t arc = 0; arc < narcs; arc++)
		if (counts[arc].state == COUNT_UNKNOWN &&
		    tree.counts[arc].state != COUNT_UNKNOWN)
			counts[arc].reason = (uint8_t)reason;
	free(tree.counts);
	free(tree.balance);
}

static void
extra_add(struct tree *tree, const struct flow_extra *extra)
{
	uint32_t vert = FLOW_BLOCK + extra->block, node = node_before(vert);
	uint64_t n = extra->n;

	must(vert < tree->flow->nverts);
	if (extra->how == LEFT_BEHIND || extra->how == CAME_BEHIND)
		node = node_behind(vert);
	if (extra->how == LEFT_BEFORE || extra->how == LEFT_BEHIND)
		n = -n;
	tree->balance[node] += n;
	tree->balance[NODE_OUTSIDE] -= n;
}

/* Enter the measured counts and abnormal edges into counts and balance. */
static void
known_add(struct tree *tree, const struct placement *placement,
	  const struct measured *measured)
{
	for (uint32_t i = 0; i < placement->narcs; i++) {
		uint32_t arc = placement->arcs[i];
		uint64_t n = measured->counters[i];

		if (measured->lost && measured->lost[i])
			continue;
		tree->counts[arc] = (struct count){ n, COUNT_EXACT };
		tree->balance[arc_tail(tree->flow, arc)] -= n;
		tree->balance[arc_head(tree->flow, arc)] += n;
	}
	for (size_t i = 0; i < measured->nextras; i++)
		extra_add(tree, &measured->extras[i]);
}

/* Count EXIT -> ROOT: how often control came in, over edges or not. */
static void
back_count(const struct flow *flow, const struct measured *measured,
	   struct count *counts)
{
	struct count sum = { .state = COUNT_DERIVED };

	if (measured->open) {
		counts[flow->back] = (struct count){
			.reason = measured->doubt
		};
		return;
	}
	for (uint32_t e = flow->out[FLOW_ROOT]; e < flow->out[FLOW_ROOT + 1];
	     e++) {
		sum.n += counts[e].n;
		if (counts[e].state == COUNT_UNKNOWN) {
			counts[flow->back] = counts[e];
			return;
		}
	}
	for (size_t i = 0; i < measured->nextras; i++)
		if (measured->extras[i].how == CAME_BEFORE ||
		    measured->extras[i].how == CAME_BEHIND)
			sum.n += measured->extras[i].n;
	counts[flow->back] = sum;
}

static bool
any_lost(const struct placement *placement, const struct measured *measured)
{
	for (uint32_t i = 0; measured->lost && i < placement->narcs; i++)
		if (measured->lost[i])
			return true;
	return false;
}

/* Set reasons of unknown counts, and COUNT_EXACT for edges with a carrier. */
static void
states_finish(const struct flow *flow, const struct placement *placement,
	      const struct measured *measured, struct count *counts)
{
	for (uint32_t arc = 0; arc < flow_arcs(flow); arc++)
		if (counts[arc].state == COUNT_UNKNOWN)
			counts[arc].reason = REASON_UNPLACED;
	if (measured->open && measured->doubt != REASON_UNPLACED)
		reasons_find(flow, placement, NULL, measured->doubt, counts);
	if (any_lost(placement, measured))
		reasons_find(flow, placement, measured->open, REASON_LOST,
			     counts);
	for (uint32_t e = 0; e < flow->nedges; e++) {
		uint32_t carrier = edge_carrier(flow, e);

		if (carrier != ARC_NONE &&
		    counts[carrier].state == COUNT_EXACT &&
		    counts[e].state == COUNT_DERIVED)
			counts[e].state = COUNT_EXACT;
	}
}

enum propagated
propagate(const struct flow *flow, const struct placement *placement,
	  const struct measured *measured, struct count *counts, uint32_t *bad)
{
	struct tree tree = {
		.flow = flow,
		.counts = counts,
		.open = measured->open,
		.bad = ARC_NONE,
	};

	memset(counts, 0, flow_arcs(flow) * sizeof(*counts));
	tree.balance = mem_alloc(flow_nodes(flow) * sizeof(*tree.balance));
	known_add(&tree, placement, measured);
	tree_propagate(&tree);
	free(tree.balance);
	if (tree.bad != ARC_NONE) {
		if (bad)
			*bad = tree.bad;
		return tree.negative ? FLOW_NEGATIVE : FLOW_INCONSISTENT;
	}
	states_finish(flow, placement, measured, counts);
	back_count(flow, measured, counts);
	return FLOW_CONSISTENT;
}
