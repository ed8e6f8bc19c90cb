/*
 * Function plans that were counted elsewhere.
 */
#ifndef PROBE_RESTORE_H
#define PROBE_RESTORE_H

#include "probe/plan.h"

/*
 * Make the cfg and flow of a function plan that was counted elsewhere.  Both
 * arrays are ascending: `external` has the addresses to which control came from
 * outside, `leaders` the beginnings of blocks that the code does not show.
 * False if the function plan cannot have a graph.
 */
bool plan_graph_as(struct plan *plan, uint32_t fplan, const uint64_t *leaders,
		   size_t nleaders, const uint64_t *external, size_t nexternal);

/*
 * Give sites to the indirect calls of a function plan that was counted
 * elsewhere, so that recorded arrivals can refer to them.
 */
void plan_targets(struct plan *plan, uint32_t fplan);

#endif
