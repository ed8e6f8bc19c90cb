/*
 * Which sites at functions' entries get a trap and which lose theirs when a
 * module is extended.  Writes no text: monitor/patch/extend.c does.
 */
#include "monitor/patch/entry_sites.h"

#include "monitor/patch/deferred.h"
#include "relocate/relocate.h"
#include "util/mem.h"

struct batch
entries_choose(struct run *run, struct module *module,
	       const struct batch *entries, bool defers)
{
	const struct plan *plan = module->plan;
	struct batch retired = { 0 };

	for (size_t i = 0; i < entries->n; i++) {
		uint32_t site = entries->sites[i];
		const struct relocated *relocated;

		if (module->patched[site].patch != PATCH_WAITING)
			continue;
		if (!plan->sites[site].idle) {
			patched_choose(run, module, site);
			continue;
		}
		relocated = plan->fplans[plan->sites[site].fplan].relocated;
		if (defers && relocated && relocated_entry(relocated)) {
			module->patched[site].patch = PATCH_LEADS;
			continue;
		}
		module->patched[site].patch = PATCH_RETIRED;
		*vec_push(retired.sites, retired.n) = site;
	}
	return retired;
}

/*
 * Whether the entry has no trap of pmon's and needs one now.  A trap instruction
 * of the program's own, at which it waited, may have to lead into a relocated
 * function.
 */
static bool
entry_bare(const struct module *module, uint32_t site)
{
	if (module->plan->sites[site].lifted)
		return false;
	switch ((enum patch)module->patched[site].patch) {
	case PATCH_RETIRED:
	case PATCH_UNPLANTED:
		return !module->plan->sites[site].idle;
	case PATCH_OWN:
		return module->plan->sites[site].leads;
	default:
		return false;
	}
}

void
entries_revive(const struct module *module, const struct batch *entries,
	       size_t nsites, struct batch *fresh)
{
	for (size_t i = 0; i < entries->n; i++) {
		uint32_t site = entries->sites[i];

		if (site < nsites && entry_bare(module, site))
			*vec_push(fresh->sites, fresh->n) = site;
	}
	batch_sort(module, fresh);
}

void
entries_refused(struct module *module, const struct batch *entries,
		struct batch *retired)
{
	for (size_t i = 0; i < entries->n; i++) {
		struct patched *patched = &module->patched[entries->sites[i]];

		if (patched->patch != PATCH_UNPLANTED ||
		    module->plan->sites[entries->sites[i]].idle ||
		    module->plan->sites[entries->sites[i]].leads)
			continue;
		patched->patch = PATCH_RETIRED;
		*vec_push(retired->sites, retired->n) = entries->sites[i];
	}
	batch_sort(module, retired);
}

struct batch
entries_undeferred(struct module *module)
{
	const struct plan *plan = module->plan;
	struct batch retired = { 0 };

	for (size_t i = module->nundeferred; i < module->nrelocated; i++) {
		const struct func_plan *fplan =
			&plan->fplans[plan->relocated_fplans[i]];

		if (!entry_deferred(module, fplan))
			continue;
		module->patched[fplan->site].patch = PATCH_RETIRED;
		*vec_push(retired.sites, retired.n) = fplan->site;
	}
	batch_sort(module, &retired);
	return retired;
}
