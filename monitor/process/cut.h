/*
 * System calls that a pause cut short.
 */
#ifndef MONITOR_PROCESS_CUT_H
#define MONITOR_PROCESS_CUT_H

#include "monitor/run.h"

/*
 * The task was paused: what that did to its system call is undone.  One that
 * was cut short is gone on with only if the task goes on under pmon.
 */
void cut_undo(struct run *run, struct task *task, bool goes_on);
/* The call for what is left has returned: go on, or give the whole's result. */
void cut_exit(struct run *run, struct task *task);
/*
 * The task, stopped by an event of this kind, gets a signal or is let go: the
 * call returns with what was done so far.
 */
void cut_end(struct run *run, struct task *task, enum event_kind kind);
void cut_forget(struct task *task);

#endif
