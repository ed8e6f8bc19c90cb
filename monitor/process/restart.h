/*
 * Restarts the system calls that a pause interrupted: has tasks repeat them, or
 * make them again for the rest.
 */
#ifndef MONITOR_PROCESS_RESTART_H
#define MONITOR_PROCESS_RESTART_H

#include "monitor/run.h"

/*
 * Undo what pausing the task did to its system call: a call that failed with
 * EINTR is repeated.  A call that moved a part of its bytes is made again for
 * the rest (task->restart), but only if the task goes on under pmon.
 */
void restart_call(struct run *run, struct task *task, bool goes_on);
/*
 * The task has just stopped for a pause, and will stand still for long.  If its
 * call failed with EINTR, have the task repeat it, so that it does even if pmon
 * is killed meanwhile.  The pc must be an original one.  restart_call is still
 * to be called, and fails the call again if a signal has come.
 */
void restart_ready(struct run *run, struct task *task);
/*
 * Is the task in a system call that it will begin again when it goes on, unless
 * a signal comes?  Then *va is the call's.
 */
bool restart_repeats(struct run *run, const struct task *task, uint64_t *va);
/*
 * Put a task back behind the call that restart_ready has it repeat.  False if
 * it repeats none.
 */
bool restart_unready(struct run *run, struct task *task);
/*
 * The call for the rest has returned: make it again if a pause interrupted
 * it, too, or else return the sum to the program.
 */
void restart_exit(struct run *run, struct task *task);
/*
 * The task, stopped by an event of this kind, gets a signal or is let go: its
 * continued call, if any, returns the bytes moved so far.
 */
void restart_end(struct run *run, struct task *task, enum event_kind kind);
/* Free task->restart, without touching the task. */
void restart_free(struct task *task);

#endif
