/*
 * Waits in a vfork until its input has a byte or has ended, then makes children
 * with CLONE_UNTRACED until its input has ended.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOP = (1 << 16) - 64, CHILDREN = 5 };

static char stack[1 << 16] __attribute__((aligned(16)));
static volatile int sink;

__attribute__((noinline)) int
work(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
	return n;
}

static int
first(void *arg)
{
	char byte;

	return read(0, &byte, 1) == 1 ? 1 : 2;
}

static int
later(void *arg)
{
	return work(3);
}

static void
child(int (*fn)(void *))
{
	int status = -1;
	int pid = clone(fn, stack + TOP, CLONE_UNTRACED | CLONE_VM |
			CLONE_VFORK | SIGCHLD, NULL);

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		printf("no child\n");
	printf("%x\n", (unsigned)status);
}

int
main(void)
{
	child(first);
	for (int i = 0; i < CHILDREN; i++)
		child(later);
	return work(8) != 8;
}
