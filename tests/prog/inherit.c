/*
 * Prints what a process can see of itself, after calling work() so often
 * that a monitor would have got busy: what it inherited, its processors,
 * its stack of calls.
 */
#define _GNU_SOURCE
#include <execinfo.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile long sink;

NOINLINE void
work(void)
{
	sink++;
}

static void
work_hard(void)
{
	int i;

	for (i = 0; i < 3000; i++)
		work();
}

static void
signals_print(void)
{
	struct sigaction action;
	sigset_t set;
	int sig;

	sigprocmask(SIG_BLOCK, NULL, &set);
	for (sig = 1; sig < 65; sig++) {
		if (sigismember(&set, sig) == 1)
			printf("blocked %d\n", sig);
		if (!sigaction(sig, NULL, &action) &&
		    action.sa_handler != SIG_DFL)
			printf("ignored %d\n", sig);
	}
	sigpending(&set);
	for (sig = 1; sig < 65; sig++)
		if (sigismember(&set, sig) == 1)
			printf("pending %d\n", sig);
}

static void
files_print(void)
{
	struct stat st;
	int fd;

	for (fd = 0; fd < 256; fd++)
		if (!fstat(fd, &st))
			printf("file %d mode %o flags %x\n", fd,
			       (unsigned)st.st_mode, fcntl(fd, F_GETFD));
}

static void
limits_print(void)
{
	struct rlimit limit;
	int i;

	for (i = 0; i < RLIMIT_NLIMITS; i++)
		if (!getrlimit(i, &limit))
			printf("limit %d %lx %lx\n", i, (long)limit.rlim_cur,
			       (long)limit.rlim_max);
}

static void
processors_print(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set))
		printf("affinity not to be had\n");
	printf("processors %d, %ld online\n", CPU_COUNT(&set),
	       sysconf(_SC_NPROCESSORS_ONLN));
}

/* Choosing a processor for itself must have its effect, and stay. */
static void
processors_choose(void)
{
	cpu_set_t all, one, now;
	int cpu;

	sched_getaffinity(0, sizeof(all), &all);
	for (cpu = CPU_SETSIZE; cpu-- > 0; ) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		work_hard();
		sched_getaffinity(0, sizeof(now), &now);
		printf("chosen %d: %s, runs there: %s\n", cpu,
		       CPU_EQUAL(&one, &now) ? "kept" : "lost",
		       sched_getcpu() == cpu ? "yes" : "no");
	}
	sched_setaffinity(0, sizeof(all), &all);
}

static void
misc_print(void)
{
	struct itimerval timer;
	mode_t mask = umask(0);

	umask(mask);
	getitimer(ITIMER_REAL, &timer);
	printf("umask %o nice %d dumpable %d timer %ld policy %d\n", mask,
	       getpriority(PRIO_PROCESS, 0), prctl(PR_GET_DUMPABLE),
	       (long)timer.it_value.tv_sec, sched_getscheduler(0));
}

NOINLINE static void
stack_print(void)
{
	char **names;
	void *frames[32];
	int n = backtrace(frames, 32), i;

	names = backtrace_symbols(frames, n);
	for (i = 0; i < n; i++) {
		/* Without addresses, which are random. */
		names[i][strcspn(names[i], "[")] = '\0';
		/* Within libc, which may differ no more than they. */
		printf("frame %s\n", strrchr(names[i], '/') ?
		       strrchr(names[i], '/') : names[i]);
	}
	free(names);
}

NOINLINE void
deep(int n)
{
	if (n)
		deep(n - 1);
	else
		stack_print();
	work();
}

static void
on_signal(int sig)
{
	deep(2);
}

int
main(int argc, char **argv)
{
	extern char **environ;
	char **var;
	int status;

	for (; *argv; argv++)
		printf("argument %s\n", *argv);
	for (var = environ; *var; var++)
		printf("variable %s\n", *var);
	signals_print();
	files_print();
	limits_print();
	misc_print();
	processors_print();
	work_hard();
	processors_print();
	fflush(stdout);
	if (!fork()) {
		processors_print();
		work_hard();
		processors_print();
		fflush(stdout);
		execlp("nproc", "nproc", NULL);
		_exit(99);
	}
	wait(&status);
	printf("child %x\n", status);
	processors_choose();
	deep(3);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	return argc > 1000;
}
