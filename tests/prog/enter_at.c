/*
 * Preloaded into pmon: when pmon first lets a task go on to a system call, the
 * task has stopped where it enters that, and pmon has been asked for a report
 * (SIGUSR1), before pmon looks at either.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "ptraced.h"

static long
ptraced(enum __ptrace_request request, pid_t pid, void *addr, void *data)
{
	static int entered;
	siginfo_t info;
	long result;

	result = ptrace_really(request, pid, addr, data);
	if (request != PTRACE_SYSCALL || result || entered++)
		return result;
	if (waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT | __WALL))
		abort();
	raise(SIGUSR1);
	return result;
}
