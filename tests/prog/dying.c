/*
 * Kills a child and, while that is ending, calls functions for the first time,
 * each of which calls work() thrice; and so on.  With an argument each child has
 * begun by then, or has ended.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 3, CALLS = 10, CHILDREN = 20 };

static volatile int done;

__attribute__((noinline)) static void
work(int i)
{
	done += i;
}

#define F1(n) __attribute__((noinline)) static void \
	f##n(void) { for (volatile int i = 0; i < ROUNDS; i++) work(i + 0x##n); }
#define F10(n) F1(n##0) F1(n##1) F1(n##2) F1(n##3) F1(n##4) F1(n##5) F1(n##6) \
	F1(n##7) F1(n##8) F1(n##9)
#define F100(n) F10(n##0) F10(n##1) F10(n##2) F10(n##3) F10(n##4) F10(n##5) \
	F10(n##6) F10(n##7) F10(n##8) F10(n##9)
F100(1)
F100(2)

#define N1(n) f##n,
#define N10(n) N1(n##0) N1(n##1) N1(n##2) N1(n##3) N1(n##4) N1(n##5) N1(n##6) \
	N1(n##7) N1(n##8) N1(n##9)
#define N100(n) N10(n##0) N10(n##1) N10(n##2) N10(n##3) N10(n##4) N10(n##5) \
	N10(n##6) N10(n##7) N10(n##8) N10(n##9)
static void (*const all[])(void) = { N100(1) N100(2) };

static void
begun_wait(const int fds[2])
{
	char byte;

	close(fds[1]);
	if (read(fds[0], &byte, 1) < 0)
		abort();
	close(fds[0]);
}

int
main(int argc, char **argv)
{
	for (int i = 0; i < CHILDREN; i++) {
		int fds[2];
		pid_t child;

		if (argc > 1 && pipe(fds))
			abort();
		child = fork();
		if (!child) {
			if (argc > 1 && write(fds[1], "", 1) != 1)
				abort();
			for (;;)
				pause();
		}
		if (argc > 1)
			begun_wait(fds);
		kill(child, SIGKILL);
		for (int k = 0; k < CALLS; k++)
			all[i * CALLS + k]();
		waitpid(child, NULL, 0);
	}
	return 0;
}
