/*
 * Runs stopped tasks for pmon's sake, past whatever else may stop them
 * meanwhile.  Never decides where a detour ends: its callers do.
 */
#include <signal.h>
#include <stdlib.h>

#include "monitor/patch/detour.h"
#include "monitor/process/events.h"
#include "monitor/process/task.h"
#include "util/mem.h"

/*
 * SIGTRAP is not blocked, so one that is sent to the task cannot stay pending:
 * pmon sends it again after the detour.  Keep the siginfo of the first until
 * then.
 */
static void
trap_keep(struct run *run, struct task *task, struct detour *detour)
{
	if (!run->host->native ||
	    run->host->trap_cause(task->tid) != TRAP_SENT)
		return;
	detour->trapped = true;
	if (task->trapped)
		return;
	task->trapped = mem_alloc(SIGINFO_MAX);
	if (run->host->siginfo_get(task->tid, task->trapped))
		detour_forget(task);
}

void
detour_deliver(struct run *run, struct task *task)
{
	if (task->trapped)
		run->host->siginfo_set(task->tid, task->trapped);
	detour_forget(task);
}

void
detour_forget(struct task *task)
{
	free(task->trapped);
	task->trapped = NULL;
}

int
detour_go(struct run *run, struct task *task, enum resume how,
	  struct detour *detour, struct event *event)
{
	if (task_resume(run, task, how, detour->signal))
		return HOST_GONE;
	run_wait_task(run, task, event);
	if (task->state == TASK_DEAD || event->kind == EVENT_EXEC) {
		run_requeue(run, event);
		return event->kind == EVENT_EXEC ? DETOUR_TAKEN : HOST_GONE;
	}
	if (event->kind == EVENT_TRAP)
		trap_keep(run, task, detour);
	detour->signal = event->kind == EVENT_SIGNAL &&
			 event->value == SIGSTOP ? SIGSTOP : 0;
	detour->stopped |= event->kind == EVENT_STOPPED;
	return HOST_OK;
}

void
detour_end(struct run *run, struct task *task, const struct detour *detour)
{
	if (detour->trapped)
		run->host->send(task->tid, SIGTRAP);
	if (detour->stopped)
		task_interrupt(run, task, STOP_GROUP);
}
