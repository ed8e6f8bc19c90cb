/*
 * PROGRAM HOW DEPTH: leaves, doubles or ends its stack in the depth of its
 * calls, of which the last is made by code that no unwinder's table tells of:
 * by exit (e), longjmp (j), a fork (f) or a signal (k).  Lines say how often
 * they run: BACK is how often a call of deep comes back.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "through.h"

static jmp_buf out;
static volatile int sum;
static char how;

static __attribute__((noinline)) void
touch(int n)
{
	sum += n;
}

/* First entered when a stack has been lost, if how is f. */
static __attribute__((noinline)) void
late(int n)
{
	if (n & 1)
		touch(1);		/* x LATE * ODD */
	else if (n & 2)
		touch(2);		/* x LATE * TWO */
	else
		touch(3);		/* x LATE * (DEPTH + 1 - ODD - TWO) */
	sum++;				/* x LATE * (DEPTH + 1) */
	if (n)
		late(n - 1);		/* x LATE * DEPTH */
	else
		_exit(0);		/* x LATE */
	sum++;				/* x 0 */
}

static __attribute__((noinline)) void
act(void)
{
	pid_t pid;

	sum++;				/* x 1 */
	if (how == 'e')
		exit(0);		/* x E */
	if (how == 'j')
		longjmp(out, 1);	/* x J */
	if (how == 'k')
		raise(SIGKILL);		/* x K */
	pid = fork();			/* x F */
	if (pid)
		waitpid(pid, NULL, 0);	/* x F */
}

static __attribute__((noinline)) void
deep(int n)
{
	sum++;				/* x DEPTH + 1 */
	if (n)
		deep(n - 1);		/* x DEPTH */
	else
		through(act);		/* x 1 */
	sum++;				/* x BACK */
}

int
main(int argc, char **argv)
{
	int depth = atoi(argv[2]);

	how = argv[1][0];
	if (!setjmp(out))
		deep(depth);		/* x 1 */
	if (how == 'f')
		late(depth);		/* x LATE */
	return sum == depth + 2 ? 0 : 1;	/* x J */
}
