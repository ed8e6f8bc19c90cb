/*
 * leaps N: leaves a function N times by longjmp, and says how often it was
 * switched away from of its own accord meanwhile: as often as it was stopped.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static jmp_buf back;

__attribute__((noinline)) static void
leap(int i)
{
	longjmp(back, i);
}

static long
switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

int
main(int argc, char **argv)
{
	volatile int n = argc > 1 ? atoi(argv[1]) : 1000, i = 0;
	long before = switches();

	while (i++ < n)
		if (!setjmp(back))
			leap(i);
	printf("stopped %ld times\n", switches() - before);
	return 0;
}
