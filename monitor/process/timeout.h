/*
 * Relative timeouts of system calls: when such a call is made again, it must
 * wait for the rest only.
 */
#ifndef MONITOR_PROCESS_TIMEOUT_H
#define MONITOR_PROCESS_TIMEOUT_H

#include "monitor/run.h"

enum { TIMEOUT_SCRATCH = 48 };

/* The timeout of a system call that a task makes again. */
struct timeout {
	const struct abi_timeout *of;	/* or NULL: the call has none */
	double end;			/* run_clock when it is over */
	uint64_t scratch;		/* va of the rest in the task's memory,
					   or 0 */
	uint8_t old[TIMEOUT_SCRATCH];	/* what was there */
};

/*
 * The timeout of call nr with the arguments in regs, which begins now.  Its
 * `of` is NULL if the call has no relative timeout, or waits for ever.
 */
void timeout_begin(const struct run *run, const struct task *task, int nr,
		   const struct regs *regs, struct timeout *timeout);
/*
 * Put what is left of the timeout into the call's arguments, and into the
 * task's memory if it belongs there.  If the memory cannot be written the
 * arguments stay.
 */
void timeout_rest(const struct run *run, const struct task *task,
		  struct timeout *timeout, struct regs *regs);
/* The call is over: restore the task's memory. */
void timeout_end(const struct run *run, const struct task *task,
		 struct timeout *timeout);

#endif
