/*
 * Whether a module gets relocated functions: maps their memory or, if that
 * cannot be done or must not, has its functions counted by traps.
 */
#include "monitor/patch/refuse.h"

#include "monitor/patch/extend.h"
#include "monitor/patch/relocated.h"
#include "monitor/patch/slots.h"
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

void
relocated_refuse_space(struct run *run, const struct space *space)
{
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
	return 2 * image_size(image) + 2 * sizeof(uint64_t) * image->nfuncs;
}

/*
 * Reserve the module's part of the thread counter pages.  0, or -1 with the
 * message.
 */
static int
counters_reserve(struct run *run, struct task *task, struct module *module,
		 uint64_t need)
{
	struct space *space = task->process->space;

	if (!space->thread_pages && thread_pages_open(run, task, need))
		return -1;
	return thread_pages_reserve(run, task, need, &module->counters);
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

/* Map memory for counters; 0, or -1 with the message. */
static int
counters_map(struct run *run, struct task *task, struct module *module,
	     uint64_t need)
{
	struct space *space = task->process->space;
	uint64_t place;

	if (!space->own_thread_reg && !module->plan->options.shared) {
		if (!counters_reserve(run, task, module, need))
			return 0;
		if (!space->own_thread_reg)
			return -1;
	}
	if (!counters_share(run, task, module))
		return fail("%s", space->own_thread_reg);
	if (shared_may(run, task, shared_page_size(need)))
		return -1;
	place = near_map(run, task, module, shared_page_size(need));
	return place ? shared_page_open(run, task, module, place, need) :
		       fail("the process was refused memory for counters");
}

void
relocated_map(struct run *run, struct task *task, struct module *module)
{
	struct space *space = task->process->space;
	const struct image *image = module->plan->image;
	uint64_t need = counters_need(image);
	uint64_t tables = sizeof(uint64_t) * plan_tables_max(image);

	if (!module->plan->options.relocated)
		return;
	if (counters_map(run, task, module, need + tables))
		goto refused;
	module->relocated_size = 3 * need + 65536;
	module->relocated = near_map(run, task, module, module->relocated_size);
	if (module->relocated) {
		space->relocates = true;
		thread_pages_guard(space, module);
		module->nguards = module->plan->nguards;
		springs_map(run, task, module);
		return;
	}
	fail("the process was refused memory for relocated functions");
refused:
	relocated_refuse(run, module->plan, fail_message());
	if (space->own_thread_reg)
		relocated_refuse_space(run, space);
}
