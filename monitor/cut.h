/*
 * System calls that a pause cut short.
 */
#ifndef MONITOR_CUT_H
#define MONITOR_CUT_H

#include "monitor/run.h"

/*
 * The task, paused behind a system call whose registers these are, goes on with
 * what is left of it; whether something is.  The registers are to be set.
 */
bool cut_begin(const struct run *run, struct task *task, struct regs *regs);
/* The call for what is left has returned: go on, or give the whole's result. */
void cut_exit(struct run *run, struct task *task);
/*
 * The task, stopped by an event of this kind, gets a signal or is let go: the
 * call returns with what was done so far.
 */
void cut_end(struct run *run, struct task *task, enum event_kind kind);
void cut_forget(struct task *task);

#endif
