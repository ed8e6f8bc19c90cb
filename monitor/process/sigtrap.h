/*
 * What traps do to a program's SIGTRAP: one that is hit while that signal is
 * blocked or ignored destroys the setting; sigtrap_mend restores it before the
 * program can see that.
 */
#ifndef MONITOR_PROCESS_SIGTRAP_H
#define MONITOR_PROCESS_SIGTRAP_H

#include "monitor/run.h"

struct hit;

/*
 * Ask the kernel for the actions.  Needed for a process that is attached to, or
 * whose libraries ran before their hooks were planted.  Does nothing with
 * --no-traps, where no hook would tell of later changes.
 */
void sigtrap_ask(struct run *run, struct task *task);

/*
 * Whether a trap has just reset the action of SIGTRAP: the program handles or
 * ignores the signal, and the kernel no longer does.
 */
bool sigtrap_reset(struct run *run, const struct task *task);

/*
 * Whether the SIGTRAP that the task is stopped for, if it was sent, waited until
 * a trap or a step unblocked it: then the stop is that trap's or step's, too.
 */
bool sigtrap_waited(struct run *run, const struct task *task);

/*
 * The task is stopped by one of pmon's traps, or a step: restore what that did
 * to SIGTRAP.  HOST_OK, or HOST_GONE if the task was killed meanwhile.
 */
int sigtrap_mend(struct run *run, struct task *task);

/*
 * The task is at a hook before a system call, behind sigtrap_mend: if the call
 * is rt_sigaction on SIGTRAP, have the space stand still with the action as the
 * program has set it, so that no other task's trap takes the action away before
 * the call has been made, or is taken for one that did.  1 if the call must be
 * made by a step: that one, or one that sets the action of SIGSEGV or SIGBUS, as
 * its slot may be what the program has damaged.  0 if it is another call or there
 * is no other task, or HOST_GONE if the task was killed meanwhile.
 */
int sigtrap_still(struct run *run, struct task *task);

/*
 * The task is stopped for a SIGTRAP of the program's own: have its space stand
 * still with the action as the program has set it, so that no other task's trap
 * takes the action away before the kernel has looked at it.  HOST_OK, or
 * HOST_GONE if the task was killed meanwhile, or if its event waits in the
 * queue for another task's trap.
 */
int sigtrap_restore(struct run *run, struct task *task);

/*
 * Whether the action of SIGTRAP is known, and a trap leaves it as it is unless
 * it is hit while the signal is blocked.
 */
bool sigtrap_lasts(const struct task *task);

/* Whether the program ignores SIGTRAP. */
bool sigtrap_ignores(const struct task *task);

/*
 * The stopped task is about to be stepped for pmon's sake, and its signals are
 * as the program wants them: without hooks, ask the kernel for the action.
 */
void sigtrap_steps(struct run *run, struct task *task);

/*
 * The task is stopped behind steps for pmon's sake, with signals blocked:
 * restore what they did to the program's action, but not the mask.  HOST_OK, or
 * HOST_GONE if the task was killed meanwhile.
 */
int sigtrap_stepped(struct run *run, struct task *task);

/*
 * Whether actions can be restored: not if the task must not be made to do system
 * calls.
 */
bool sigtrap_mends(const struct run *run, const struct task *task);

/*
 * Have the stopped task set the action that is tracked for the signal, and send
 * it `sent` (0: none).  No other task of its space runs meanwhile.  HOST_OK,
 * HOST_GONE, or another error of the host.
 */
int action_set(struct run *run, struct task *task, int signal, int sent);

#endif
