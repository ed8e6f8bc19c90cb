/*
 * What reports of code are tested with: how often all of it happens follows
 * from the argument n, a multiple of 8.
 */
#include <stdlib.h>

#define FUNC __attribute__((noinline)) static

static volatile long sink;
static long (*volatile pointer)(long);

FUNC long
leaf(long x)
{
	sink += x;
	return x + 1;
}

FUNC long
twice(long x)
{
	return leaf(x) + leaf(x);	/* n/4 each */
}

/* Each case n/8 times. */
FUNC long
pick(long x)
{
	switch (x & 7) {
	case 0: return 3;
	case 1: sink += 2; return 4;
	case 2: return sink;
	case 3: sink = 5; return 1;
	case 4: return x * 3;
	case 5: sink--; return 7;
	case 6: return x / 3;
	case 7: sink ^= 1; return 9;
	}
	return 0;
}

FUNC long
idle(long x)
{
	return leaf(x) * 5;
}

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 8;

	for (long i = 0; i < n; i++) {	/* loop: 1 time, n + 1 rounds */
		sink += pick(i);
		pointer = i % 4 ? leaf : twice;
		sink += pointer(i);
		if (i % 4 == 1)		/* n/4 of n */
			sink++;
		long j = 3;
		do {			/* loop: n times, 3 n rounds */
			sink++;
		} while (--j);
	}
	return argc > 9 ? (int)idle(sink) : 0;
}
