/*
 * For what is preloaded into pmon and steps a task, to have something happen at
 * a certain instruction.
 */
#ifndef STEPPED_H
#define STEPPED_H

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptraced.h"

static void
task_step(pid_t pid, long signal)
{
	int status;
	pid_t who;

	if (ptrace_really(PTRACE_SINGLESTEP, pid, NULL, (void *)signal))
		abort();
	/* Pmon's timer may be running. */
	do {
		who = waitpid(pid, &status, __WALL);
	} while (who < 0 && errno == EINTR);
	if (who != pid || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
		abort();
}

/*
 * A signal is sent to the task or, with 0, pmon is interrupted and the task
 * paused right there.  Then the task goes on as was requested.
 */
static long
task_meets(enum __ptrace_request request, pid_t pid, int signal)
{
	if (signal) {
		syscall(SYS_tgkill, pid, pid, signal);
	} else {
		ptrace_really(PTRACE_INTERRUPT, pid, NULL, NULL);
		raise(SIGINT);
	}
	return signal == SIGKILL ?
		       0 : ptrace_really(request, pid, NULL, NULL);
}

#endif
