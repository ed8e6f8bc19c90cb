/*
 * Preloaded into pmon: when pmon gives one thread of a program the second
 * SIGTRAP, the program's other thread, if it runs, first goes on in its handler
 * and comes to a stop.  The same when one thread asks for the action of SIGTRAP,
 * just before pmon pauses the other, or else lets the first go on: then pmon
 * waits until the first has asked.  They share the file PMON_GIVEN (given.c).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "given.h"

static struct given *
given_map(void)
{
	const char *path = getenv("PMON_GIVEN");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map = fd < 0 ? MAP_FAILED :
			     mmap(NULL, sizeof(struct given),
				  PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		abort();
	close(fd);
	return map;
}

/* Does the thread run, and is not stopped for pmon? */
static int
thread_runs(pid_t tid)
{
	char path[64], line[256] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	file = fopen(path, "r");
	if (!file || !fgets(line, sizeof(line), file))
		abort();
	fclose(file);
	end = strrchr(line, ')');
	return end && (end[2] == 'R' || end[2] == 'S');
}

/* Did the thread run? */
static int
thread_go(struct given *given)
{
	int runs = thread_runs(given->thread);
	siginfo_t info;

	given->go = 1;
	if (runs)
		waitid(P_PID, given->thread, &info,
		       WSTOPPED | WNOWAIT | __WALL);
	return runs;
}

/* Is the other thread to run into its trap before this request? */
static int
is_time(const struct given *given, enum __ptrace_request request, pid_t pid,
	uintptr_t data)
{
	int resumes = request == PTRACE_CONT || request == PTRACE_SYSCALL ||
		      request == PTRACE_SINGLESTEP;

	if (!given->thread || given->go)
		return 0;
	if (pid == given->thread)
		return given->looks && request == PTRACE_INTERRUPT;
	return resumes && (given->looks || data == SIGTRAP);
}

long
ptrace(enum __ptrace_request request, ...)
{
	static long (*real)(enum __ptrace_request, ...);
	static struct given *given;
	va_list ap;
	pid_t pid;
	void *addr, *data;
	long result;
	int went;

	if (!real) {
		*(void **)&real = dlsym(RTLD_NEXT, "ptrace");
		given = given_map();
	}
	va_start(ap, request);
	pid = va_arg(ap, pid_t);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	went = is_time(given, request, pid, (uintptr_t)data) &&
	       thread_go(given);
	result = real(request, pid, addr, data);
	if (went && given->looks && pid != given->thread)
		while (!given->looked && thread_runs(pid))
			;
	return result;
}
