/*
 * Notices when a program changes what relocated functions count with: the
 * thread pages, or the register that leads to them.  Looks only when a task has
 * stopped, and marks the counts as unknown.  Never gives a count a new value.
 */
#include "monitor/patch/tamper.h"

#include <signal.h>
#include <stdlib.h>

#include "monitor/patch/mend.h"
#include "monitor/patch/patch.h"
#include "monitor/patch/refuse.h"
#include "monitor/patch/relocated_pc.h"
#include "monitor/process/events.h"
#include "monitor/process/inject.h"
#include "monitor/process/object.h"
#include "monitor/process/thread_pages.h"
#include "util/mem.h"

/* `shared`: also what is counted in shared pages. */
static void
space_tampered(const struct space *space, bool shared)
{
	for (size_t i = 0; i < space->nmodules; i++)
		if (space->modules[i]->relocated &&
		    (shared || !space->modules[i]->shared.bytes))
			space->modules[i]->plan->tampered = true;
}

/* Count nothing in the space by way of the thread register any more. */
static void
thread_reg_refuse(struct run *run, struct space *space, char *why)
{
	space_tampered(space, false);
	if (space->own_thread_reg) {
		free(why);
		return;
	}
	space->own_thread_reg = why;
	relocated_refuse_space(run, space);
}

/*
 * Move the task out of its relocated function.  Meanwhile the register leads to
 * the page at va, so that the task does not count into the program's own memory.
 */
static void
task_lead_out(struct run *run, struct task *task, uint64_t va)
{
	const struct host *host = run->host;
	uint8_t reg = run->arch->reg_thread;
	uint64_t own;

	if (host->reg_get(task->tid, reg, &own) ||
	    host->reg_set(task->tid, reg, va))
		return;
	relocated_leave(run, task);
	if (task->state == TASK_STOPPED)
		host->reg_set(task->tid, reg, own);
}

/*
 * Has the task's register been changed?  Then the task is moved out of its
 * relocated function; *counting says whether it was counting there.
 */
static bool
task_look(struct run *run, struct task *task, bool *counting)
{
	struct space *space = task->process ? task->process->space : NULL;

	*counting = false;
	if (!space || space->own_thread_reg || !task->thread_page ||
	    thread_pages_register(run, task))
		return false;
	thread_reg_refuse(run, space,
			  mem_printf("the program has set the %s register",
				     run->arch->thread_reg_name));
	*counting = relocated_counting(run, task);
	task_lead_out(run, task, thread_pages_va(task));
	return true;
}

/*
 * The task faults at its counters, and they cannot be mended: count by traps
 * from now on, and move the task out of its relocated function, with a page
 * elsewhere meanwhile.  Other tasks fault there, too, and are moved then.
 * Whether the task was moved.
 */
static bool
counters_leave(struct run *run, struct task *task)
{
	uint64_t spare, size;

	spare = thread_pages_spare(run, task, &size);
	if (!spare)
		return false;
	thread_reg_refuse(run, task->process->space,
			  mem_printf(
				  "the program has made the counters' memory "
				  "unusable"));
	task_lead_out(run, task, spare);
	if (task->state != TASK_STOPPED)
		return true;
	inject_unmap(run, task, spare, size);
	return !relocated_counting(run, task);
}

/* Is it a fault's signal, raised by the task's own instruction? */
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
 * If the task's fault comes from what the program has done to pmon's memory,
 * mend that and resume the task; whether that was so.
 */
static bool
task_mend(struct run *run, struct task *task, int signal)
{
	switch (mend_fault(run, task, signal)) {
	case MEND_NOT:
		return false;
	case MEND_RESUMED:
		return true;
	case MEND_WHOLE:
		break;
	case MEND_LOST:
		space_tampered(task->process->space, true);
		break;
	case MEND_ELSEWHERE:
		if (!counters_leave(run, task))
			return false;
		break;
	}
	run_resume(run, task, 0);
	return true;
}

/*
 * A fault of a counting instruction is not the program's own: drop its signal.
 * After a trap the task goes on at the trap's place, and hits it again if it is
 * still planted.
 */
bool
tamper_event(struct run *run, struct task *task, const struct event *event)
{
	bool counting;

	if (!thread_pages_renew(task))
		space_tampered(task->process->space, true);
	if (!task_look(run, task, &counting))
		return is_fault(run, event) &&
		       task_mend(run, task, event->value);
	if (!(counting && is_fault(run, event)) &&
	    !patch_rewind(run, task, event))
		return false;
	run_resume(run, task, 0);
	return true;
}

void
tamper_check(struct run *run, struct task *task)
{
	struct space *space = task->process ? task->process->space : NULL;
	bool renewed;

	/* What pmon has unmapped itself, the program has not changed. */
	if (!space || space->unmapping)
		return;
	if (!space->own_thread_reg && !thread_pages_register(run, task))
		space_tampered(space, false);
	/* In this order, so that copies have old generations. */
	renewed = thread_pages_renew(task);
	if (!thread_pages_seen(run, task) || !renewed)
		space_tampered(space, true);
}

void
tamper_remark(struct run *run)
{
	for (size_t i = 0; i < run->nobjects; i++) {
		const struct plan *plan = run->objects[i].plan;

		if (plan && plan->tampered)
			run_remark(run,
				   "%s: the counts of its relocated "
				   "functions are not known: the program "
				   "changed the counters' memory or the "
				   "register that leads to it",
				   plan->image->path);
	}
}
