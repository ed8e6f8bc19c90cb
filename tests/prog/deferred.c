/*
 * Two threads, one of which only waits.  The other calls function number n,
 * from 0 to 99, n times: all of them once, then those of 2 calls again, and so
 * on.  "fork": a child, forked when each has been called up to 20 times, calls
 * the rest, and so does the parent.  "signal": so does a handler, which a
 * function in the middle raises a signal for; it calls each once more.  "trap",
 * "blocked": the same, and the signal is SIGTRAP; it is blocked, too, but where
 * it is raised.  The program tells what becomes of SIGTRAP.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sum;
static int ends[2];

/* With LATE nothing is counted before the first call in each function. */
__attribute__((noinline)) static void
add(long n)
{
	sum += n;
}

#ifdef LATE
#define BODY(n) \
	add(n); \
	if (sum & 1) \
		sum *= 3; \
	if (sum & 2) \
		sum ^= 100 * n;
#else
#define BODY(n) \
	sum += n; \
	if (sum & 1) \
		sum *= 3;
#endif

#define F(n) \
	__attribute__((noinline)) static void f##n(void) \
	{ \
		BODY(n) \
	}
#define TEN(X, n) \
	X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) \
	X(n##8) X(n##9)
#define HUNDRED(X) \
	TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7) \
	TEN(X, 8) TEN(X, 9) TEN(X, 10)
HUNDRED(F)
#define NAME(n) f##n,
static void (*const functions[])(void) = { HUNDRED(NAME) };

static void
calls(int from, int to)
{
	for (int round = from; round < to; round++)
		for (int i = round + 1; i < 100; i++)
			functions[i]();
}

static void
handler(int signal)
{
	(void)signal;
	for (int i = 0; i < 100; i++)
		functions[i]();
}

/* Block SIGTRAP, or unblock it; returns whether it was blocked. */
static int
blocks(int block)
{
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &set, &old);
	return sigismember(&old, SIGTRAP);
}

static void *
wait_on(void *unused)
{
	char byte;

	(void)unused;
	return read(ends[0], &byte, 1) < 0 ? ends : NULL;
}

int
main(int argc, char **argv)
{
	struct sigaction trap;
	int raised = SIGUSR1;
	pthread_t thread;
	pid_t child = 1;

	if (pipe(ends) || pthread_create(&thread, NULL, wait_on, NULL))
		return 1;
	if (argc > 1 && (!strcmp(argv[1], "trap") || !strcmp(argv[1], "blocked")))
		raised = SIGTRAP;
	signal(raised, handler);
	blocks(argc > 1 && !strcmp(argv[1], "blocked"));
	calls(0, 20);
	if (argc > 1 && !strcmp(argv[1], "fork"))
		child = fork();
	if (argc > 1 && child > 0 && strcmp(argv[1], "fork")) {
		int blocked = blocks(0);

		raise(raised);
		blocks(blocked);
	}
	calls(20, 100);
	printf("%ld\n", sum);
	sigaction(SIGTRAP, NULL, &trap);
	printf("SIGTRAP is %s, and %s\n", trap.sa_handler == handler ?
	       "handled" : "left alone", blocks(0) ? "blocked" : "open");
	fflush(stdout);
	if (!child)
		return 0;
	if (child > 1)
		waitpid(child, NULL, 0);
	if (write(ends[1], "", 1) != 1)
		return 1;
	return pthread_join(thread, NULL);
}
