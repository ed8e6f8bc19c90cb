/*
 * A program for retpolines and return thunks: the comments say how often its
 * lines run.
 */
#include <stdio.h>

static volatile long n;

typedef long step(long);

__attribute__((noinline)) static long
first(long i)
{
	n++;				/* 800 */
	return i % 3 ? i : 2 * i;
}

__attribute__((noinline)) static long
second(long i)
{
	n += 2;				/* 800 */
	return i ^ 5;
}

static step *volatile steps[] = { first, second };

__attribute__((noinline)) static long
tail(long i)
{
	return steps[i & 1](i + 1);	/* 200 */
}

/* Interprets; `both` is also run into. */
__attribute__((noinline)) static long
goes(const unsigned char *p)
{
	static const void *const labels[] = { &&one, &&both, &&times, &&end };
	long s = 0;

	goto *labels[*p++];
one:
	s += n;				/* 20 */
both:
	s += 2 + n;			/* 40 */
	goto *labels[*p++];
times:
	s *= 3;				/* 30 */
	goto *labels[*p++];
end:
	return s;			/* 10 */
}

int
main(void)
{
	static const unsigned char code[] = { 0, 1, 2, 0, 2, 2, 1, 3 };
	long s = 0;

	for (long i = 0; i < 1000; i++)
		s += steps[i & 1](i);	/* 1000 */
	for (long i = 0; i < 200; i++) {
		s ^= tail(i);		/* 200 */
		s += first(i);		/* 200 */
		s += second(i);		/* 200 */
	}
	for (long i = 0; i < 10; i++)
		s += goes(code);	/* 10 */
	printf("%ld %ld\n", s, n);	/* 1 */
	return 0;
}
