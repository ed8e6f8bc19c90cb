/*
 * Whether a module gets relocated functions: maps their memory or, if that
 * cannot be done or must not, has its functions counted by traps.
 */
#include "monitor/patch/refuse.h"

#include "monitor/patch/extend.h"
#include "monitor/patch/relocated.h"
#include "monitor/patch/springs.h"
#include "monitor/process/shared.h"
#include "monitor/process/shared_page.h"
#include "monitor/process/thread_memory.h"
#include "monitor/process/thread_pages.h"
#include "util/fail.h"
#include "util/mem.h"

/*
 * If no task can have been in a relocated function of the plan, remove them all
 * and plan those functions again without; whether that was done.
 */
static bool
relocated_withdraw(struct run *run, struct plan *plan)
{
	if ((run->started && plan->planted) || plan->options.no_traps)
		return false;
	for (struct process *p = run->processes; p; p = p->next)
		for (size_t i = 0; p->space && i < p->space->nmodules; i++)
			if (p->space->modules[i]->plan == plan)
				relocated_remove(run, p->space, p->pid,
						 p->space->modules[i]);
	plan_relocation_withdraw(plan);
	plan_extended(run, plan);
	return true;
}

void
relocated_refuse(struct run *run, struct plan *plan, const char *why)
{
	if (!plan->options.relocated)
		return;
	plan_relocation_refuse(plan, why);
	run_remark(run, "%s: %s: %s", plan->image->path,
		   run->opts->no_traps ? "not counted" : "counted by traps",
		   why);
	if (relocated_withdraw(run, plan))
		return;
	for (size_t i = 0; i < plan->nrelocated; i++) {
		struct func_plan *fplan =
			&plan->fplans[plan->relocated_fplans[i]];

		if (fplan->lost)
			continue;
		fplan->lost = true;
		*vec_push(plan->reverted,
			  plan->nreverted) = plan->relocated_fplans[i];
	}
	if (plan->nreverted)
		plan_extended(run, plan);
}

/* Count no stack switches in the program: their filters use the register. */
static void
switches_refuse(struct run *run, const struct space *space)
{
	for (size_t m = 0; m < space->nmodules; m++) {
		struct module *module = space->modules[m];

		if (module->switches_off)
			continue;
		module->switches_off = true;
		for (size_t k = 0; k < module->nswitches; k++)
			module_filter_again(run, module,
					    module->switches[k]->site, 0);
		for (size_t k = 0; k < module->nentries; k++)
			module_filter_again(run, module,
					    module->entries[k]->site, 0);
	}
}

void
relocated_refuse_space(struct run *run, const struct space *space)
{
	switches_refuse(run, space);
	for (size_t i = 0; i < space->nmodules; i++)
		if (!space->modules[i]->shared.bytes)
			relocated_refuse(run, space->modules[i]->plan,
					 space->own_thread_reg);
}

/*
 * How many bytes of a thread counter page the module may come to need.  Every
 * relocated function has a guard behind its counters.
 */
static uint64_t
counters_need(const struct image *image)
{
	uint64_t need = 2 * image_size(image) +
			2 * sizeof(uint64_t) * image->nfuncs;

	/* A stub has 6 bytes at least, and a counter and a guard. */
	for (size_t i = 0; i < image->nplts; i++)
		need += 3 * (image->plts[i].hi - image->plts[i].lo);
	return need;
}

/*
 * Reserve the module's part of the thread counter pages.  0, or -1 with the
 * message.
 */
static int
counters_reserve(struct room *room, struct module *module, uint64_t need)
{
	struct run *run = room->run;
	struct space *space;

	if (!room->task) {
		module->counters = thread_pages_foresee(room->run,
							&room->counters, need);
		return 0;
	}
	space = room->task->process->space;
	if (!space->thread_pages && thread_pages_open(run, room->task, need))
		return -1;
	return thread_pages_reserve(run, room->task, need, &module->counters);
}

/*
 * Have all threads share the module's counters, where the thread register must
 * not be used; whether they can.  Not if relocated functions of the plan are in
 * use that find their counters by the register.
 */
static bool
counters_share(struct run *run, struct task *task, struct module *module)
{
	struct plan *plan = module->plan;

	if (plan->options.shared)
		return true;
	if (!task->process->space->own_thread_reg || plan->planted ||
	    !shared_pages_allowed(run))
		return false;
	plan->options.shared = true;
	plan_relocation_withdraw(plan);
	return true;
}

/* Map the module's shared page; 0, or -1 with the message. */
static int
shared_map(struct room *room, struct module *module, uint64_t need)
{
	uint64_t size = shared_page_size(need), place;

	if (room->task && shared_may(room->run, room->task, size))
		return -1;
	place = near_map(room, module, size);
	if (!place)
		return fail("the process was refused memory for counters");
	if (room->task)
		return shared_page_open(room->run, room->task, module, place,
					need);
	module->shared.va = place;
	module->counters = shared_page_region(need);
	return 0;
}

/* Map memory for counters; 0, or -1 with the message. */
static int
counters_map(struct room *room, struct module *module, uint64_t need)
{
	const struct space *space = room->task ? room->task->process->space :
						 NULL;
	const char *own = space ? space->own_thread_reg : NULL;

	if (!own && !module->plan->options.shared) {
		if (!counters_reserve(room, module, need))
			return 0;
		own = space ? space->own_thread_reg : NULL;
		if (!own)
			return -1;
	}
	if (room->task && !counters_share(room->run, room->task, module))
		return fail("%s", own);
	return shared_map(room, module, need);
}

int
relocated_counters(struct room *room, struct module *module)
{
	const struct image *image = module->plan->image;
	uint64_t tables = sizeof(uint64_t) * plan_tables_max(image);

	return counters_map(room, module, counters_need(image) + tables);
}

int
relocated_room(struct room *room, struct module *module)
{
	if (!module->counters.size && relocated_counters(room, module))
		return -1;
	if (module->relocated)
		return 0;
	module->relocated_size = 3 * counters_need(module->plan->image) + 65536;
	module->relocated = near_map(room, module, module->relocated_size);
	if (!module->relocated)
		return fail("the process was refused memory for relocated "
			    "functions");
	springs_map(room, module);
	return 0;
}

void
relocated_map(struct room *room, struct module *module)
{
	struct space *space = room->task->process->space;

	if (!module->plan->options.relocated)
		return;
	if (relocated_room(room, module)) {
		relocated_refuse(room->run, module->plan, fail_message());
		if (space->own_thread_reg)
			relocated_refuse_space(room->run, space);
		return;
	}
	space->relocates = true;
	/* A process that stands still for an attach: thread_pages_guard_late. */
	if (room->run->standing > 0)
		return;
	thread_pages_guard(space, module);
	module->nguards = module->plan->nguards;
}
