/*
 * What signals a task has: who caused one, whether it would be handled, and
 * whether one waits.  Changes none.
 */
#include "monitor/process/signals.h"

#include <signal.h>

static bool
signal_is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
	       signal == SIGILL || signal == SIGTRAP;
}

bool
signal_caused(struct run *run, struct task *task, int signal)
{
	uint64_t va;
	int code;

	return signal_is_fault(signal) &&
	       !run->host->fault_get(task->tid, &code, &va) && code > 0;
}

bool
signal_caught(struct run *run, struct task *task, int signal)
{
	struct signal_state state;

	return !run->host->signals(task->tid, &state) &&
	       (state.caught & ~state.blocked) >> (signal - 1) & 1;
}

bool
signal_waits(struct run *run, struct task *task)
{
	struct signal_state state;

	return run->host->signals(task->tid, &state) ||
	       state.pending & ~state.blocked;
}
