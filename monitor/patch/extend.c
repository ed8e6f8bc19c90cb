/*
 * Changes what is planted in modules while programs run.  New sites are planted
 * in every space that has the module.  A function's sites are planted before
 * the trap at its entry is removed, so that no task can slip in between.
 */
#include "monitor/patch/extend.h"

#include <stdlib.h>

#include "monitor/patch/deferred.h"
#include "monitor/patch/entry_sites.h"
#include "monitor/patch/extensions.h"
#include "monitor/patch/module.h"
#include "monitor/patch/relocated.h"
#include "monitor/patch/slots.h"
#include "monitor/patch/spaces.h"
#include "monitor/patch/watch.h"
#include "monitor/process/events.h"
#include "monitor/process/space.h"
#include "monitor/process/task.h"
#include "monitor/process/thread_pages.h"
#include "util/mem.h"

static void
spaces_relocated(struct run *run, const struct module *module,
		 struct span which, relocated_edit *fn)
{
	if (which.first >= which.last)
		return;
	for (struct process *p = process_with(run->processes, module); p;
	     p = process_with(p->next, module))
		relocated_each(run, p->space, p->pid, module, which, fn);
}

static void
space_abandon(struct run *run, struct space *space, pid_t tid,
	      const struct module *module, struct span which)
{
	const struct plan *plan = module->plan;
	struct lost lost = { 0 };

	for (size_t k = which.first; k < which.last; k++) {
		uint32_t index = plan->relocated_fplans[k];

		if (plan->fplans[index].lost)
			relocated_revert(run, space, tid, module, index);
		lost_note(plan, &lost, index);
	}
	lost_end(run, space, tid, module, &lost);
}

/*
 * Lead nothing into these relocated functions any more, in any space, if they
 * were lost in one.  All tasks stand still.
 */
static void
spaces_abandon(struct run *run, const struct module *module, struct span which)
{
	const struct plan *plan = module->plan;

	if (which.last > plan->nrelocated)
		which.last = plan->nrelocated;
	for (struct process *p = process_with(run->processes, module); p;
	     p = process_with(p->next, module))
		space_abandon(run, p->space, p->pid, module, which);
}

/* Write the guards between the counters of relocated functions. */
static void
spaces_guard(struct run *run, struct module *module)
{
	for (struct process *p = process_with(run->processes, module); p;
	     p = process_with(p->next, module))
		thread_pages_guard(p->space, module);
	module->nguards = module->plan->nguards;
}

/* Undo the jumps at entry patches that are traps from now on. */
static void
spaces_reopen(struct run *run, struct module *module)
{
	const struct plan *plan = module->plan;

	for (struct process *p = process_with(run->processes, module);
	     p && module->nreopened < plan->nreopened;
	     p = process_with(p->next, module))
		for (size_t k = module->nreopened; k < plan->nreopened; k++)
			relocated_reopen(run, p->space, p->pid, module,
					 plan->reopened[k]);
	module->nreopened = plan->nreopened;
}

/*
 * Lead no task into reverted relocated functions any more; tasks that are in
 * them may finish.
 */
static void
spaces_revert(struct run *run, const struct module *module)
{
	const struct plan *plan = module->plan;

	for (struct process *p = process_with(run->processes, module);
	     p && plan->nreverted; p = process_with(p->next, module))
		for (size_t k = 0; k < plan->nreverted; k++)
			relocated_revert(run, p->space, p->pid, module,
					 plan->reverted[k]);
}

/*
 * Write the jumps that were deferred.  All tasks stand still: a jump is longer
 * than a trap, and is written where a task may just arrive.  No task is further
 * inside those functions yet.
 */
static void
jumps_undefer(struct run *run, struct module *module)
{
	struct batch retired = entries_undeferred(module);
	struct extension ext;
	const struct span deferred = { module->nundeferred,
				       module->nrelocated };

	if (retired.n) {
		spaces_relocated(run, module, deferred, relocated_enable);
		spaces_abandon(run, module, deferred);
		spaces_edit(run, module, &retired, trap_remove);
		ext = extension_begin(run, module);
		ext.retired = retired.sites;
		ext.nretired = retired.n;
		ext.relocated_first = module->nundeferred;
		extension_log(run, ext);
	}
	module->nundeferred = module->nrelocated;
	module->ndeferred_hits = 0;
}

void
module_undefer(struct run *run, struct module *module)
{
	spaces_pause(run, module);
	jumps_undefer(run, module);
}

void
space_undefer(struct run *run, const struct space *space)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (space->modules[i]->nundeferred <
		    space->modules[i]->nrelocated)
			module_undefer(run, space->modules[i]);
}

static void
module_extend(struct run *run, struct module *module,
	      const struct batch *entries)
{
	struct batch fresh = batch_make(module, module->nsites);
	size_t slots = module->nslots, nsites = module->nsites;
	bool defers = deferral_pays(run, module);
	bool undefers = !defers &&
			(module->nrelocated < module->plan->nrelocated ||
			 module->nreopened < module->plan->nreopened ||
			 module->plan->nreverted);
	const struct span new = { module->nrelocated,
				  module->plan->nrelocated };
	struct batch retired;

	if (undefers)
		module_undefer(run, module);
	spaces_reopen(run, module);
	spaces_relocated(run, module, new, relocated_code);
	module_grow(module);
	entries_revive(module, entries, nsites, &fresh);
	retired = entries_choose(run, module, entries, defers);
	spaces_choose(run, module, &fresh);
	spaces_slots(run, module, slots, module->nslots);
	entries_refused(module, entries, &retired);
	spaces_edit(run, module, &fresh, trap_write);
	if (module->nguards < module->plan->nguards)
		spaces_guard(run, module);
	spaces_relocated(run, module, new, relocated_enable);
	/* Now tasks may come in that run. */
	spaces_edit(run, module, &retired, trap_remove);
	if (undefers)
		spaces_abandon(run, module, new);
	spaces_revert(run, module);
	extension_log(run, (struct extension){
				   .number = run->extended++,
				   .module = module,
				   .first = slots,
				   .last = module->nslots,
				   .planted = fresh.sites,
				   .nplanted = fresh.n,
				   .retired = retired.sites,
				   .nretired = retired.n,
				   .relocated_first = module->nrelocated,
				   .relocated_end = module->plan->nrelocated,
			   });
	module->nrelocated = module->plan->nrelocated;
	if (undefers)
		module->nundeferred = module->nrelocated;
	else if (deferred_due(module))
		module_undefer(run, module);
}

void
plan_extended(struct run *run, struct plan *plan)
{
	struct batch entries = { .sites = plan->woken, .n = plan->nwoken };
	struct module **list;
	size_t n;

	list = plan_modules(run, plan, &n);
	for (size_t i = 0; i < n; i++) {
		batch_sort(list[i], &entries);
		module_extend(run, list[i], &entries);
	}
	free(list);
	plan->nwoken = 0;
	plan->nreverted = 0;
	watch_extended(run, plan);
}

void
module_filter_again(struct run *run, struct module *module, uint32_t site,
		    size_t kept)
{
	size_t first = module->patched[site].slot, last = first, new;
	struct extension ext = extension_begin(run, module);

	while (last < module->nslots && module->slot_site[last] == site)
		last++;
	new = first + kept / SLOT_MAX;
	spaces_pause(run, module);
	for (struct process *p = process_with(run->processes, module); p;
	     p = process_with(p->next, module)) {
		struct task *task = space_task(run, p->space);

		/* Only if what is new is there anything leads to it. */
		if (task &&
		    slots_write(run, p->space, task->tid, module, new, last))
			slots_write(run, p->space, task->tid, module, first,
				    new);
	}
	ext.first = first;
	ext.last = last;
	extension_log(run, ext);
}

/* ---- traps that cannot be removed */

void
site_stuck(struct run *run, struct module *module, uint32_t site)
{
	struct extension ext;
	size_t slots = module->nslots;

	/* It may have to be done while all others stand still. */
	if (module->patched[site].patch != PATCH_SLOTTED)
		patched_force(run, module, site);
	if (slots == module->nslots)
		return;
	spaces_slots(run, module, slots, module->nslots);
	ext = extension_begin(run, module);
	ext.first = slots;
	extension_log(run, ext);
}
