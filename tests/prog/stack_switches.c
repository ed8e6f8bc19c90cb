/*
 * Stack switches that are alike but for something that matters: stack_switches
 * TEST [N].  Prints how often a function was called that never returns, and how
 * often a line behind such calls was reached; pmon is to count the same.  Where
 * handlers leave what they interrupt, the function may have been called more
 * often, but not more than the third number says: the handler may come between
 * a call and its count.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static _Thread_local sigjmp_buf back;
static _Thread_local volatile long sink;
static long left, passed, leaving;

static void
count(long *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

NOINLINE void
leave(void)
{
	count(&left);
	siglongjmp(back, 1);
}

/* Control comes behind the call only if it does not leave. */
NOINLINE void
maybe(int leaves)
{
	if (leaves) {
		count(&leaving);
		leave();
	}
	count(&passed);
	sink++;
}

/* The same return addresses, in frames of other sizes. */
NOINLINE void
sized(size_t size, int leaves)
{
	volatile char *room = alloca(size);

	room[0] = 1;
	maybe(leaves);
	sink += room[0];
}

NOINLINE void
deep(int depth, int leaves)
{
	if (depth)
		deep(depth - 1, leaves);
	else
		maybe(leaves);
	sink++;
}

/* Two places that are come to from the same depth. */
NOINLINE void
twice(int which, int leaves)
{
	if (which) {
		if (!sigsetjmp(back, 0))
			sized(64, leaves);
		sink++;
		return;
	}
	if (!sigsetjmp(back, 0))
		deep(2, leaves);
	sink += 2;
}

static void
some(long n)
{
	for (volatile long i = 0; i < n; i++) {
		if (!sigsetjmp(back, 0))
			sized((size_t)(i % 5) * 48 + 16, i % 3 != 0);
		if (!sigsetjmp(back, 0))
			deep((int)(i % 7), i % 4 != 0);
		twice(i % 2, i % 5 != 0);
	}
}

static void *
thread(void *n)
{
	some(*(long *)n);
	return NULL;
}

static void
threads(long n)
{
	pthread_t ids[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, thread, &n);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
}

/* Children that go on where patterns are known, each with its own counts. */
static void
children(long n)
{
	int status;

	some(n);
	for (int i = 0; i < 3; i++) {
		if (!fork()) {
			left = passed = leaving = 0;
			some(n + i);
			printf("%ld %ld %ld\n", left, passed, leaving);
			fflush(stdout);
			_exit(0);
		}
		wait(&status);
	}
}

static volatile sig_atomic_t handled;
static int leaves_handler;

/* A switch within another's filter, or out of a handler. */
NOINLINE void
handler(int signal)
{
	sigjmp_buf outer;

	(void)signal;
	handled++;
	memcpy(outer, back, sizeof(outer));
	if (leaves_handler && handled % 3 == 0) {
		count(&leaving);
		leave();
	}
	if (!sigsetjmp(back, 0))
		maybe(1);
	memcpy(back, outer, sizeof(outer));
}

/* Signals come at any instruction, one after the other, until n have come. */
static void
signals(long n)
{
	const struct itimerval once = { { 0, 0 }, { 0, 60 } };
	volatile long sent = 0;

	signal(SIGALRM, handler);
	for (volatile long i = 0; handled < n; i++) {
		if (sent == handled) {
			sent++;
			setitimer(ITIMER_REAL, &once, NULL);
		}
		if (!sigsetjmp(back, 1))
			deep((int)(i % 3), 1);
	}
}

/* ---- contexts */

enum { CONTEXTS = 5, STACK = 32768 };

static ucontext_t home, contexts[CONTEXTS];
static long each[CONTEXTS];
static long rounds;

NOINLINE void
swap_deep(int self, int depth)
{
	if (depth)
		swap_deep(self, depth - 1);
	else
		swapcontext(&contexts[self], &home);
	sink++;
}

static void
context(int self)
{
	for (long i = 0; i < rounds; i++) {
		each[self]++;
		swap_deep(self, (int)(i % 3));
	}
}

static void
swaps(long n)
{
	rounds = n;
	for (int i = 0; i < CONTEXTS; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = malloc(STACK);
		contexts[i].uc_stack.ss_size = STACK;
		contexts[i].uc_link = &home;
		makecontext(&contexts[i], (void (*)(void))context, 1, i);
	}
	for (volatile long i = 0; i < (n + 1) * CONTEXTS; i++)
		swapcontext(&home, &contexts[i * 7 % CONTEXTS]);
	for (int i = 0; i < CONTEXTS; i++)
		left += each[i];
}

int
main(int argc, char **argv)
{
	const char *test = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 50;

	if (!strcmp(test, "threads"))
		threads(n);
	else if (!strcmp(test, "children"))
		children(n);
	else if (!strcmp(test, "signals"))
		signals(n);
	else if (!strcmp(test, "leaves"))
		leaves_handler = 1, signals(n);
	else if (!strcmp(test, "swaps"))
		swaps(n);
	else
		some(n);
	printf("%ld %ld %ld\n", left, passed, leaving);
	return 0;
}
