/*
 * Bodies that were counted elsewhere: their graphs as they were then, and
 * places for what was recorded of calls.  Places no counters.
 */
#include "plan/build.h"

bool
plan_graph_as(struct plan *plan, uint32_t index, const uint64_t *leaders,
	      size_t nleaders, const uint64_t *external, size_t nexternal)
{
	struct build *build = plan->build;
	struct body *body = &plan->bodies[index];

	if (!body->nranges || body->guest || body->state == BODY_FAULTY)
		return false;
	cfg_free(body->cfg);
	flow_free(body->flow);
	body->cfg = graph_make(build->graphs, &(struct graph_wish){
		.ranges = body->ranges, .n = body->nranges,
		.entry = body->entry, .leaders = leaders, .nleaders = nleaders,
		.external = external, .nexternal = nexternal,
		.calls_end = plan->wish.leaks,
	});
	body_flow_build(build, body);
	body_parts(build, index);
	return true;
}

void
plan_targets(struct plan *plan, uint32_t index)
{
	const struct cfg *cfg = plan->bodies[index].cfg;

	for (size_t i = 0; i < cfg->ninsns; i++) {
		uint32_t site;

		if (!insn_calls_indirect(&cfg->insns[i]))
			continue;
		site = build_site(plan->build, cfg->insns[i].addr, index);
		plan->sites[site].targets = true;
	}
}
