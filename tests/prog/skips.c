/*
 * skips N: adds to a counter N times by an instruction whose lock prefix is
 * jumped past in two of three cases, as libraries do where there is one thread.
 * Without an argument, until a signal comes.  Says whether the sum is right.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t ended;
static long counter;

static void
on_term(int signal)
{
	(void)signal;
	ended = 1;
}

/* Its last block is always passed, with the prefix or without. */
__attribute__((noipa)) static void
bump(long shared, long n)
{
	__asm__ volatile("test %[shared], %[shared]\n\tje 1f\n\tlock\n"
			 "1:\txadd %[n], %[counter]"
			 : [n] "+r"(n), [counter] "+m"(counter)
			 : [shared] "r"(shared) : "cc");
	if (n < 0)
		abort();
}

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : -1, i = 0;

	signal(SIGTERM, on_term);
	for (; i != n && !ended; i++)
		bump(i % 3 == 0, 2);
	puts(counter == 2 * i ? "right" : "wrong");
	return 0;
}
