/*
 * Functions that end in every way: by exceptions, jumps and faults, in threads,
 * in a child process, at exit and, with an argument, where a timer's signal comes
 * whose handler jumps every other time.  Without one, each run does the same.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNC extern "C" __attribute__((noinline))

enum { ROUNDS = 10, THREADS = 3, TICKS = 200 };

static volatile int sink;
static volatile sig_atomic_t ticks;
static sigjmp_buf place;

FUNC int
leaf(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i & 3 ? i : sink;
	return sum;
}

FUNC void
throws(int n)
{
	if (!n)
		throw 5;
	throws(n - 1);
	sink = sink + 1;
}

FUNC int
catches(int n)
{
	int sum = 0;

	try {
		throws(n);
		sink = 3;
	} catch (int thrown) {
		sum = leaf(thrown);
	}
	return sum + leaf(2);
}

FUNC int
tail_end(int n)
{
	return leaf(n) + 1;
}

FUNC int
tail(int n)
{
	if (n & 1)
		return tail_end(n + 1);
	return tail_end(n);
}

FUNC void
returns(int signal)
{
	sink = sink + leaf(7);
}

FUNC void
jumps(int signal)
{
	sink = sink + 1;
	siglongjmp(place, 1);
}

FUNC int
interrupted(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += leaf(i);
		raise(SIGUSR1);
		sink = sink - 1;
	}
	return sum;
}

FUNC int
left(int n)
{
	if (sigsetjmp(place, 1)) {
		sink = sink - 1;
	} else {
		leaf(n);
		raise(SIGUSR2);
		sink = 99;
		leaf(4);
	}
	return leaf(n + 1);
}

FUNC int
faults(int n)
{
	static volatile int *volatile nowhere;

	if (!sigsetjmp(place, 1)) {
		sink = leaf(n);
		*nowhere = 1;
		sink = sink + 7;
	}
	return leaf(n + 1);
}

FUNC void *
thread(void *arg)
{
	for (int i = 0; i < 2 * ROUNDS; i++)
		sink = catches(*(int *)arg) + tail(i);
	return NULL;
}

FUNC int
has_child(int n)
{
	int status;
	pid_t pid;

	sink = sink + 1;
	pid = fork();
	if (!pid)
		_exit(leaf(n) & 7);
	waitpid(pid, &status, 0);
	return leaf(5) + WEXITSTATUS(status);
}

FUNC void
exits(int n)
{
	if (!n)
		exit(0);
	exits(n - 1);
	sink = sink + 1;
}

FUNC void
ticked(int signal)
{
	if (++ticks % 2)
		siglongjmp(place, 1);
	leaf(ticks % 5);
}

FUNC void
waits(void)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = {};

	signal(SIGALRM, ticked);
	if (!sigsetjmp(place, 1))
		setitimer(ITIMER_REAL, &often, NULL);
	while (ticks < TICKS)
		sink = tail(sink & 15);
	setitimer(ITIMER_REAL, &never, NULL);
}

int
main(int argc, char **argv)
{
	static int depths[THREADS] = { 0, 1, 2 };
	pthread_t threads[THREADS];
	int sum = 0;

	signal(SIGUSR1, returns);
	signal(SIGUSR2, jumps);
	signal(SIGSEGV, jumps);
	if (argc > 1)
		waits();
	for (int i = 0; i < ROUNDS; i++)
		sum += catches(i) + tail(i);
	sum += interrupted(ROUNDS);
	for (int i = 0; i < 3; i++)
		sum += left(i) + faults(i);
	for (int i = 0; i < THREADS; i++) {
		pthread_create(&threads[i], NULL, thread, &depths[i]);
		pthread_join(threads[i], NULL);
	}
	sum += has_child(4);
	printf("%d\n", sum);
	fflush(stdout);
	exits(9);
	return 0;
}
