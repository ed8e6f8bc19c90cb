/*
 * A program for -fsplit-stack: `big` needs a new stack segment in each call.
 * The comments say how often lines run.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static long n;

__attribute__((noinline)) static int
big(int i)
{
	volatile char room[20000];

	n++;					/* 100 */
	memset((void *)room, i, sizeof(room));
	return room[i];				/* 100 */
}

/* Needs new segments, but calls only functions of this file. */
__attribute__((noinline)) static int
wide(int i)
{
	volatile char room[50000];

	room[i] = (char)i;			/* 100 */
	return room[i];				/* 100 */
}

__attribute__((noinline)) static int
deep(int i)
{
	return i ? deep(i - 1) + 1 : 0;		/* 550 */
}

__attribute__((noinline)) static int
sum(int count, ...)
{
	volatile char room[60000];
	va_list list;
	int s = 0;

	memset((void *)room, 1, sizeof(room));
	va_start(list, count);
	for (int i = 0; i < count; i++)
		s += va_arg(list, int) * room[count];
	va_end(list);
	return s;				/* 100 */
}

int
main(void)
{
	long s = 0;

	for (int i = 0; i < 100; i++) {
		s += big(i);			/* 100 */
		s += wide(i);			/* 100 */
		s += deep(i % 10);		/* 100 */
		s += sum(8, i, 1, 2, 3, 4, 5, 6, 7);	/* 100 */
	}
	printf("%ld %ld\n", s, n);		/* 1 */
	return 0;
}
