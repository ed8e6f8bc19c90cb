/*
 * Leaves the frames of a library five times, by the longjmp that the compiler
 * makes in the program's own code.
 */
#include <stdlib.h>

static void *back[5];
static volatile int compared;

static int
order(const void *a, const void *b)
{
	compared += a != b;
	__builtin_longjmp(back, 1);
}

static __attribute__((noinline)) void
sort(void)
{
	int numbers[] = { 3, 1, 2 };

	if (!__builtin_setjmp(back))
		qsort(numbers, 3, sizeof(*numbers), order);
}

int
main(void)
{
	for (int i = 0; i < 5; i++)
		sort();
	return compared == 5 ? 0 : 1;
}
