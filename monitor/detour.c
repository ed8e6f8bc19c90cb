/*
 * Leads tasks over stretches that they run for pmon's sake past what else may
 * stop them.  Never says where a stretch ends: its callers do.
 */
#include <signal.h>

#include "monitor/detour.h"
#include "monitor/task.h"

int
detour_go(struct run *run, struct task *task, enum resume how,
	  struct detour *detour, struct event *event)
{
	if (task_resume(run, task, how, detour->signal))
		return HOST_GONE;
	run_wait_task(run, task, event);
	detour->signal = event->kind == EVENT_SIGNAL &&
			 event->value == SIGSTOP ? SIGSTOP : 0;
	detour->stopped |= event->kind == EVENT_STOPPED;
	return HOST_OK;
}

void
detour_end(struct run *run, struct task *task, const struct detour *detour)
{
	if (detour->stopped)
		task_interrupt(run, task, STOP_GROUP);
}
