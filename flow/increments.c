/*
 * Finds the increments of events.  Figure 4 of the paper adds up the events of
 * each chord's cycle in the tree; this file gives each node the sum of events
 * on its way in the tree, which is the paper's QueryInc, so that a chord's
 * increment is a difference of two of them.
 */
#include <stdlib.h>

#include "flow/increments.h"
#include "util/mem.h"
#include "util/sort.h"

/*
 * A node in a disjoint set (flow/sets.h), which is a part of the spanning tree.
 * Events from the node `to` to this one in the tree, against arcs subtracted.
 */
struct member {
	uint32_t to;
	uint64_t events;
};

struct arc {
	uint32_t arc;
	bool fixed;
	double weight;
};

/* The representative of a node's set; *events from there to the node. */
static uint32_t
member_find(struct member *members, uint32_t node, uint64_t *events)
{
	*events = 0;
	while (members[node].to != node) {
		struct member *to = &members[members[node].to];

		if (to->to != members[node].to) {
			members[node].events += to->events;
			members[node].to = to->to;
		}
		*events += members[node].events;
		node = members[node].to;
	}
	return node;
}

/* Fixed ones first, then those that run most. */
static int
arc_compare(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;

	if (x->fixed != y->fixed)
		return y->fixed - x->fixed;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->arc > y->arc) - (x->arc < y->arc);
}

static struct arc *
arcs_sorted(const struct flow *flow, const struct weights *weights,
	    const bool *fixed)
{
	uint32_t n = flow_arcs(flow);
	struct arc *arcs = mem_alloc((n + 1) * sizeof(*arcs));

	for (uint32_t i = 0; i < n; i++)
		arcs[i] = (struct arc){
			.arc = i,
			.fixed = fixed[i],
			.weight = weight_of_arc(flow, weights, i),
		};
	sort(arcs, n, sizeof(*arcs), arc_compare);
	return arcs;
}

/*
 * Join the nodes of an arc in the tree, or give it its increment: the events of
 * its cycle.
 */
static int
arc_take(const struct flow *flow, const struct arc *arc, uint64_t events,
	 struct member *members, struct increments *increments)
{
	uint64_t to_tail, to_head, more;
	uint32_t tail = member_find(members, arc_tail(flow, arc->arc),
				    &to_tail);
	uint32_t head = member_find(members, arc_head(flow, arc->arc),
				    &to_head);

	more = to_tail + events - to_head;
	if (tail != head)
		members[head] = (struct member){ tail, more };
	else if (arc->fixed && more)
		return fail("events are where nothing can be added");
	else
		increments->arcs[arc->arc] = more;
	return 0;
}

static void
nodes_take(const struct flow *flow, struct member *members,
	   struct increments *increments)
{
	uint64_t outside, events;
	uint32_t root = member_find(members, NODE_OUTSIDE, &outside);

	/* Nothing leads to nodes elsewhere. */
	for (uint32_t i = 0; i < flow_nodes(flow); i++)
		if (member_find(members, i, &events) == root)
			increments->nodes[i] = events - outside;
}

struct increments *
increments_make(const struct flow *flow, const struct weights *weights,
		const uint64_t *events, const bool *fixed)
{
	uint32_t narcs = flow_arcs(flow), nnodes = flow_nodes(flow);
	struct member *members = mem_alloc(nnodes * sizeof(*members));
	struct increments *increments = mem_alloc(sizeof(*increments));
	struct arc *arcs = arcs_sorted(flow, weights, fixed);
	int err = 0;

	increments->arcs = mem_alloc((narcs + 1) * sizeof(*increments->arcs));
	increments->nodes = mem_alloc(nnodes * sizeof(*increments->nodes));
	for (uint32_t i = 0; i < nnodes; i++)
		members[i].to = i;
	for (uint32_t i = 0; i < narcs && !err; i++)
		err = arc_take(flow, &arcs[i], events[arcs[i].arc], members,
			       increments);
	nodes_take(flow, members, increments);
	free(arcs);
	free(members);
	if (err) {
		increments_free(increments);
		return NULL;
	}
	return increments;
}

void
increments_free(struct increments *increments)
{
	if (!increments)
		return;
	free(increments->arcs);
	free(increments->nodes);
	free(increments);
}
