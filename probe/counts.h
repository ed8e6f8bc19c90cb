/*
 * Propagation: the counts of a plan's blocks and edges, from what was measured.
 */
#ifndef PROBE_COUNTS_H
#define PROBE_COUNTS_H

#include "probe/plan.h"

/*
 * Derive the counts of all function plans from the counter set, or from all
 * counter sets together (NULL).  If the plan has graphs, function plans that
 * wait get theirs now; their counts are 0 or, if in doubt, unknown.
 */
void plan_propagate(struct plan *plan, const struct counter_set *counter_set);

/*
 * The same, but function plans that wait get no graph and no counts, unless
 * their counts may not be 0.
 */
void plan_propagate_entered(struct plan *plan,
			    const struct counter_set *counter_set);

/* Why a count is unknown, as a static string; NULL if it is known. */
const char *count_why(const struct count *count);

#endif
