/*
 * Function plans that were counted elsewhere: makes their graphs as they were
 * then, and sites to which recorded arrivals refer.  Places no counters.
 */
#include "probe/restore.h"

#include "probe/build.h"

bool
plan_graph_as(struct plan *plan, uint32_t index, const uint64_t *leaders,
	      size_t nleaders, const uint64_t *external, size_t nexternal)
{
	struct build *build = plan->build;
	struct func_plan *fplan = &plan->fplans[index];

	if (!fplan->nranges || fplan->guest || fplan->state == FPLAN_FAULTY)
		return false;
	cfg_free(fplan->cfg);
	flow_free(fplan->flow);
	fplan->cfg = fplan_cfg_with(build, fplan,
				    (struct graph_input){
					    .leaders = leaders,
					    .nleaders = nleaders,
					    .external = external,
					    .nexternal = nexternal,
				    });
	fplan_flow_build(build, fplan);
	fplan_parts(build, index);
	return true;
}

void
plan_targets(struct plan *plan, uint32_t index)
{
	const struct cfg *cfg = plan->fplans[index].cfg;

	for (size_t i = 0; i < cfg->ninsns; i++) {
		uint32_t site;

		if (!insn_calls_indirect(&cfg->insns[i]))
			continue;
		site = build_site(plan->build, cfg->insns[i].addr, index);
		plan->sites[site].targets = true;
	}
}
