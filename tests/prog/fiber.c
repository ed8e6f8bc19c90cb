/*
 * PROGRAM HOW: a coroutine that begins with 0 as its return address ends the
 * program in the depth of its calls: by exit (e), a signal (k), a fork of which
 * both processes exit (f), or back on the first stack (b).  Lines say how often
 * they run: F is 1 if HOW is f, and so on.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "change.h"

enum { DEPTH = 3 };

static void *outside, *inside;
static volatile int sum;
static char how;

static __attribute__((noinline)) void
act(void)
{
	sum++;				/* x 1 */
	if (how == 'e')
		exit(0);		/* x E */
	if (how == 'k')
		raise(SIGKILL);		/* x K */
	if (how == 'f' && fork())
		wait(NULL);		/* x F */
	change(&inside, outside);	/* x B + 2 * F */
	sum++;				/* x 2 * F */
	if (how == 'f')
		_exit(0);		/* x 2 * F */
}

static __attribute__((noinline)) void
deep(int n)
{
	sum++;				/* x DEPTH + 1 */
	if (n)
		deep(n - 1);		/* x DEPTH */
	else
		act();			/* x 1 */
	sum++;				/* x 0 */
}

static void
first(void)
{
	sum++;				/* x 1 */
	deep(DEPTH);			/* x 1 */
	abort();			/* x 0 */
}

static __attribute__((noinline)) void
go(void)
{
	sum++;				/* x 1 + 2 * F */
	change(&outside, inside);	/* x 1 + 2 * F */
	sum++;				/* x B + 2 * F */
}

int
main(int argc, char **argv)
{
	how = argv[1][0];
	inside = stack_make(first);
	go();				/* x 1 */
	if (how == 'f')
		go();			/* x 2 * F */
	return 0;			/* x B */
}
