/*
 * When it is told to, makes children with CLONE_UNTRACED that call step() while
 * their maker calls it, too, and one that calls it after the thread that made
 * it has ended.  step() is called STEPS times in each of 8 calls of steps().
 */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 1000000, TOP = (1 << 16) - 64 };

/* In memory that all share: how many have come to the same place. */
static volatile int *met;
static char stack[1 << 16] __attribute__((aligned(16)));
static int told[2];

__attribute__((noinline)) int
step(int n)
{
	/* Long enough for a jump. */
	__asm__ volatile("" : "+r"(n));
	return n ^ 0x1234567;
}

__attribute__((noinline)) int
steps(void)
{
	int sum = 0;

	for (int i = 0; i < STEPS; i++)
		sum += step(i) & 1;
	return sum;
}

/* Wait for the other, so that both count at once. */
static void
meet(void)
{
	__atomic_add_fetch(met, 1, __ATOMIC_SEQ_CST);
	while (*met < 2)
		sched_yield();
}

static int
together(void *arg)
{
	meet();
	return steps() != STEPS / 2;
}

static int
alone(void *arg)
{
	return steps() != STEPS / 2;
}

static void
end(const char *what, long pid)
{
	int status = -1;

	if (pid < 0 || waitpid((pid_t)pid, &status, __WALL) != pid || status) {
		printf("%s: status %x\n", what, (unsigned)status);
		exit(1);
	}
	*met = 0;
}

static void *
thread(void *arg)
{
	long *pid = arg;
	char byte;

	*pid = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
	if (!*pid)
		_exit(read(told[0], &byte, 1) != 1 || alone(NULL));
	return NULL;
}

static void
all(void)
{
	struct clone_args args = {
		.flags = CLONE_UNTRACED,
		.exit_signal = SIGCHLD,
	};
	pthread_t maker;
	long pid;

	pid = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		_exit(together(NULL));
	together(NULL);
	end("clone", pid);

	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (!pid)
		_exit(together(NULL));
	together(NULL);
	end("clone3", pid);

	pid = clone(together, stack + TOP, CLONE_UNTRACED | CLONE_VM | SIGCHLD,
		    NULL);
	together(NULL);
	end("CLONE_VM", pid);

	pid = clone(alone, stack + TOP, CLONE_UNTRACED | CLONE_VM |
		    CLONE_VFORK | SIGCHLD, NULL);
	end("CLONE_VFORK", pid);

	if (pthread_create(&maker, NULL, thread, &pid) ||
	    pthread_join(maker, NULL) || write(told[1], "x", 1) != 1)
		exit(1);
	end("thread", pid);
}

int
main(void)
{
	met = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (met == MAP_FAILED || pipe(told))
		return 1;
	printf("ready\n");
	fflush(stdout);
	getchar();
	all();
	printf("done\n");
	fflush(stdout);
	getchar();
	return 21;
}
