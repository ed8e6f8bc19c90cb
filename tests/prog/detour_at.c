/*
 * Preloaded into pmon: has something happen to a task while that runs for pmon's
 * sake, with all signals blocked but SIGTRAP, or that too.  PMON_DETOUR=call:N,
 * step:N: another process sends it SIGTRAP before the Nth system call, or step;
 * call:each, step:each: before each.
 * PMON_DETOUR=pause:FILE: before pmon pauses a task, when that file is there, the
 * task is stopped for a SIGUSR1 with a value (detours.h), which is queued.
 * PMON_DETOUR=exec: it does not come to make a step, as another thread, which
 * waits within execve(2) for a page of memory (detours.h), goes on there.
 */
#define _GNU_SOURCE
#include <dirent.h>
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

/* Is a thread of its process in execve(2)? */
static int
thread_execs(void)
{
	char name[512], line[64];
	struct dirent *entry;
	int found = 0;
	FILE *file;
	DIR *dir;

	snprintf(name, sizeof(name), "/proc/%d/task", (int)masked);
	dir = opendir(name);
	while ((entry = readdir(dir))) {
		snprintf(name, sizeof(name), "/proc/%d/task/%s/syscall",
			 (int)masked, entry->d_name);
		file = fopen(name, "r");
		found |= file && fgets(line, sizeof(line), file) &&
			 atoi(line) == SYS_execve;
		if (file)
			fclose(file);
	}
	closedir(dir);
	return found;
}

/* It goes on.  This one is killed, and says so: its stop is over by then. */
static void
thread_go(void)
{
	static char page[PAGE_SIZE] __attribute__((aligned(PAGE_SIZE))) =
		PAGE_TEXT;
	int process = (int)syscall(SYS_pidfd_open, masked, 0);
	int fd = (int)syscall(SYS_pidfd_getfd, process, PAGE_FD, 0);
	struct uffdio_copy copy = {
		.dst = PAGE_AT, .src = (uintptr_t)page, .len = PAGE_SIZE,
	};
	siginfo_t info;

	if (ioctl(fd, UFFDIO_COPY, &copy))
		abort();
	waitid(P_PID, masked, &info, WSTOPPED | WNOWAIT | __WALL);
	close(fd);
	close(process);
}

/* true: it is not resumed. */
static int
resumed(enum __ptrace_request request)
{
	const char *how = getenv("PMON_DETOUR");

	if (how && !strncmp(how, "call:", 5) && request != PTRACE_SINGLESTEP)
		trap_send(how + 5);
	if (!how || request != PTRACE_SINGLESTEP)
		return 0;
	if (!strncmp(how, "step:", 5))
		trap_send(how + 5);
	if (strcmp(how, "exec") || !thread_execs())
		return 0;
	unsetenv("PMON_DETOUR");
	thread_go();
	return 1;
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
	if (masked == pid && (request == PTRACE_CONT ||
			      request == PTRACE_SYSCALL ||
			      request == PTRACE_SINGLESTEP) &&
	    resumed(request))
		return 0;
	return ptrace_really(request, pid, addr, data);
}
