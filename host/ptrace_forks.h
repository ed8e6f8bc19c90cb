/*
 * Children of simulators.  A simulator forks where its program does, and the
 * child's memory has traps in it that nobody serves.  So a process of its own,
 * the watcher, traces the simulator and takes the traps out of each child
 * before the child runs.  When the simulator's program starts a thread the
 * watcher does the same to the simulator's own memory.  As the tracer sees
 * signals first, the watcher also holds back those of which the simulator would
 * die before its stub can report them.
 */
#ifndef HOST_PTRACE_FORKS_H
#define HOST_PTRACE_FORKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "arch/arch.h"

struct forks {
	pid_t watcher;		/* process id, or 0 */
	int fd;			/* socket to the watcher: takes which process to
				   watch, gives 0 when a thread was started, or
				   the number of a signal held back */
	bool threads;		/* a thread was started */
	int signal;		/* the signal held back, or 0 */
};

/*
 * Start the watcher of a simulator yet to be started, which runs the program at
 * path.  The simulator has to call forks_allow(watcher).  0, or -1 with the
 * message set.
 */
int forks_open(struct forks *forks, const struct arch *arch, const char *path);
/* In the simulator's process, before it executes: let the watcher trace it. */
void forks_allow(pid_t watcher);
/*
 * Let the watcher watch the simulator, which has been started.  0, or an errno.
 */
int forks_watch(const struct forks *forks, pid_t simulator);
/* Has the simulator started threads for its program?  Also after its end. */
bool forks_threads(struct forks *forks);
/*
 * The simulator was stopped by SIGBUS: return the signal that this SIGBUS
 * stands for, once, or 0 if it stands for itself.
 */
int forks_signal(struct forks *forks);
/*
 * The stub is no longer served: from now on the watcher passes all signals on.
 * The watcher lives on until the simulator ends.
 */
void forks_leave(struct forks *forks);
/* Wait for the end of the watcher, which ends with the simulator. */
void forks_close(struct forks *forks);

#endif
