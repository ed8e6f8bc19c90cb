/*
 * Preloaded into pmon: whenever pmon has begun to trace a process, and before it
 * interrupts the process, tells tests/prog/acts.c, by the file that PMON_ACT
 * names, to do what pmon is told of, and waits until the process stands still.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <unistd.h>

/* Whether the process stands still for its tracer. */
static int
stands(int pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		abort();
	fclose(f);
	return state == 't';
}

static void
act(int pid)
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

long
ptrace(enum __ptrace_request request, ...)
{
	long (*real)(enum __ptrace_request, int, void *, void *), result;
	void *addr, *data;
	va_list ap;
	int pid;

	va_start(ap, request);
	pid = va_arg(ap, int);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	*(void **)&real = dlsym(RTLD_NEXT, "ptrace");
	result = real(request, pid, addr, data);
	if (request == PTRACE_SEIZE && !result)
		act(pid);
	return result;
}
