/*
 * Which sites at functions' entries get a trap and which lose theirs when a
 * module is extended.  Writes no text: monitor/patch/extend.c does.
 */
#include "monitor/patch/entry_sites.h"

#include "monitor/patch/deferred.h"
#include "relocate/relocate.h"
#include "util/mem.h"

/*
 * Whether the entry waited with a trap of pmon's, or with one of the program's
 * own that is to lead into a relocated function now.
 */
static bool
entry_waited(const struct module *module, uint32_t site)
{
	uint8_t patch = module->patched[site].patch;

	return patch == PATCH_WAITING ||
	       (patch == PATCH_OWN && module->plan->sites[site].leads);
}

struct batch
entries_choose(struct run *run, struct module *module,
	       const struct batch *entries, bool defers)
{
	const struct plan *plan = module->plan;
	struct batch retired = { 0 };

	for (size_t i = 0; i < entries->n; i++) {
		uint32_t site = entries->sites[i];
		const struct relocated *relocated;

		if (!entry_waited(module, site))
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

void
entries_revive(const struct module *module, const struct batch *entries,
	       size_t nsites, struct batch *fresh)
{
	for (size_t i = 0; i < entries->n; i++) {
		uint32_t site = entries->sites[i];
		uint8_t patch = module->patched[site].patch;

		if (site < nsites && !module->plan->sites[site].idle &&
		    (patch == PATCH_RETIRED || patch == PATCH_UNPLANTED))
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
