/*
 * Preloaded into pmon: whenever it is about to open a descriptor of another
 * process (/proc/PID/fd/N), tells the helper of tests/prog/hostile.c before, by
 * the file that PMON_SWAP names, and after.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What is asked of the helper, and what it has done. */
static volatile int *shared;

static void
tell(int what)
{
	const char *path = getenv("PMON_SWAP");
	int fd;

	if (!shared && path) {
		fd = open(path, O_RDWR);
		shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			      fd, 0);
		close(fd);
	}
	if (!shared)
		return;
	shared[1] = 0;
	shared[0] = what;
	while (!shared[1])
		sched_yield();
	shared[2]++;
}

static int
opened(const char *name, const char *path, int flags, mode_t mode)
{
	int (*real)(const char *, int, mode_t);
	int pid, fd, got;

	*(void **)&real = dlsym(RTLD_NEXT, name);
	if (sscanf(path, "/proc/%d/fd/%d", &pid, &fd) != 2)
		return real(path, flags, mode);
	tell(fd + 1);
	got = real(path, flags, mode);
	tell(-1);
	return got;
}

int
open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return opened("open", path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return opened("open64", path, flags, mode);
}
