/*
 * Preloaded into pmon: when pmon lets a task go on to a system call, the task
 * has stopped where it enters that, and pmon has been asked for a report
 * (SIGUSR1), before pmon looks at either.  So for the first call that pmon lets a
 * task go on to; with PMON_ENTER for each of that number.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "ptraced.h"

/* Whether the task has stopped where it enters the call, or any. */
static int
enters(pid_t pid, const char *nr)
{
	struct __ptrace_syscall_info info = { 0 };

	if (!nr)
		return 1;
	ptrace_really(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info),
		      &info);
	return info.op == PTRACE_SYSCALL_INFO_ENTRY &&
	       info.entry.nr == strtoul(nr, NULL, 0);
}

static long
ptraced(enum __ptrace_request request, pid_t pid, void *addr, void *data)
{
	static int entered;
	const char *nr = getenv("PMON_ENTER");
	siginfo_t info;
	long result;

	result = ptrace_really(request, pid, addr, data);
	if (request != PTRACE_SYSCALL || result || (entered++ && !nr))
		return result;
	/* pmon's own timer may interrupt this. */
	while (waitid(P_PID, pid, &info,
		      WSTOPPED | WEXITED | WNOWAIT | __WALL))
		if (errno != EINTR)
			abort();
	if (enters(pid, nr))
		raise(SIGUSR1);
	return result;
}
