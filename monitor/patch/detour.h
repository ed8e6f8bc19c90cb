/*
 * A stretch that a stopped task runs for pmon's sake, with all signals blocked
 * but SIGTRAP: an instruction, or a system call.
 */
#ifndef MONITOR_PATCH_DETOUR_H
#define MONITOR_PATCH_DETOUR_H

#include "monitor/run.h"

/* Begins with the signal that the task gets first, or 0. */
struct detour {
	int signal;		/* what it is resumed with next */
	bool stopped;		/* its process was stopped meanwhile */
	bool trapped;		/* it was sent SIGTRAP meanwhile */
};

/* Another thread's exec has taken its id: nothing is to be put back in it. */
enum { DETOUR_TAKEN = -3 };

/*
 * Resume the task and wait for what comes next, *event.  SIGSTOP cannot be
 * blocked: it is delivered when this is called again, and stops the process,
 * all but this task.  HOST_OK; HOST_GONE if the task is not resumed or has
 * ended, or DETOUR_TAKEN: what tells of that is queued.
 */
int detour_go(struct run *run, struct task *task, enum resume how,
	      struct detour *detour, struct event *event);

/*
 * It is over: if its process was stopped the task stops, too, once resumed; if
 * it was sent SIGTRAP it gets that then.
 */
void detour_end(struct run *run, struct task *task,
		const struct detour *detour);

/* The task's SIGTRAP is delivered: if it is one that was sent on, as sent. */
void detour_deliver(struct run *run, struct task *task);
void detour_forget(struct task *task);

#endif
