/*
 * Finds idle functions, see idle.h.  Never makes a graph.
 */
#include "probe/idle.h"

bool
fplan_never(const struct plan *plan, const struct func_plan *fplan)
{
	bool never = fplan->state == FPLAN_WAITING && !fplan->guest &&
		     !fplan->calls.n && !fplan->nabnormal_insns &&
		     !fplan->doubt;

	if (!plan_graphs(plan))
		never &= fplan->calls.state != COUNT_UNKNOWN;
	for (uint32_t i = 0;
	     never && fplan->counts && i < flow_arcs(fplan->flow); i++)
		never = fplan->counts[i].state != COUNT_UNKNOWN;
	return never;
}

bool
fplan_idle(const struct plan *plan, const struct func_plan *fplan)
{
	return fplan->units && !fplan->guest && fplan->nranges &&
	       fplan->state != FPLAN_FAULTY &&
	       (!fplan->cfg || fplan_never(plan, fplan));
}

struct idle
plan_idle(const struct plan *plan)
{
	struct idle idle = { 0 };

	for (size_t i = 0; i < plan->nfplans; i++) {
		const struct func_plan *fplan = &plan->fplans[i];

		if (!fplan_idle(plan, fplan))
			continue;
		idle.nfuncs++;
		for (size_t k = 0; k < fplan->nranges; k++)
			idle.size += fplan->ranges[k].hi - fplan->ranges[k].lo;
	}
	return idle;
}
