/*
 * Children of simulators.  A simulator forks where its program does, and the
 * child has the traps in its memory, which nobody serves.  So they are taken
 * out before it runs, by a process of its own, that traces the simulator for
 * that alone.  The same is done to the simulator's own memory when its program
 * starts a thread.  And as it sees them first, it holds back signals of which
 * the simulator would die before its stub can tell of them.
 */
#ifndef HOST_PTRACE_FORKS_H
#define HOST_PTRACE_FORKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "arch/arch.h"

struct forks {
	pid_t watcher;		/* or 0 */
	int fd;			/* it is told by this whom to watch, and says
				   that a thread was started: 0, or which
				   signal it holds back */
	bool threads;		/* one was */
	int signal;		/* that, or 0 */
};

/*
 * Start the process that watches a simulator yet to be started, of the
 * program of that path.  The simulator has to call forks_allow(watcher).  0,
 * or -1 with the message set.
 */
int forks_open(struct forks *forks, const struct arch *arch,
	       const char *path);
void forks_allow(pid_t watcher);
/* It has been started: watch it.  0, or the errno that says why not. */
int forks_watch(const struct forks *forks, pid_t simulator);
/* Has the simulator started threads for its program?  Also after the end. */
bool forks_threads(struct forks *forks);
/*
 * The simulator was stopped by SIGBUS: the signal that this stands for, once,
 * or 0 if it is one.
 */
int forks_signal(struct forks *forks);
/* The stub serves nobody any more: all signals are passed on. */
void forks_leave(struct forks *forks);
/* Wait for the end of the watcher, which is that of the simulator. */
void forks_close(struct forks *forks);

#endif
