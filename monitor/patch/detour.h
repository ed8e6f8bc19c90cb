/*
 * Detours: a stopped task runs an instruction or a system call for pmon, with
 * all signals blocked but SIGTRAP.  The caller blocks the signals, restores the
 * mask, and decides where a detour ends.
 */
#ifndef MONITOR_PATCH_DETOUR_H
#define MONITOR_PATCH_DETOUR_H

#include "monitor/run.h"

/*
 * The state of a detour.  Starts zeroed, except that `signal` may be set to a
 * signal that the task gets first.
 */
struct detour {
	int signal;		/* delivered at the next resume, or 0 */
	bool stopped;		/* its process was stopped during the detour */
	bool trapped;		/* it was sent SIGTRAP during the detour */
};

/*
 * Another thread's exec has taken the task's id: put nothing back in the task.
 */
enum { DETOUR_TAKEN = -3 };

/*
 * Resume the task and wait for its next event, returned in *event.  SIGSTOP
 * cannot be blocked: the next call of detour_go delivers it, which stops the
 * rest of the process.  Returns HOST_OK; HOST_GONE if the task could not be
 * resumed or has ended; or DETOUR_TAKEN.  In the last two cases the task's
 * event, if there was one, is queued.
 */
int detour_go(struct run *run, struct task *task, enum resume how,
	      struct detour *detour, struct event *event);

/*
 * End the detour: what was held back takes effect when the task is resumed.  If
 * its process was stopped, the task stops too; if it was sent SIGTRAP, it gets
 * that signal again.
 */
void detour_end(struct run *run, struct task *task,
		const struct detour *detour);

/*
 * The task is about to get a SIGTRAP.  If detour_end has sent that signal
 * again, restore the siginfo of the original one.
 */
void detour_deliver(struct run *run, struct task *task);
/* Drop the siginfo that is kept for the task, without using it. */
void detour_forget(struct task *task);

#endif
