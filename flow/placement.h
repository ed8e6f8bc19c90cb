/*
 * The choice of what gets a counter, so that all that is wanted can be
 * derived and counting costs little.  Pure.
 */
#ifndef FLOW_PLACEMENT_H
#define FLOW_PLACEMENT_H

#include "flow/weights.h"

enum placement_method {
	PLACE_OPTIMAL, /* few and cheap counters, derive the rest */
	PLACE_VERTEX, /* the same with counters in blocks only */
	PLACE_EVERY, /* on all that is wanted, where possible */
	PLACE_ONCE, /* the same; each counts once and is taken away */
};

/* What a counter on an arc will cost, in any unit. */
typedef double placement_cost(void *ctx, const struct flow *flow,
			      const struct weights *weights, uint32_t arc);

struct placement_wish {
	enum placement_method method;
	const bool *wanted;	/* per arc; NULL: everything */
	bool traps;		/* an edge is counted by a trap on its branch,
				   which sees both ways for the price of one
				   (else edges are counted where they run) */
	bool tables;		/* edges of an indirect jump can be counted,
				   too, which is done if nothing else will */
	placement_cost *cost;	/* NULL: expected events */
	void *ctx;
};

struct placement {
	uint32_t *arcs;		/* that have a counter; those of one site
				   follow one another */
	uint32_t narcs;
	uint32_t nsites;
	double cost;		/* of all sites together */
};

/*
 * Place counters.  Whatever is wanted can be derived from them, but edges
 * that cannot be counted themselves (from ROOT into a loop, leaks, without
 * `tables` those of indirect jumps) and are on a cycle of such, and with
 * PLACE_VERTEX edges that block counts do not determine.
 *
 * PLACE_OPTIMAL: the arcs left without a counter are a maximum spanning tree
 * (Knuth, TAOCP 1, 2.3.4.1; Ball & Larus 1994, section 3.2, Eprof(Ecnt)).
 * Then counters are dropped that nothing wanted is derived from: those whose
 * cycle in the tree has no wanted arc.  If blocks are wanted but not edges,
 * this is the heuristic of section 3.3.3 for Vprof(Ecnt), and removes at
 * least what that does.  If not everything is wanted, this is compared with
 * counters on wanted arcs only, and the cheaper is taken.
 *
 * PLACE_VERTEX: Knuth & Stevenson, "Optimal Measurement Points for Program
 * Frequency Counts", BIT 13 (1973), Vprof(Vcnt): the same with all edges
 * contracted.
 *
 * With traps the counters of one branch are one choice, and greedy: optimal
 * but for that, and no single site can be left out.
 */
struct placement *placement_make(const struct flow *flow,
				 const struct weights *weights,
				 const struct placement_wish *wish);
void placement_free(struct placement *placement);

/*
 * The events that the counters cost in a run with these exact weights: what
 * to compare with the same of PLACE_EVERY.
 */
double placement_events(const struct flow *flow, const struct weights *exact,
			const struct placement *placement, bool traps);

#endif
