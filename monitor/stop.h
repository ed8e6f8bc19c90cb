/*
 * How counting ends while programs go on: pmon leaves no trace in them.
 */
#ifndef MONITOR_STOP_H
#define MONITOR_STOP_H

#include "monitor/run.h"

/*
 * Stop all tasks and clear every space of what pmon planted or mapped there.
 * From then on the run loop releases each task at its next event.  The launched
 * program is sent `signal` (0: none); the loop waits for its end.
 */
void run_stop(struct run *run, int signal);
/*
 * Detach from one stopped task, whose space has no traps.  `event` is its stop.
 * A task that waits in vfork is resumed instead, and released when it is back.
 */
void task_release(struct run *run, struct task *task,
		  const struct event *event);
/*
 * Clear the space of a stopped task that is alone in it, and release the task:
 * for children that are not followed.  HOST_OK; HOST_ERROR if its traps cannot
 * be removed: pmon stays with it.
 */
int space_leave(struct run *run, struct task *task, const struct event *event);

/*
 * Whether the task is still followed though counting has stopped, because traps
 * in its space could not be removed.
 */
bool task_stuck(const struct task *task);
/* Try again to remove those traps. */
void run_stop_stuck(struct run *run);

#endif
