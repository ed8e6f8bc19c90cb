/*
 * Restarts the system calls that a stop interrupted without the program's doing:
 * has tasks repeat them, or make them again for the rest.
 */
#ifndef MONITOR_PROCESS_RESTART_H
#define MONITOR_PROCESS_RESTART_H

#include "monitor/run.h"

/*
 * Undo what a pause, or an ignored signal, did to the task's system call: a call
 * that failed with EINTR is repeated.  If the task goes on under pmon
 * (task->restart), the call waits for the rest of its timeout from then on, and
 * one that moved a part of its bytes is made again for the rest.
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
 * The call for the rest has returned: make it again if a pause or an ignored
 * signal cut it short, too, or else return the sum, or its result, to the
 * program.
 */
void restart_exit(struct run *run, struct task *task);
/*
 * The task is about to get the signal.  If the program ignores it, the call that
 * it interrupted goes on; else a continued call ends with what it has done.
 */
void restart_signal(struct run *run, struct task *task, int signal);
/* The task is in a group stop, which ends a call as without pmon. */
void restart_stopped(struct run *run, struct task *task);
/*
 * The task, stopped by an event of this kind, is let go with this signal (0:
 * none).  Like restart_signal, but nobody will stop the task again, so nothing
 * is continued.
 */
void restart_release(struct run *run, struct task *task, enum event_kind kind,
		     int signal);
/* Free task->restart, without touching the task. */
void restart_free(struct task *task);

#endif
