/*
 * Calls longjmp out of DEPTH + 1 frames N times.  Its own functions are in a
 * segment far from those of the C library, which is linked in: traps of the
 * one can be refused without those of the other.
 */
#include <setjmp.h>

enum { N = 10, DEPTH = 3 };
#define FAR __attribute__((noinline, section(".far")))

static jmp_buf env;
static volatile int sum;

static FAR void
deep(int n)
{
	sum++;
	if (n)
		deep(n - 1);
	else
		longjmp(env, 1);
	sum++;
}

static FAR void
leave(void)
{
	if (!setjmp(env))
		deep(DEPTH);
	sum++;
}

FAR int
main(void)
{
	for (int i = 0; i < N; i++)
		leave();
	return sum != N * (DEPTH + 2);
}
