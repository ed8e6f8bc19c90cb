/*
 * Preloaded into pmon: has something happen to a task while that runs for pmon's
 * sake, with all signals blocked but SIGTRAP, or that too.  PMON_DETOUR=call:N,
 * step:N: another process sends it SIGTRAP before the Nth system call, or step;
 * call:each, step:each: before each.
 * PMON_DETOUR=pause:FILE: before pmon pauses a task, when that file is there, the
 * task is stopped for a SIGUSR1 with a value (detours.h), which is queued.
 * PMON_DETOUR=exec: it does not come to make a step, as another thread, which
 * waits within execve(2) for a page of memory (detours.h), goes on there.
 * PMON_DETOUR=exec:end: the same, but the step reaches it at its end, which pmon
 * is not told of then.
 * PMON_DETOUR=fork: a task that has made a child does not come to tell which one,
 * for the same reason.
 */
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "detours.h"
#include "ptraced.h"

static pid_t masked;		/* has its signals blocked */

static void
trap_send(const char *at)
{
	static int seen;
	pid_t sender;

	if (++seen != atoi(at) && strcmp(at, "each"))
		return;
	sender = fork();
	if (!sender)
		_exit(syscall(SYS_tkill, masked, SIGTRAP) != 0);
	while (waitpid(sender, NULL, 0) < 0)
		;
}

static void
user_send(pid_t pid, const char *file)
{
	siginfo_t info;

	if (unlink(file))
		return;
	if (sigqueue(pid, SIGUSR1, (union sigval){ USER_VALUE }))
		abort();
	waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT | __WALL);
}

/*
 * Let the thread that waits for the page go on; false if none waits.  Only the
 * userfaultfd tells: once pmon has asked the thread to pause it does not sleep,
 * but faults again and again, and /proc says of its system call only that it is
 * running.  This task is killed, and says so: its stop is over by then.
 */
static int
thread_go(pid_t tid)
{
	static char page[PAGE_SIZE] __attribute__((aligned(PAGE_SIZE))) =
		PAGE_TEXT;
	int process = (int)syscall(SYS_pidfd_open, tid, 0);
	int fd = (int)syscall(SYS_pidfd_getfd, process, PAGE_FD, 0);
	struct uffdio_copy copy = {
		.dst = PAGE_AT, .src = (uintptr_t)page, .len = PAGE_SIZE,
	};
	struct uffd_msg fault;
	int waits = read(fd, &fault, sizeof(fault)) == sizeof(fault);
	siginfo_t info;

	if (waits && ioctl(fd, UFFDIO_COPY, &copy))
		abort();
	if (waits)
		waitid(P_PID, tid, &info, WSTOPPED | WNOWAIT | __WALL);
	close(fd);
	close(process);
	return waits;
}

/* If the task has made a child just now, and a thread waits for the page. */
static void
maker_end(pid_t tid)
{
	unsigned long child = 0;

	if (!ptrace_really(PTRACE_GETEVENTMSG, tid, NULL, &child) && child &&
	    thread_go(tid))
		unsetenv("PMON_DETOUR");
}

/* true: it is not resumed. */
static int
resumed(enum __ptrace_request request)
{
	const char *how = getenv("PMON_DETOUR");
	int unheard;

	if (how && !strncmp(how, "call:", 5) && request != PTRACE_SINGLESTEP)
		trap_send(how + 5);
	if (!how || request != PTRACE_SINGLESTEP)
		return 0;
	if (!strncmp(how, "step:", 5))
		trap_send(how + 5);
	if (strncmp(how, "exec", 4) || !thread_go(masked))
		return 0;
	unheard = !strcmp(how, "exec");
	unsetenv("PMON_DETOUR");
	return unheard;
}

static long
ptraced(enum __ptrace_request request, pid_t pid, void *addr, void *data)
{
	const char *how = getenv("PMON_DETOUR");
	uint64_t mask = 0;

	if (request == PTRACE_SETSIGMASK) {
		memcpy(&mask, data, sizeof(mask));
		masked = __builtin_popcountll(mask) >= 63 ? pid : 0;
		/* As another process may, before pmon sends one of its own. */
		if (masked && how && !strcmp(how, "child"))
			syscall(SYS_tgkill, pid, pid, SIGCHLD);
	}
	if (request == PTRACE_INTERRUPT && how && !strncmp(how, "pause:", 6))
		user_send(pid, how + 6);
	if (request == PTRACE_GETEVENTMSG && how && !strcmp(how, "fork"))
		maker_end(pid);
	if (masked == pid && (request == PTRACE_CONT ||
			      request == PTRACE_SYSCALL ||
			      request == PTRACE_SINGLESTEP) &&
	    resumed(request))
		return 0;
	return ptrace_really(request, pid, addr, data);
}
