/*
 * Adds patterns to the filters of stack switches, in all spaces.  Decides
 * neither which switches are alike nor what they enter.
 */
#include "monitor/patch/switches.h"

#include "monitor/patch/extend.h"
#include "monitor/process/space.h"

/*
 * The module whose counters can count switches with these edges: that of all
 * edges, in which each thread has its own; or NULL.
 */
static struct module *
counting_module(const struct space *space, const struct switch_edges *edges)
{
	for (size_t i = 0; i < space->nmodules; i++) {
		struct module *module = space->modules[i];
		const struct plan *plan = module->plan;

		if ((!edges->n || edges->plan == plan) && module->relocated &&
		    !module->shared.bytes && plan->nslots &&
		    plan->nslots < region_fits(&module->counters, SIZE_MAX))
			return module;
	}
	return NULL;
}

bool
switch_count(struct run *run, const struct task *task, struct module *module,
	     struct switch_site *sw, struct switch_pattern *pattern,
	     struct switch_edges *edges)
{
	struct module *to = counting_module(task->process->space, edges);
	uint64_t va = module->slots +
		      (uint64_t)module->patched[sw->site].slot * SLOT_MAX;
	size_t kept = sw->filter.len;

	if (!to)
		return false;
	pattern->counter = (uint32_t)(to->counters.offset +
				      8 * (uint64_t)to->plan->nslots);
	sw->patterns[sw->n++] = *pattern;
	if (switch_make(module, sw, va)) {
		sw->n--;
		if (switch_make(module, sw, va))
			module->switches_off = true;
		return false;
	}
	plan_switch(to->plan, edges->edges, edges->n);
	edges->edges = NULL;
	module_filter_again(run, module, sw->site, kept);
	return true;
}
