/*
 * Relative timeouts of system calls: when such a call is made again, it must
 * wait for the rest only.
 */
#ifndef MONITOR_PROCESS_TIMEOUT_H
#define MONITOR_PROCESS_TIMEOUT_H

#include "monitor/run.h"

/* The timeout of a system call that a task makes again. */
struct timeout {
	const struct abi_timeout *of;	/* or NULL: the call has none */
	double end;			/* clock_seconds when it is over */
};

/*
 * The timeout of call nr with the arguments in regs, which begins now.  Its
 * `of` is NULL if the call has no relative timeout, or waits for ever.
 */
struct timeout timeout_begin(const struct run *run, const struct task *task,
			     int nr, const struct regs *regs);
/*
 * Have the call, whose own arguments are in regs, wait for what is left.  If
 * there is no memory to tell it by it will wait for the whole time again; false
 * if its time is over and it would.
 */
bool timeout_rest(struct run *run, struct task *task,
		  const struct timeout *timeout, struct regs *regs);
/* The call is over. */
void timeout_end(struct task *task);

#endif
