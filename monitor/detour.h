/*
 * A stretch that a stopped task runs for pmon's sake, with all signals blocked
 * but SIGTRAP: an instruction, or a system call.
 */
#ifndef MONITOR_DETOUR_H
#define MONITOR_DETOUR_H

#include "monitor/run.h"

/* Begins with the signal that the task gets first, or 0. */
struct detour {
	int signal;		/* what it is resumed with next */
	bool stopped;		/* its process was stopped meanwhile */
};

/*
 * Resume the task and wait for what comes next, *event.  SIGSTOP cannot be
 * blocked: it is delivered when this is called again, and stops the process,
 * all but this task.  HOST_OK, or HOST_GONE if the task is not resumed.
 */
int detour_go(struct run *run, struct task *task, enum resume how,
	      struct detour *detour, struct event *event);

/* It is over: if its process was stopped the task stops, too, once resumed. */
void detour_end(struct run *run, struct task *task,
		const struct detour *detour);

#endif
