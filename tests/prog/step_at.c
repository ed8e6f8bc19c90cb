/*
 * Preloaded into pmon: when pmon lets a task go on from the nth SIGURG, the task
 * is first stepped n - 1 + PMON_STEP_FIRST instructions.  Then it is sent the
 * signal PMON_STEP, or, with 0, pmon is interrupted and the task paused right
 * there.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "stepped.h"

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
	return task_meets(request, pid, signal);
}
