/*
 * Takes traps away while programs run: those that have counted once (--once)
 * until counts are reset, and those that cannot stay.
 */
#include "monitor/patch/lift.h"

#include <stdlib.h>

#include "monitor/patch/entry_sites.h"
#include "monitor/patch/extend.h"
#include "monitor/patch/spaces.h"
#include "monitor/process/space.h"
#include "util/mem.h"

static void
site_lift(struct run *run, struct module *module, uint32_t site)
{
	struct extension ext = extension_begin(run, module);

	spaces_edit(run, module, &(struct batch){ &site, 1 }, trap_remove);
	*vec_push(ext.retired, ext.nretired) = site;
	extension_log(run, ext);
}

void
plan_lift(struct run *run, struct plan *plan, uint32_t site)
{
	struct module **list;
	size_t n;

	/* The trap does more than count. */
	if (plan->sites[site].skips || plan->sites[site].hook)
		return;
	plan->sites[site].lifted = true;
	list = plan_modules(run, plan, &n);
	for (size_t i = 0; i < n; i++)
		site_lift(run, list[i], site);
	free(list);
}

/* The trap of a site is gone for good. */
static void
site_end(struct run *run, struct module *module, uint32_t site)
{
	module->patched[site].patch = PATCH_RETIRED;
	site_lift(run, module, site);
}

void
site_retire(struct run *run, struct space *space, struct module *module,
	    uint32_t i)
{
	struct site *site = &module->plan->sites[i];

	site->lost = true;
	site_unhooked(space, module, i);
	site_end(run, module, i);
}

void
plan_unhook(struct run *run, struct plan *plan, uint64_t addr)
{
	struct site *site = plan_site(plan, addr);
	uint32_t number = (uint32_t)(site - plan->sites);
	struct module **list;
	size_t n;

	/* It does more than stop at the hook. */
	if (site->fplan != FPLAN_NONE || site->waiting || site->skips)
		return;
	site->hook = 0;
	site->idle = true;
	list = plan_modules(run, plan, &n);
	for (size_t i = 0; i < n; i++)
		if (list[i]->patched[number].patch != PATCH_UNPLANTED &&
		    list[i]->patched[number].patch != PATCH_OWN)
			site_end(run, list[i], number);
	free(list);
}

/* ---- sites that were dropped */

/* Whether the site leads into a relocated function that was dropped. */
static bool
site_led(const struct plan *plan, const struct site *site)
{
	return site->leads && !site->hook && plan->fplans[site->fplan].lost &&
	       plan->fplans[site->fplan].dropped;
}

static void
module_dropped(struct run *run, struct module *module)
{
	struct extension ext = extension_begin(run, module);
	struct batch retired = { 0 };

	for (uint32_t i = 0; i < module->nsites; i++) {
		uint8_t *patch = &module->patched[i].patch;

		if (!module->plan->sites[i].lifted ||
		    *patch == PATCH_UNPLANTED || *patch == PATCH_OWN ||
		    *patch == PATCH_RETIRED)
			continue;
		*patch = PATCH_RETIRED;
		*vec_push(retired.sites, retired.n) = i;
	}
	batch_sort(module, &retired);
	spaces_edit(run, module, &retired, trap_remove);
	ext.retired = retired.sites;
	ext.nretired = retired.n;
	extension_log(run, ext);
}

void
plan_dropped(struct run *run, struct plan *plan)
{
	struct module **list;
	size_t n;

	for (size_t i = 0; i < plan->nsites; i++)
		plan->sites[i].lifted |= site_led(plan, &plan->sites[i]);
	plan_extended(run, plan);
	list = plan_modules(run, plan, &n);
	for (size_t i = 0; i < n; i++) {
		struct process *p = process_with(run->processes, list[i]);

		module_dropped(run, list[i]);
		for (; p; p = process_with(p->next, list[i]))
			space_unfollowed(run, p->space);
	}
	free(list);
}

/* ---- counting anew */

/*
 * Plant the sites again.  Modules that were planted while plan_lift had removed
 * these traps have no patches for them yet.
 */
static void
module_again(struct run *run, struct module *module, const struct batch *sites)
{
	struct extension ext = extension_begin(run, module);
	struct batch fresh = { 0 }, refused = { 0 };

	for (size_t i = 0; i < sites->n; i++) {
		uint32_t site = sites->sites[i];

		*vec_push(ext.planted, ext.nplanted) = site;
		if (module->patched[site].patch == PATCH_UNPLANTED)
			*vec_push(fresh.sites, fresh.n) = site;
	}
	spaces_choose(run, module, &fresh);
	ext.last = module->nslots;
	spaces_slots(run, module, ext.first, ext.last);
	entries_refused(module, &fresh, &refused);
	spaces_edit(run, module, &(struct batch){ ext.planted, ext.nplanted },
		    trap_write);
	free(fresh.sites);
	free(refused.sites);
	extension_log(run, ext);
}

void
plan_again(struct run *run, struct plan *plan)
{
	struct batch sites = { 0 };
	struct module **list;
	size_t n;

	for (size_t i = 0; i < plan->nsites; i++) {
		if (!plan->sites[i].lifted)
			continue;
		plan->sites[i].lifted = false;
		*vec_push(sites.sites, sites.n) = i;
	}
	list = plan_modules(run, plan, &n);
	for (size_t i = 0; i < n; i++) {
		batch_sort(list[i], &sites);
		module_again(run, list[i], &sites);
	}
	free(list);
	free(sites.sites);
}
