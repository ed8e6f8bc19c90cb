/*
 * Detours: a stopped task runs an instruction or a system call for pmon, with
 * all signals blocked but SIGTRAP.  The caller blocks the signals, restores the
 * mask, and decides where a detour ends.
 */
#ifndef MONITOR_PROCESS_DETOUR_H
#define MONITOR_PROCESS_DETOUR_H

#include "monitor/run.h"

/*
 * The state of a detour.  Starts zeroed, except that `signal` may be set to a
 * signal that the task gets first.
 */
struct detour {
	int signal;		/* delivered at the next resume, or 0 */
	bool stopped;		/* its process was stopped, before the detour or
				   during it */
	bool blocked;		/* SIGTRAP is blocked, too: one that was sent
				   during the detour waits */
};

/*
 * Another thread's exec has taken the task's id: put nothing back in the task.
 */
enum { DETOUR_TAKEN = -3 };

/*
 * Resume the task and wait for its next event, returned in *event.  SIGSTOP
 * cannot be blocked: the next call of detour_go delivers it, which stops the
 * rest of the process.  A SIGTRAP that is sent to the task is made to wait and
 * told as EVENT_PAUSED; from then on SIGTRAP is blocked, and each trap or step
 * takes away what the program has made of that signal.  Returns HOST_OK;
 * HOST_GONE if the task could not be resumed or has ended; or DETOUR_TAKEN.  In
 * the last two cases the task's event, if there was one, is queued.
 */
int detour_go(struct run *run, struct task *task, enum resume how,
	      struct detour *detour, struct event *event);

/*
 * A signal to stop the task with.  It does nothing if pmon is killed and the
 * task gets it: the program has no handler for it, and ignores it.  It is not
 * pending, so that no signal of the program's is taken for it; and if there is
 * one that the program does not block, it is that.  All signals may be caught,
 * though, and all that are ignored pending: then there is none as good.
 */
int detour_spare(struct run *run, const struct task *task);

/*
 * Send the task a signal of detour_spare's and let it run until it stops for
 * that signal, at once if it is not blocked.  HOST_ERROR if the task cannot
 * execute the instruction at `spot` (0: any); else returns like detour_go.
 */
int detour_meet(struct run *run, struct task *task, struct detour *detour,
		int signal, uint64_t spot);

/*
 * Let the task, whose signals are all blocked, stop for a signal of pmon's
 * before the task runs on.  Only at a stop for a signal does the kernel keep
 * what host->siginfo_set says, so that a signal given to the task tells what it
 * told when it was sent.  Returns like detour_go.
 */
int detour_halt(struct run *run, struct task *task, struct detour *detour);

/*
 * The task is stopped for a SIGTRAP that was sent to it, and a trap has
 * unblocked: have the signal wait again.  The task runs nothing, and all its
 * signals are blocked behind it.  Returns like detour_go.
 */
int detour_defer(struct run *run, struct task *task);

/*
 * End a detour of steps, and restore what they have taken away of what the
 * program has made of SIGTRAP.  If the task's process was stopped, the task
 * stops too when it is resumed.  Returns like detour_go.
 */
int detour_end(struct run *run, struct task *task, struct detour *detour);

#endif
