/*
 * Functions whose numbers of calls follow from arithmetic: ROUNDS times each
 * of nested calls, recursion, pointers, tail calls, and the pieces of
 * assembly in calls_asm.S.  Lines say how often they are entered.
 */
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"

#define NOINLINE __attribute__((noinline, noclone))

static volatile long sink;

NOINLINE void
leaf(void)
{
	sink++;				/* x R * 3 * 5 */
}

NOINLINE void
middle(void)
{
	int i;

	for (i = 0; i < 5; i++)		/* x R * 3 * 6 */
		leaf();			/* x R * 3 * 5 */
}

NOINLINE void
outer(void)
{
	int i;

	for (i = 0; i < 3; i++)		/* x R * 4 */
		middle();		/* x R * 3 */
}

/* Calls: 2 F(n + 1) - 1, for n = 10: 177. */
NOINLINE int fib(int n);
static int (*volatile again)(int) = fib;

NOINLINE int
fib(int n)
{
	if (n < 2)			/* x R * 177 */
		return n;		/* x R * 89 */
	sink++;				/* x R * 88 */
	return again(n - 1) + again(n - 2);	/* x R * 88 */
}

/* Mutual recursion: odd(7), even(6), ... even(0): 4 calls of each. */
NOINLINE int odd(int n);

NOINLINE int
even(int n)
{
	sink++;
	return n ? odd(n - 1) : 1;
}

NOINLINE int
odd(int n)
{
	sink++;
	return n ? even(n - 1) : 0;
}

NOINLINE static int
add(int a, int b)
{
	return a + b;
}

NOINLINE static int
sub(int a, int b)
{
	return a - b;
}

static int (*volatile ops[])(int, int) = { add, sub, add };

static int
compare(const void *a, const void *b)
{
	sink++;
	return *(const int *)a - *(const int *)b;
}

NOINLINE void
never(void)
{
	sink = 0;			/* x 0 */
}

/* Prints a digest of what the assembly computed. */
static void
assembly(int rounds)
{
	unsigned long digest = 0;
	char from[32] = "0123456789abcdef", to[32];
	long cell;
	int i;

	for (i = 0; i < rounds; i++) {
		ret_only();
		adjacent();
		loop_self(10);
		head_is_entry(10);
		self_is_entry(10);
		cell = 0;
		digest = digest * 31 + rep_first(to, from, 16) + to[15];
		digest = digest * 31 + rep_first(to, from, 0);
		digest = digest * 31 + flags_first();
		digest = digest * 31 + stack_segment();
		digest = digest * 31 + syscall_first(SYS_NONE);
		digest = digest * 31 + call_first();
		digest = digest * 31 + jump_first();
		digest = digest * 31 + jump_memory_first();
		digest = digest * 31 + call_memory_first();
		digest = digest * 31 + rip_first();
		digest = digest * 31 + lea_first() - (long)&lea_first_to;
		digest = digest * 31 + jrcxz_first(i & 1);
		digest = digest * 31 + lock_first(&cell);
		digest = digest * 31 + push_first(i);
		digest = digest * 31 + red_zone(i);
		digest = digest * 31 + cmp_first(i, 3);
		digest = digest * 31 + adc_first(i);
		digest = digest * 31 + sse_first();
		digest = digest * 31 + leave_first();
		digest = digest * 31 + prefix_first(i);
		digest = digest * 31 + cpuid_first();
		for (unsigned long n = 0; n < 3; n++)
			digest = digest * 31 + table_to_end(n);
	}
	printf("digest %lu\n", digest);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	int numbers[8] = { 5, 2, 8, 1, 9, 3, 7, 4 };
	int i, n;

	for (i = 0; i < rounds; i++) {	/* x R + 1 */
		outer();		/* x R */
		sink += fib(10);	/* x R */
		sink += odd(7);		/* x R */
		for (n = 0; n < 3; n++)
			sink += ops[n](n, i);
		tail_first(0);
	}
	qsort(numbers, 8, sizeof(int), compare);
	assembly(rounds);
	if (argc > 100)
		never();		/* x 0 */
	printf("sink %ld\n", sink);
	return 7;
}
