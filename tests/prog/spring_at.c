/*
 * Preloaded into pmon: when pmon lets a task go on from SIGURG, the task is
 * first stepped until it has done a jump to a springboard.  Then PMON_SPRING
 * happens: a signal of that number is sent to the task, or, with 0, pmon is
 * interrupted and the task paused right there.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdlib.h>
#include <sys/user.h>

#include "stepped.h"

static unsigned long
task_pc(pid_t pid)
{
	struct user_regs_struct regs;

	if (ptrace_really(PTRACE_GETREGS, pid, NULL, &regs))
		abort();
	return regs.rip;
}

/* Step it until a jump e9 cc cc cc .. has been done. */
static void
spring_find(pid_t pid)
{
	bool jumps = false;
	long signal = SIGURG;

	while (!jumps) {
		unsigned long pc = task_pc(pid);
		long bytes;

		bytes = ptrace_really(PTRACE_PEEKTEXT, pid, (void *)pc, NULL);

		jumps = (bytes & 0xffffffff) == 0xcccccce9;
		task_step(pid, signal);
		signal = 0;
	}
}

static long
ptraced(enum __ptrace_request request, pid_t pid, void *addr, void *data)
{
	static bool done;
	const char *what = getenv("PMON_SPRING");
	int signal = what ? atoi(what) : 0;

	if (done || !what || (long)data != SIGURG ||
	    (request != PTRACE_CONT && request != PTRACE_SYSCALL))
		return ptrace_really(request, pid, addr, data);
	done = true;
	spring_find(pid);
	return task_meets(request, pid, signal);
}
