/*
 * The loops of a flow graph and how they nest.  Pure.
 */
#ifndef FLOW_LOOPS_H
#define FLOW_LOOPS_H

#include "flow/graph.h"

static const uint32_t LOOP_NONE = UINT32_MAX;

/* Loops nested deeper than this are part of the loop at this depth. */
enum { LOOP_DEPTH_MAX = 32 };

/* A loop is named by its header. */
struct loops {
	uint32_t *order;	/* the vertices reached from ROOT, each before
				   its successors, back edges aside */
	uint32_t norder;
	bool *back;		/* per edge: leads to an ancestor in the
				   depth-first search; never set for
				   EXIT -> ROOT */
	uint32_t *inner;	/* per vertex: the innermost loop around it
				   (a header is in its own) or LOOP_NONE */
	uint32_t *outer;	/* per header: the loop around its own */
	uint8_t *depth;		/* per vertex: how many loops it is in */
	bool *irreducible;	/* per header: its loop has another entry */
};

/*
 * Find the loops, also of irreducible graphs: Havlak, "Nesting of Reducible
 * and Irreducible Loops", TOPLAS 19(4) 1997, as made near linear by
 * Ramalingam, "Identifying Loops in Almost Linear Time", TOPLAS 21(2) 1999,
 * section 5.  In a reducible graph a loop is the union of the natural loops
 * of its header's back edges.  The caller frees the result with loops_free.
 */
struct loops *loops_find(const struct flow *flow);
void loops_free(struct loops *loops);

/* The outermost loop that an edge leaves, or LOOP_NONE. */
uint32_t loop_left(const struct flow *flow, const struct loops *loops,
		   uint32_t edge);

#endif
