/*
 * The returns of signal handlers, by which tasks go back into relocated
 * functions.
 */
#ifndef MONITOR_UNWIND_SIGRETURN_H
#define MONITOR_UNWIND_SIGRETURN_H

#include "monitor/run.h"

/*
 * A handler is about to return, by the code at the va: have the task go back
 * into its relocated function, and tell clients what frames are left and come
 * to if the handler has led it elsewhere.
 */
void sigreturn_about(struct run *run, struct task *task, uint64_t va);

/*
 * The task has stopped where it enters a system call.  If that is the return of
 * a handler that is followed, it is about to return.
 */
void sigreturn_syscall(struct run *run, struct task *task);

#endif
