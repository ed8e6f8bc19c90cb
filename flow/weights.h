/*
 * How often each block and edge is expected to run, for choosing where
 * counters cost least.  Pure.
 */
#ifndef FLOW_WEIGHTS_H
#define FLOW_WEIGHTS_H

#include "flow/graph.h"

enum { LOOP_MULTIPLIER = 10 };

struct weights {
	double *edges;		/* per edge of the flow */
	double *verts;		/* per vertex: what leaves it */
};

/*
 * Guess from the graph alone, for one call: Ball & Larus 1994, section 5.  A
 * loop runs LOOP_MULTIPLIER times and is left over each of its exits equally
 * often, else all ways of a branch are equal.  Where the exits of a loop
 * would take more from a vertex than comes to it, they get only their equal
 * share; the paper leaves this open.  Other entries than the function's are
 * taken as rare, and leaks as never; and so, if the flow's cfg is given, are
 * ways that lead to nothing but calls that do not come back.
 */
struct weights *weights_guess(const struct flow *flow, const struct cfg *cfg);

/* Exactly these weights, one per edge of the flow, as were once counted. */
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
