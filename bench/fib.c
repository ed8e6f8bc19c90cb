/* Fibonacci numbers by the definition: nothing but calls of one function. */
#include <stdio.h>
#include <stdlib.h>

static long __attribute__((noinline)) fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int
main(int argc, char **argv)
{
	printf("%ld\n", fib(argc > 1 ? atol(argv[1]) : 43));
	return 0;
}
