/*
 * Idle functions: those that never ran, or of which nothing is known.  To say
 * how many blocks, edges or instructions they have is all that their graphs are
 * good for.
 */
#ifndef PROBE_IDLE_H
#define PROBE_IDLE_H

#include "probe/plan.h"

/* Idle functions, and the size of their code in bytes. */
struct idle {
	size_t nfuncs;
	uint64_t size;
};

/*
 * Whether a function was never entered and all its counts are known to be 0.
 * Propagation has made the graph of a function whose counts may be unknown.
 */
bool fplan_never(const struct plan *plan, const struct func_plan *fplan);

/*
 * Whether the function of a propagated plan, or of a restored one, is idle: it
 * was never entered, or its calls are not known and it has no graph.
 */
bool fplan_idle(const struct plan *plan, const struct func_plan *fplan);

/* All idle functions of such a plan. */
struct idle plan_idle(const struct plan *plan);

#endif
