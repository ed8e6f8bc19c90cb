/*
 * Measures what stops cost a native process, with a child of pmon's own that
 * does nothing but stop, and reads how much processor time processes have used.
 * Knows nothing of the program.
 */
#include "host/ptrace.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/fail.h"

/*
 * Each kind of stop is measured in batches, of which the cheapest counts: an
 * interrupt makes others dearer.
 */
enum { BATCHES = 5, STOPS = 40 };

double
ptrace_cpu_time(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return -1;
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Stop for the tracer, then at traps, then at system calls for ever. */
static _Noreturn void
child_run(pid_t pmon)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The second fails if a tracer of pmon has the child. */
	if (getppid() != pmon || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(1);
	raise(SIGSTOP);
	for (int i = 0; i < BATCHES * STOPS; i++)
		__asm__ volatile("int3");
	for (;;)
		syscall(SYS_getppid);
}

/*
 * Wait for the child's next stop; whether it has stopped.  If it has ended
 * instead, *child becomes 0.
 */
static bool
child_stopped(pid_t *child)
{
	pid_t got;
	int status;

	do
		got = waitpid(*child, &status, __WALL);
	while (got < 0 && errno == EINTR);
	if (got == *child && WIFSTOPPED(status))
		return true;
	*child = 0;
	return false;
}

/* The child's processor time per stop, in seconds, or -1. */
static double
stop_cost(pid_t *child, int request)
{
	double least = -1, before, cost;

	for (int batch = 0; batch < BATCHES; batch++) {
		before = ptrace_cpu_time(*child);
		for (int i = 0; i < STOPS; i++)
			if (!*child ||
			    ptrace_request(request, *child, NULL, NULL) ||
			    !child_stopped(child))
				return -1;
		cost = (ptrace_cpu_time(*child) - before) / STOPS;
		if (!batch || cost < least)
			least = cost;
	}
	return least;
}

int
ptrace_stop_costs(struct stop_costs *costs)
{
	pid_t pmon = getpid(), child = fork();

	if (child < 0)
		return HOST_ERROR;
	if (!child)
		child_run(pmon);
	*costs = (struct stop_costs){ 0 };
	if (child_stopped(&child)) {
		costs->trap = stop_cost(&child, PTRACE_CONT);
		costs->call = stop_cost(&child, PTRACE_SYSCALL);
		costs->step = stop_cost(&child, PTRACE_SINGLESTEP);
	}
	if (child)
		kill(child, SIGKILL);
	while (child && waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
		;
	return costs->trap > 0 && costs->call > 0 && costs->step > 0 ?
		       HOST_OK :
		       HOST_ERROR;
}
