/*
 * hits THREADS N: each thread calls hit() N times.  Prints the microseconds
 * that passed, divided by the number of all calls.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void hit(void);

/* Begins as most functions do. */
__asm__(".globl hit\n"
	".type hit, @function\n"
	"hit:	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size hit, . - hit\n");

static long times;

static void *
work(void *arg)
{
	for (long i = 0; i < times; i++)
		hit();
	return arg;
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

int
main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 1;
	pthread_t threads[64];
	double begin;

	if (n < 1 || n > 64)
		return 2;
	times = argc > 2 ? atol(argv[2]) : 1000;
	begin = now();
	if (n == 1)
		work(NULL);
	for (int i = 0; n > 1 && i < n; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; n > 1 && i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%.4f\n", (now() - begin) / times / n);
	return 0;
}
