/*
 * Preloaded into pmon: when pmon lets a task go on from the nth SIGURG, the task
 * is first stepped n - 1 + PMON_STEP_FIRST instructions.  Then it is sent the
 * signal PMON_STEP, or, with 0, pmon is interrupted and the task paused right
 * there.
 */
#define _GNU_SOURCE
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

	if (ptrace_really(PTRACE_SINGLESTEP, pid, NULL, (void *)signal) ||
	    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTRAP)
		abort();
}

static long
ptraced(enum __ptrace_request request, pid_t pid, void *addr, void *data)
{
	static int seen;
	const char *what = getenv("PMON_STEP"), *first;
	int signal = what ? atoi(what) : 0;

	if (!what || (long)data != SIGURG ||
	    (request != PTRACE_CONT && request != PTRACE_SYSCALL))
		return ptrace_really(request, pid, addr, data);
	first = getenv("PMON_STEP_FIRST");
	for (int i = 0, n = seen++ + (first ? atoi(first) : 0); i < n; i++)
		task_step(pid, i ? 0 : SIGURG);
	if (signal) {
		syscall(SYS_tgkill, pid, pid, signal);
	} else {
		ptrace_really(PTRACE_INTERRUPT, pid, NULL, NULL);
		raise(SIGINT);
	}
	return signal == SIGKILL ?
		       0 : ptrace_really(request, pid, NULL, NULL);
}
