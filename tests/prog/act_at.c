/*
 * Preloaded into pmon: whenever pmon has begun to trace a process, and before it
 * interrupts the process, tells tests/prog/acts.c, by the file that PMON_ACT
 * names, to do what pmon is told of, and waits until the process stands still.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ptraced.h"

/* Whether the process stands still for its tracer. */
static int
stands(pid_t pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		abort();
	fclose(f);
	return state == 't';
}

static void
act(pid_t pid)
{
	int fd = open(getenv("PMON_ACT"), O_RDWR);
	volatile int *go = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
				fd, 0);

	if (go == MAP_FAILED)
		abort();
	close(fd);
	*go = 1;
	while (!stands(pid))
		sched_yield();
	munmap((void *)go, 4096);
}

static long
ptraced(enum __ptrace_request request, pid_t pid, void *addr, void *data)
{
	sigset_t all, mask;
	long result;

	if (request != PTRACE_SEIZE)
		return ptrace_really(request, pid, addr, data);
	/* By a timer pmon jumps out of a request that lasts: not out of act. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	result = ptrace_really(request, pid, addr, data);
	if (!result)
		act(pid);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return result;
}
