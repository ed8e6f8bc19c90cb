/*
 * How counting ends, while programs go on.
 */
#ifndef MONITOR_PROCESS_STOP_H
#define MONITOR_PROCESS_STOP_H

#include "monitor/run.h"

/*
 * Counting is over: unplant every space and let every task go; those that
 * cannot be stopped yet are let go by their next event.  The launched
 * program is sent signal; its end is awaited by the loop.
 */
void run_stop(struct run *run, int signal);
/* Let go of a stopped task that is in no planted space, or no more. */
void task_release(struct run *run, struct task *task,
		  const struct event *event);
/*
 * Let a stopped task go that is alone in its space, with nothing of pmon's left
 * there.
 */
void space_leave(struct run *run, struct task *task,
		 const struct event *event);

#endif
