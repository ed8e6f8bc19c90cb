/*
 * How often each block and edge is expected to run.  Placement uses this to
 * choose where counters cost least.  Pure.
 */
#ifndef FLOW_WEIGHTS_H
#define FLOW_WEIGHTS_H

#include "flow/graph.h"

enum { LOOP_MULTIPLIER = 10 };

struct weights {
	double *edges;		/* per edge of the flow */
	double *verts;		/* per vertex: the sum of the edges out of it */
};

/*
 * Guess the weights for one call from the graph alone: Ball & Larus 1994,
 * section 5.  A loop runs LOOP_MULTIPLIER times and is left over each of its
 * exits equally often; otherwise all ways of a branch are equally likely.  If
 * the exits of a loop would take more from a vertex than comes to it, they get
 * only their equal share; the paper leaves this open.  Entries other than the
 * function's are rare, leaks never happen, and, if the flow's cfg is given,
 * ways that lead only to calls that do not come back are rare.  The caller
 * frees the weights with weights_free.
 */
struct weights *weights_guess(const struct flow *flow, const struct cfg *cfg);

/* Make weights from counts of a former run, one per edge of the flow. */
struct weights *weights_exact(const struct flow *flow, const double *edges);
void weights_free(struct weights *weights);

/* The weight of an edge's or a block's arc. */
static inline double
weight_of_arc(const struct flow *flow, const struct weights *weights,
	      uint32_t arc)
{
	return arc < flow->nedges ? weights->edges[arc] :
				    weights->verts[arc_block(flow, arc)];
}

#endif
