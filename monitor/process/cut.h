/*
 * System calls that a pause cut short.
 */
#ifndef MONITOR_PROCESS_CUT_H
#define MONITOR_PROCESS_CUT_H

#include "monitor/run.h"

/*
 * Undo what pausing the task did to its system call: a call that failed with
 * EINTR is repeated.  A call that was cut short is continued (task->cut) only
 * if the task goes on under pmon.
 */
void cut_undo(struct run *run, struct task *task, bool goes_on);
/*
 * The task has just stopped for a pause, and will stand still for long.  If its
 * call failed with EINTR, have the task repeat it, so that it does even if pmon
 * is killed meanwhile.  The pc must be an original one.  cut_undo is still to
 * be called, and fails the call again if a signal has come.
 */
void cut_ready(struct run *run, struct task *task);
/*
 * Is the task in a system call that it will begin again when it goes on, unless
 * a signal comes?  Then *va is the call's.
 */
bool cut_repeats(struct run *run, const struct task *task, uint64_t *va);
/*
 * Put a task back behind the call that cut_ready has it repeat.  False if it
 * repeats none.
 */
bool cut_unready(struct run *run, struct task *task);
/*
 * The call for the rest has returned: make it again if it was cut short, too,
 * or else return the sum to the program.
 */
void cut_exit(struct run *run, struct task *task);
/*
 * The task, stopped by an event of this kind, gets a signal or is let go: its
 * continued call, if any, returns the bytes moved so far.
 */
void cut_end(struct run *run, struct task *task, enum event_kind kind);
/* Free task->cut, without touching the task. */
void cut_forget(struct task *task);

#endif
