/*
 * Chooses which arcs get a counter, so that all wanted counts can be derived
 * and counting costs little.  Plants nothing.  Pure.  See
 * doc/theory/placement.md.
 */
#ifndef FLOW_PLACEMENT_H
#define FLOW_PLACEMENT_H

#include "flow/weights.h"

enum placement_method {
	PLACE_OPTIMAL, /* few and cheap counters, derive the rest */
	PLACE_VERTEX, /* the same with counters in blocks only */
	PLACE_EVERY, /* on all wanted arcs, where possible */
	PLACE_ONCE, /* like PLACE_EVERY; each counts once, then is removed */
};

/* The expected cost of a counter on an arc, in any unit. */
typedef double placement_cost(void *ctx, const struct flow *flow,
			      const struct weights *weights, uint32_t arc);

struct placement_input {
	enum placement_method method;
	const bool *wanted;	/* per arc; NULL: everything */
	bool traps;		/* an edge is counted by a trap on its branch,
				   which sees both ways at the price of one
				   (else edges are counted where they run) */
	bool tables;		/* edges of an indirect jump can be counted,
				   too; they are counted as a last resort */
	bool whole;		/* ... all of one jump that no block counts, or
				   none */
	bool ends;		/* wanted edges behind a block's last instruction
				   are counted there, although the block has the
				   same count: control may end in a call of the
				   block */
	placement_cost *cost;	/* NULL: expected events */
	void *ctx;
};

struct placement {
	uint32_t *arcs;		/* those with a counter; arcs of one site, and
				   edges of one indirect jump, follow one
				   another */
	uint32_t narcs;
	uint32_t nsites;
	double cost;		/* of all sites together */
};

/*
 * Place counters from which all wanted counts can be derived, with two
 * exceptions: edges that cannot be counted themselves (from ROOT into a loop,
 * leaks, without `tables` those of indirect jumps) and lie on a cycle of such
 * edges; and, with PLACE_VERTEX, edges that block counts do not determine.
 * The caller frees the result with placement_free.
 *
 * PLACE_OPTIMAL: the arcs left without a counter are a maximum spanning tree
 * (Knuth, TAOCP 1, 2.3.4.1; Ball & Larus 1994, section 3.2, Eprof(Ecnt)).
 * Then the counters from which no wanted count is derived are dropped: those
 * whose cycle in the tree has no wanted arc.  If blocks are wanted but not
 * edges, this removes at least as many counters as the heuristic of section
 * 3.3.3 for Vprof(Ecnt).  If not everything is wanted, the result is compared
 * with counters on wanted arcs only, and the cheaper of the two is taken.
 *
 * PLACE_VERTEX: Knuth & Stevenson, "Optimal Measurement Points for Program
 * Frequency Counts", BIT 13 (1973), Vprof(Vcnt): the same with all edges
 * contracted.
 *
 * With traps all counters of one branch are chosen together, greedily.  The
 * result is optimal but for that, and no single site of it can be left out.
 *
 * With `whole` the indirect jumps that have counters are chosen first, and then
 * the other counters, given these.  Edges of a jump are in ascending order.
 */
struct placement *placement_make(const struct flow *flow,
				 const struct weights *weights,
				 const struct placement_input *input);
void placement_free(struct placement *placement);

/*
 * How many events (traps or increments) the counters cost in a run with these
 * exact weights.  To be compared with the result for PLACE_EVERY.
 */
double placement_events(const struct flow *flow, const struct weights *exact,
			const struct placement *placement, bool traps);

#endif
