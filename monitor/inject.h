/*
 * System calls that a stopped task is made to do.
 */
#ifndef MONITOR_INJECT_H
#define MONITOR_INJECT_H

#include "monitor/run.h"

/*
 * Make the stopped task do a system call; its state is as before afterwards.
 * HOST_OK and *result, or HOST_GONE.
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
