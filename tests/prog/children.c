/*
 * What a program starts that may not be monitored with it.  Its argument says
 * what, and how often: forks, threads, or a program that takes its place.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef ROUNDS
#define ROUNDS 300
#endif

/* A loop of its own line, n times. */
__attribute__((noinline)) static unsigned
work(unsigned n)
{
	volatile unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += i ^ n;
	return sum;
}

__attribute__((noinline)) static void
fork_one(unsigned i)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		printf("child %u: %u\n", i, work(20));
		fflush(stdout);
		_exit((int)i);
	}
	waitpid(pid, &status, 0);
	printf("status %x\n", status);
	fflush(stdout);
}

static void *
thread(void *arg)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		work(5);
	return arg;
}

static void
threads_run(unsigned n)
{
	pthread_t threads[16];

	for (unsigned i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

int
main(int argc, char **argv)
{
	unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 1;

	printf("%u\n", work(10));
	fflush(stdout);
	if (!strcmp(argv[1], "fork"))
		for (unsigned i = 0; i < n; i++)
			fork_one(i);
	else if (!strcmp(argv[1], "system"))
		printf("%d\n", system("echo by a shell"));
	else if (!strcmp(argv[1], "threads"))
		threads_run(n);
	else if (!strcmp(argv[1], "exec"))
		execl("/bin/echo", "echo", "executed", (char *)NULL);
	else if (!strcmp(argv[1], "again"))
		execl(argv[2], argv[2], "none", (char *)NULL);
	else if (!strcmp(argv[1], "loop"))
		/* As long as that process runs, and no longer. */
		while (!kill((pid_t)n, 0))
			work(3);
	else if (!strcmp(argv[1], "crash"))
		*(volatile int *)8 = (int)work(7);
	else if (!strcmp(argv[1], "raise"))
		raise(SIGTERM);
	printf("%u\n", work(11));
	return 3;
}
