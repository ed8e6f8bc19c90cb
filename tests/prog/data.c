/*
 * Works as its arguments say, one after the other, each a letter and a number
 * N: wN calls work() N times; fN does so in a child, tN in a thread; eN
 * executes itself with the arguments that follow, in a child, and works N
 * times; kN dies of SIGKILL with N frames alive; pN waits, having said
 * "ready", to be killed.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile long sink;

NOINLINE void
odd(long i)
{
	sink += i;
}

NOINLINE void
even(long i)
{
	sink -= i;
}

static void (*const volatile by_parity[])(long) = { even, odd };

NOINLINE void
never(void)
{
	sink = 0;
}

NOINLINE void
choose(long i)
{
	switch (i % 8) {
	case 0: sink += 3; break;
	case 1: sink ^= 9; break;
	case 2: sink -= 7; break;
	case 3: sink *= 5; break;
	case 4: sink |= 1; break;
	case 5: sink &= 77; break;
	default: sink++;
	}
}

NOINLINE void
work(long i)
{
	by_parity[i & 1](i);
	choose(i);
	for (long k = 0; k < i; k++)
		sink++;
	if (i < 0)
		never();
}

static void *
work_all(void *n)
{
	for (long i = 0; i < (long)n; i++)
		work(i);
	return NULL;
}

NOINLINE void
deep(long n)
{
	if (!n)
		kill(getpid(), SIGKILL);
	deep(n - 1);
	sink++;
}

static void
in_child(long n, char **argv)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		work_all((void *)n);
		if (argv) {
			execv("/proc/self/exe", argv);
			abort();
		}
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		abort();
}

static void
in_thread(long n)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work_all, (void *)n))
		abort();
	pthread_join(thread, NULL);
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		long n = atol(argv[i] + 1);

		switch (argv[i][0]) {
		case 'w': work_all((void *)n); break;
		case 'f': in_child(n, NULL); break;
		case 't': in_thread(n); break;
		case 'e': in_child(n, argv + i); return 0;
		case 'k': deep(n); break;
		case 'p': puts("ready"); fflush(stdout); pause(); break;
		}
	}
	return 0;
}
