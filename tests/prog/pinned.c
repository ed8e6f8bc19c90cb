/*
 * Prints which processors it may use, in every way that it can be asked for and
 * inherited, each time after it has entered 64 functions for the first time.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink;

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
ROUND(6)
ROUND(7)
ROUND(8)

static int
processors(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	return sched_getaffinity(0, sizeof(set), &set) ? -1 : CPU_COUNT(&set);
}

static void *
thread(void *unused)
{
	printf("thread: %d\n", processors());
	return unused;
}

static void
child(const char *nproc)
{
	fflush(stdout);
	if (!fork()) {
		printf("child: %d\n", processors());
		fflush(stdout);
		if (nproc)
			execlp(nproc, nproc, NULL);
		_exit(0);
	}
	wait(NULL);
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
status_read(const char *path, void (*round)(void))
{
	int file = open(path, O_RDONLY);

	round();
	status_print(file);
	close(file);
}

/* What a symbolic link to the file tells. */
static void
linked_print(void)
{
	char path[] = "/tmp/pinned-XXXXXX";
	int file = mkstemp(path);

	round_6();
	if (file >= 0 && !unlink(path) && !symlink("/proc/self/status", path))
		status_read(path, round_7);
	unlink(path);
	close(file);
}

/* What a child sees of this process, behind first entries. */
static void
parent_print(void)
{
	cpu_set_t set;
	int ends[2];
	char c;

	if (pipe(ends))
		return;
	fflush(stdout);
	if (!fork()) {
		if (read(ends[0], &c, 1) != 1 ||
		    sched_getaffinity(getppid(), sizeof(set), &set))
			_exit(1);
		printf("parent: %d\n", CPU_COUNT(&set));
		fflush(stdout);
		_exit(0);
	}
	round_8();
	if (write(ends[1], "", 1) == 1)
		wait(NULL);
}

/*
 * Another process keeps this one off the processor on which it is after its
 * first entries.
 */
static void
chosen_print(void)
{
	int here, ends[2];
	cpu_set_t set;

	if (pipe(ends))
		return;
	if (!fork()) {
		if (read(ends[0], &here, sizeof(here)) != sizeof(here))
			_exit(1);
		sched_getaffinity(0, sizeof(set), &set);
		CPU_CLR(here, &set);
		_exit(sched_setaffinity(getppid(), sizeof(set), &set) != 0);
	}
	round_4();
	here = sched_getcpu();
	if (write(ends[1], &here, sizeof(here)) < 0)
		return;
	wait(NULL);
	round_5();
	printf("chosen: %d\n", processors());
}

int
main(void)
{
	pthread_t tid;
	int file;

	printf("at first: %d\n", processors());
	/* Opened before there are first entries, read behind them. */
	status_read("/proc/self/status", round_0);
	printf("asked: %d\n", processors());
	round_1();
	child(NULL);
	round_2();
	child("nproc");
	linked_print();
	parent_print();
	round_3();
	pthread_create(&tid, NULL, thread, NULL);
	pthread_join(tid, NULL);
	fflush(stdout);
	if (!fork()) {
		chosen_print();
		return 0;
	}
	wait(NULL);
	round_4();
	file = open("/proc/self/status", O_RDONLY);
	status_print(file);
	round_5();
	status_print(file);
	return 0;
}
