/*
 * Whether a module gets relocated functions: maps their memory or, if that
 * cannot be done or must not, has its functions counted by traps.
 */
#include "monitor/patch/refuse.h"

#include "monitor/patch/extend.h"
#include "monitor/patch/relocated.h"
#include "monitor/patch/slots.h"
#include "monitor/patch/springs.h"
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
	if ((run->started && plan->planted) || plan->wish.no_traps)
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
	if (!plan->wish.relocated)
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

void
relocated_map(struct run *run, struct task *task, struct module *module)
{
	struct space *space = task->process->space;
	const struct image *image = module->plan->image;
	uint64_t need = counters_need(image);
	uint64_t tables = sizeof(uint64_t) * plan_tables_max(image);

	if (!module->plan->wish.relocated)
		return;
	if (space->own_thread_reg) {
		relocated_refuse(run, module->plan, space->own_thread_reg);
		return;
	}
	if (!space->thread_pages && thread_pages_open(run, task, need + tables))
		goto refused;
	if (thread_pages_reserve(run, task, need + tables, &module->counters))
		goto refused;
	module->relocated_size = 3 * need + 65536;
	module->relocated = near_map(run, task, module, module->relocated_size);
	if (module->relocated) {
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
