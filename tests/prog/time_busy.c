/* Calls functions, and nothing else, until a SIGTERM. */
#include <signal.h>

static volatile sig_atomic_t over;

static void
on_term(int signal)
{
	over = signal;
}

__attribute__((noinline)) static long
fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int
main(void)
{
	signal(SIGTERM, on_term);
	while (!over)
		if (fib(10) != 55)
			return 1;
	return 0;
}
