/*
 * System calls that a stopped task is made to do.
 */
#ifndef MONITOR_PROCESS_INJECT_H
#define MONITOR_PROCESS_INJECT_H

#include "monitor/run.h"

/*
 * Bring a stopped task to where it can be made to do system calls: out of the
 * one that it is in, or back to before one that it is about to make.  *event is
 * what it is stopped for, and is changed to what it is stopped for then.  It
 * must not be in vfork.  HOST_OK or HOST_GONE.
 */
int inject_prepare(struct run *run, struct task *task, struct event *event);

/*
 * Make the stopped task do a system call; its state is as before afterwards,
 * with the signal it was stopped for, if any.  HOST_OK and *result, or
 * HOST_GONE.
 */
int inject_syscall(struct run *run, struct task *task, int nr,
		   const uint64_t args[6], int64_t *result);

/*
 * The same of one that is stopped by a trap, not in a system call, without
 * another trap: no matter what it has made of SIGTRAP.  With all signals
 * blocked it gets `signal` (0: none), that of its stop, which so waits.
 */
int inject_quietly(struct run *run, struct task *task, int nr,
		   const uint64_t args[6], int signal, int64_t *result);

#endif
