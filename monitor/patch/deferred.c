/*
 * Decides when the jumps at the entries of relocated functions are written.  A
 * jump is longer than the trap that waits at an entry, so all other tasks must
 * stand still while it is written, and a pause of six threads costs as much as
 * some thirty traps.  A trap can lead into the relocated function as well.  So
 * in a program of several tasks the trap stays at first, and the jumps of many
 * functions are written in one pause.  Until then no task is in the functions
 * but through their traps, so everything else can be written while others run.
 * A function without a jump at its entry needs no pause at all: its trap goes
 * when everything else is written.
 * In a program that ignores SIGTRAP each trap is mended in a pause of its own
 * (sigtrap.c), so there nothing is deferred.
 * Writes nothing itself: extend.c does.
 */
#include "monitor/patch/deferred.h"

#include "monitor/process/sigtrap.h"
#include "monitor/process/space.h"
#include "monitor/process/task.h"
#include "relocate/relocate.h"

enum {
	/* Jumps that are deferred at most. */
	DEFERRED_MAX = 64,
	/* Traps, at all deferred entries, that cost as much as a pause. */
	HITS_MAX = 32,
};

/* The tasks of the module's spaces. */
struct others {
	const struct module *module;
	bool run;		/* some run, and would have to be paused */
	bool minds;		/* what a trap does to SIGTRAP takes a pause */
};

static void
task_minds(struct run *run, struct task *task, void *ctx)
{
	struct others *others = ctx;
	const struct space *space = task->process ? task->process->space : NULL;
	bool has = false;

	(void)run;
	for (size_t i = 0; space && i < space->nmodules; i++)
		has |= space->modules[i] == others->module;
	if (!has)
		return;
	others->minds |= !sigtrap_lasts(task);
	others->run |= task->state == TASK_RUNNING && !task->vforking &&
		       !task->exiting;
}

/* Whether a patch that leads into the relocated function changes addr's byte. */
static bool
patches_cover(const struct relocated *relocated, uint64_t addr)
{
	for (uint32_t i = 0; i < relocated->nentry_patches; i++)
		if (addr - relocated->entry_patches[i].addr <
		    relocated->entry_patches[i].room)
			return true;
	return false;
}

/* Whether a call that may be redirected leads to the function's middle. */
static bool
middle_called(const struct func_plan *fplan)
{
	for (uint32_t i = 0; i < fplan->ncallers; i++)
		if (fplan->callers[i].target != fplan->relocated->entry)
			return true;
	return false;
}

/*
 * Whether control comes to the function by its entry alone, at which there is
 * a trap, and no patch of the function is a jump over another trap.  If no patch
 * is at the entry, control enters the original, and the trap is in the way of
 * none.  If the trap stays, the calls of the function are redirected at once,
 * and other tasks may be at these.
 */
static bool
fplan_guarded(const struct module *module, const struct func_plan *fplan)
{
	const struct relocated *relocated = fplan->relocated;
	const struct entry_patch *entry = relocated_entry(relocated);
	uint64_t addr;

	if (fplan->missed || fplan->mid_entered || fplan->came_back ||
	    fplan->lost || fplan->site >= module->nsites ||
	    module->patched[fplan->site].patch != PATCH_WAITING)
		return false;
	addr = module->plan->sites[fplan->site].addr;
	if (entry ? addr != entry->addr :
		    addr != relocated->entry || patches_cover(relocated, addr))
		return false;
	if ((entry && entry->via == VIA_TRAP && fplan->ncallers) ||
	    middle_called(fplan))
		return false;
	for (uint32_t i = 0; i < relocated->nentry_patches; i++)
		if (relocated->entry_patches[i].via == VIA_SPRING)
			return false;
	return true;
}

bool
deferral_pays(struct run *run, const struct module *module)
{
	const struct plan *plan = module->plan;
	struct others others = { .module = module };

	if (!run->host->native || run->opts->once || !module->relocated ||
	    module->nrelocated == plan->nrelocated || plan->nreverted ||
	    module->nreopened < plan->nreopened)
		return false;
	for (size_t i = module->nrelocated; i < plan->nrelocated; i++)
		if (!fplan_guarded(module,
				   &plan->fplans[plan->relocated_fplans[i]]))
			return false;
	task_each(run, task_minds, &others);
	return others.run && !others.minds;
}

bool
entry_deferred(const struct module *module, const struct func_plan *fplan)
{
	return fplan->site < module->nsites &&
	       module->patched[fplan->site].patch == PATCH_LEADS &&
	       !module->plan->sites[fplan->site].leads;
}

bool
deferred_hit(struct module *module, const struct site *site)
{
	if (site->leads)
		return false;
	return ++module->ndeferred_hits >= HITS_MAX;
}

bool
deferred_due(const struct module *module)
{
	const struct plan *plan = module->plan;

	for (size_t i = module->nundeferred; i < module->nrelocated; i++)
		if (plan->fplans[plan->relocated_fplans[i]].lost)
			return true;
	return module->nrelocated - module->nundeferred >= DEFERRED_MAX;
}
