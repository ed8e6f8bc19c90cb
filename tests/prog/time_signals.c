/* Calls small functions while signals that it ignores arrive: each is a stop. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { CALLS = 200000, EACH = 10 };

static volatile long calls;

__attribute__((noinline)) static void
leaf(void)
{
	calls++;
}

__attribute__((noinline)) static void
middle(void)
{
	for (int i = 0; i < EACH; i++)
		leaf();
}

int
main(void)
{
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };

	signal(SIGALRM, SIG_IGN);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < CALLS; i++)
		middle();
	return calls != CALLS * EACH;
}
