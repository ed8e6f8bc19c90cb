/*
 * Follows whether tasks block SIGTRAP, as the program believes: a trap unblocks
 * that signal, and tells so only where the signal has a handler.
 */
#ifndef MONITOR_PROCESS_TRAP_MASK_H
#define MONITOR_PROCESS_TRAP_MASK_H

#include "monitor/run.h"

/*
 * The task is stopped, and its mask is as the program wants it: it has hit no
 * trap that has not been handled.  Look at the mask.
 */
void trap_mask_look(struct run *run, struct task *task);

/*
 * With these registers the task is about to make a system call: if it is
 * rt_sigprocmask, note whether it will block SIGTRAP.  Whether that changes.
 */
bool trap_mask_hook(struct run *run, struct task *task,
		    const struct regs *regs);

/*
 * Whether programs have made so many of these calls that pmon has ceased to
 * follow masks.
 */
bool trap_mask_ended(const struct run *run);

/* Whether pmon plants traps that change the mask, and follows the mask. */
bool trap_mask_matters(const struct run *run);

/*
 * The task is about to return from a signal handler, with the stack pointer at
 * its context, which has the mask: note that.
 */
void trap_mask_return(struct run *run, struct task *task);

/*
 * Whether the task, which is stopped for a SIGTRAP, blocks SIGTRAP, and a trap
 * or a step has just unblocked it.
 */
bool trap_mask_cleared(const struct run *run, const struct task *task);

#endif
