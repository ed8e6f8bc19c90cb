/*
 * What formats of other tools have to show: loops, branches both ways and one,
 * a switch, recursion, calls by pointers, code that is excluded.  Argument: N.
 */
#include <stdio.h>
#include <stdlib.h>

static int
fact(int n)
{
	if (n < 2)
		return 1;
	return n * fact(n - 1);
}

static int
twice(int n)
{
	return 2 * n;
}

static int
kind(int n)
{
	switch (n % 8) {
	case 0: return 5;
	case 1: return 7;
	case 2: return 11;
	case 3: return 1;
	case 4: return 2;
	case 5: return 9;
	default: return 0;
	}
}

static int
never(int n)
{
	return n > 3 ? n : -n;
}

static void
unlucky(int n)
{
	if (n == 12345678)
		abort(); /* LCOV_EXCL_LINE */
	/* LCOV_EXCL_START */
	if (n == 23456789)
		abort();
	/* LCOV_EXCL_STOP */
	if (n == 34567890) /* LCOV_EXCL_BR_LINE */
		exit(3);
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10, sum = 0;
	int (*const how[])(int) = { fact, twice, kind };

	for (int i = 0; i < n && sum < 1000000; i++) {
		sum += how[i % 3](i % 7);
		if (i % 5 == 4 || i == 3)
			sum += twice(i);
	}
	while (n-- > 0)
		unlucky(n);
	if (sum == 3)
		sum = never(sum);
	printf("%d\n", sum);
	return 0;
}
