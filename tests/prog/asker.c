/*
 * Has another thread print which processors the main thread may use, in every
 * way that it can ask, each time when that has entered 64 functions for the first
 * time and makes no system call.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink;
static atomic_int asked, answered;
static int early = -1;		/* a file that was opened before */

#define FUNC(n) \
	__attribute__((noinline, noclone)) static void \
	func_##n(void) \
	{ \
		sink += 1##n; \
	}
#define FUNCS(n) \
	FUNC(n##0) FUNC(n##1) FUNC(n##2) FUNC(n##3) \
	FUNC(n##4) FUNC(n##5) FUNC(n##6) FUNC(n##7)
#define CALLS(n) \
	func_##n##0(); func_##n##1(); func_##n##2(); func_##n##3(); \
	func_##n##4(); func_##n##5(); func_##n##6(); func_##n##7();
#define ROUND(n) \
	FUNCS(n##0) FUNCS(n##1) FUNCS(n##2) FUNCS(n##3) \
	FUNCS(n##4) FUNCS(n##5) FUNCS(n##6) FUNCS(n##7) \
	static void \
	round_##n(void) \
	{ \
		CALLS(n##0) CALLS(n##1) CALLS(n##2) CALLS(n##3) \
		CALLS(n##4) CALLS(n##5) CALLS(n##6) CALLS(n##7) \
	}

ROUND(0)
ROUND(1)
ROUND(2)
ROUND(3)
ROUND(4)
ROUND(5)

static void
set_print(const char *how, pid_t tid)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	printf("%s: %d of %d\n", how,
	       sched_getaffinity(tid, sizeof(set), &set) ? -1 : CPU_COUNT(&set),
	       (int)sysconf(_SC_NPROCESSORS_ONLN));
}

static void
status_print(int file)
{
	char text[8192], *found;
	ssize_t n = pread(file, text, sizeof(text) - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
	found = strstr(text, "Cpus_allowed_list:");
	printf("status: %.*s\n", found ? (int)strcspn(found, "\n") : 0, found);
}

static void
status_ask(const char *path)
{
	int file = open(path, O_RDONLY);

	status_print(file);
	close(file);
}

static void
child_ask(void)
{
	fflush(stdout);
	if (!fork()) {
		set_print("parent", getppid());
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
}

static void
number_ask(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	syscall(SYS_sched_getaffinity, getpid(), sizeof(set), &set);
	printf("by number: %d\n", CPU_COUNT(&set));
}

static void
ask(int n)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/status",
		 (int)getpid());
	if (n == 1)
		set_print("thread", getpid());
	else if (n == 2)
		status_ask("/proc/self/status");
	else if (n == 3)
		status_ask(path);
	else if (n == 4)
		child_ask();
	else if (n == 5)
		number_ask();
	else
		status_print(early);
}

static void *
asker(void *unused)
{
	for (int n = 1; n <= 6; n++) {
		while (atomic_load(&asked) < n)
			;
		ask(n);
		atomic_store(&answered, n);
	}
	return unused;
}

/* Neither makes a system call. */
static void
wait_for(int n)
{
	atomic_store(&asked, n);
	while (atomic_load(&answered) < n)
		;
}

int
main(void)
{
	pthread_t thread;

	set_print("at first", 0);
	if (pthread_create(&thread, NULL, asker, NULL))
		return 1;
	round_0();
	wait_for(1);
	round_1();
	wait_for(2);
	round_2();
	wait_for(3);
	round_3();
	wait_for(4);
	round_4();
	wait_for(5);
	early = open("/proc/self/status", O_RDONLY);
	round_5();
	wait_for(6);
	return pthread_join(thread, NULL);
}
