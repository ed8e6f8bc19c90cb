/*
 * cycle CPUS N: what the kernel asks for a breakpoint, with nothing done about
 * it: a child runs N times int3, its tracer waits for it and lets it go on.
 * Both on one processor, or on two.  Prints microseconds per breakpoint.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int
run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof set, &set);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void
child(int cpu, long n)
{
	if (run_on(cpu) < 0)
		_exit(3);
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	for (long i = 0; i < n; i++)
		__asm__ volatile("int3");
	_exit(0);
}

int
main(int argc, char **argv)
{
	int cpus = argc > 2 ? atoi(argv[1]) : 1, status;
	long n = argc > 2 ? atol(argv[2]) : 10000, stops = 0;
	double begin;
	pid_t pid;

	if (run_on(0) < 0 || (pid = fork()) < 0)
		return 1;
	if (pid == 0)
		child(cpus - 1, n);
	waitpid(pid, &status, 0);
	begin = now();
	while (WIFSTOPPED(status)) {
		ptrace(PTRACE_CONT, pid, 0, 0);
		waitpid(pid, &status, 0);
		stops++;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) || stops != n + 1)
		return 1;
	printf("%.4f\n", (now() - begin) / n);
	return 0;
}
