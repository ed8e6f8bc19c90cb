/*
 * Goes to all sorts of places where a stack may be walked: leaf functions,
 * those with frames and without, with rooms of computed size, called back
 * from a library, by way of the PLT, in the vdso, in signal handlers on this
 * stack and another.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int sum;

static __attribute__((noinline)) int
leaf(int n)
{
	return n * 3 + sum;
}

static __attribute__((noinline)) int
many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	int x = leaf(a + h), y = leaf(b + g), z = leaf(c + f);

	return x * y + z * leaf(d) + e * x;
}

static __attribute__((noinline)) int
room(int n)
{
	char bytes[n * 5 + 1];

	memset(bytes, n, sizeof(bytes));
	return leaf(bytes[n]) + many(1, 2, 3, 4, 5, 6, 7, bytes[0]);
}

static __attribute__((noinline)) int
deep(int n)
{
	if (!n)
		return room(3);
	return deep(n - 1) + leaf(n);
}

static __attribute__((noinline)) int
tail(int n)
{
	return n & 1 ? room(n) : many(n, 0, 0, 0, 0, 0, 0, 0);
}

static int
compare(const void *a, const void *b)
{
	return leaf(*(const int *)a) - leaf(*(const int *)b);
}

static void
handler(int signal)
{
	sum += deep(2) ? signal : 0;
}

int
main(int argc, char **argv)
{
	int numbers[] = { 5, 2, 9, 1, 7 };
	struct sigaction action = { .sa_handler = handler };
	stack_t stack = { .ss_size = 1 << 16 };
	struct timespec now;

	for (int i = 0; i < 4; i++)
		sum += tail(i) + deep(i);
	qsort(numbers, 5, sizeof(*numbers), compare);
	clock_gettime(CLOCK_MONOTONIC, &now);
	sum += now.tv_sec > 0;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	/* By libc's own frames, which have no frame pointers. */
	printf("%d %s\n", argc, argv[0]);
	return 0;
}
