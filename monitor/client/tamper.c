/*
 * What a program does to what relocated functions count with: the memory, and
 * the register by which that is found.  Notices at stops, and says what is not
 * known then. Mends nothing.
 */
#include "monitor/client/tamper.h"

#include <signal.h>

#include "monitor/process/thread_pages.h"
#include "monitor/patch/relocated.h"
#include "monitor/patch/patch.h"
#include "util/mem.h"

static void
space_tampered(const struct space *space)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (space->modules[i]->relocated)
			space->modules[i]->plan->tampered = true;
}

/* Nothing is counted by way of that register any more. */
static void
register_lost(struct run *run, struct space *space)
{
	space_tampered(space);
	if (space->own_thread_reg)
		return;
	space->own_thread_reg = mem_strdup(
		"the program has set the gs register");
	for (size_t i = 0; i < space->nmodules; i++)
		relocated_refuse(run, space->modules[i]->plan,
				 space->own_thread_reg);
}

/*
 * Out of a relocated function: what is counted on the way goes where it would
 * have, and not into memory of the program's.
 */
static void
task_lead_out(struct run *run, struct task *task)
{
	const struct host *host = run->host;
	uint8_t reg = run->arch->reg_thread;
	uint64_t own;

	if (host->reg_get(task->tid, reg, &own) ||
	    host->reg_set(task->tid, reg, thread_pages_va(task)))
		return;
	relocated_leave(run, task);
	if (task->state == TASK_STOPPED)
		host->reg_set(task->tid, reg, own);
}

/*
 * If its register does not lead to its counters: true; `counting` if it is at
 * what counts in a relocated function.
 */
static bool
task_look(struct run *run, struct task *task, bool *counting)
{
	struct space *space = task->process ? task->process->space : NULL;

	*counting = false;
	if (!space || space->own_thread_reg || !task->thread_page ||
	    thread_pages_register(run, task))
		return false;
	register_lost(run, space);
	*counting = relocated_counting(run, task);
	task_lead_out(run, task);
	return true;
}

/* Is it a signal for what the task's own instruction did? */
static bool
is_fault(struct run *run, const struct event *event)
{
	uint64_t va;
	int code;

	return event->kind == EVENT_SIGNAL &&
	       (event->value == SIGSEGV || event->value == SIGBUS) &&
	       !run->host->fault_get(event->tid, &code, &va) && code > 0;
}

/*
 * What a relocated function's counting in the wrong place led to is not the
 * program's doing, and a trap is run into again, as far as it is still there.
 */
bool
tamper_event(struct run *run, struct task *task, const struct event *event)
{
	bool counting;

	if (!task_look(run, task, &counting))
		return false;
	if (!(counting && is_fault(run, event)) &&
	    !(event->kind == EVENT_TRAP && patch_forget(run, task)))
		return false;
	run_resume(run, task, 0);
	return true;
}

void
tamper_check(struct run *run, struct task *task)
{
	struct space *space = task->process ? task->process->space : NULL;

	if (!space || space->own_thread_reg || !task->thread_page)
		return;
	if (!thread_pages_register(run, task) || !thread_pages_seen(run, task))
		space_tampered(space);
}

void
tamper_remark(struct run *run)
{
	for (size_t i = 0; i < run->nobjects; i++) {
		const struct plan *plan = run->objects[i].plan;

		if (plan && plan->tampered)
			run_remark(run, "%s: what was counted in copies of "
				   "its functions is not known: the program "
				   "has changed the memory or the register by "
				   "which they count", plan->image->path);
	}
}
