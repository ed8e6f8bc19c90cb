/*
 * Event counting: one counter, to which a few arcs of each function's flow graph
 * add constants, so that it shows how many events have happened.  An event has a
 * number of times that it happens at each arc (Ball, "Efficiently Counting
 * Program Events with Support for On-line Queries", TOPLAS 16(5) 1994).  Pure.
 *
 * All numbers are modulo 2^64.
 */
#ifndef FLOW_INCREMENTS_H
#define FLOW_INCREMENTS_H

#include "flow/weights.h"
#include "util/fail.h"

struct increments {
	uint64_t *arcs;		/* per arc: what it adds; 0: nothing */
	uint64_t *nodes;	/* per node: what to add to the counter there,
				   that it shows all events on the way from
				   NODE_OUTSIDE; the paper's QueryInc */
};

/*
 * Find what arcs add if an arc has so many events, and those that are `fixed`
 * add nothing.  Arcs that add something are chords of a spanning tree that has
 * all fixed arcs, and is maximal by the weights.  The counter is exact outside
 * the function.  NULL with the message set: fixed arcs form a cycle that has
 * events.  The caller frees the result with increments_free.
 */
struct increments *increments_make(const struct flow *flow,
				   const struct weights *weights,
				   const uint64_t *events,
				   const bool *fixed) MUST_CHECK;
void increments_free(struct increments *increments);

#endif
