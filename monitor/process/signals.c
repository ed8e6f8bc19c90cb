/*
 * What signals a task has: who caused one, whether it would be handled, and
 * whether one waits.  Leads a task into its handler.  Never decides whether a
 * task gets a signal.
 */
#include "monitor/process/signals.h"

#include <signal.h>

#include "monitor/process/events.h"

/* The host's `actions` knows of signals up to this one. */
enum { ACTIONS_MAX = 31 };

bool
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

/*
 * Which signals are caught and which are blocked now, at least this one.  The
 * host's `mask_get` does not tell it: while the task waits in sigsuspend, that
 * is the mask which the call will restore.
 */
static int
state_get(const struct run *run, const struct task *task, int signal,
	  struct signal_state *state)
{
	const struct host_native *native = run->host->native;

	return native && signal <= ACTIONS_MAX ?
		       native->actions(task->tid, state) :
		       run->host->signals(task->tid, state);
}

bool
signal_caught(struct run *run, struct task *task, int signal)
{
	struct signal_state state;

	/* 0 is none: a task that goes on without a signal. */
	return signal && !state_get(run, task, signal, &state) &&
	       (state.caught & ~state.blocked) >> (signal - 1) & 1;
}

/* The signals that are without effect (signal(7)). */
static uint64_t
ignored_set(const struct signal_state *state)
{
	static const int harmless[] = { SIGCHLD, SIGCONT, SIGURG, SIGWINCH };
	uint64_t by_default = 0;

	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		by_default |= UINT64_C(1) << (harmless[i] - 1);
	return state->ignored | (by_default & ~state->caught);
}

bool
signal_ignored(struct run *run, struct task *task, int signal)
{
	struct signal_state state;

	return signal && !state_get(run, task, signal, &state) &&
	       signals_have(ignored_set(&state), signal);
}

enum signals_pending
signals_pending(struct run *run, struct task *task, uint64_t *blocked)
{
	struct signal_state state;
	uint64_t pending;

	if (run->host->signals(task->tid, &state))
		return SIGNALS_WAIT;
	if (blocked)
		*blocked = state.blocked;
	pending = state.pending & ~state.blocked;
	if (pending & ~ignored_set(&state))
		return SIGNALS_WAIT;
	return pending ? SIGNALS_IGNORED : SIGNALS_NONE;
}

/*
 * The task stands at the first instruction of its handler: clear the flag of the
 * step in the context that the handler returns to.  The kernel does so itself
 * but where it takes the bytes at the pc for an instruction that sets the flag:
 * at popf and iret, and where a patch of pmon's has such bytes in its middle.
 */
static void
step_clear(struct run *run, struct task *task)
{
	const struct abi *abi = run->abi;
	uint64_t flags, at;

	if (run->host->reg_get(task->tid, run->arch->reg_sp, &at))
		return;
	/* The context is behind the return address. */
	at += sizeof(uint64_t) + abi->context_flags;
	if (run->host->data_read(task->tid, at, &flags, sizeof(flags)) ||
	    !(flags & abi->flag_step))
		return;
	flags &= ~(uint64_t)abi->flag_step;
	run->host->data_write(task->tid, at, &flags, sizeof(flags));
}

bool
signal_enter(struct run *run, struct task *task, int signal)
{
	const struct abi *abi = run->abi;
	uint64_t flags = abi->flag_step;
	struct event event;

	if ((abi->flag_step &&
	     run->host->reg_get(task->tid, abi->reg_flags, &flags)) ||
	    task_resume(run, task, RESUME_STEP, signal))
		return false;
	run_wait_task(run, task, &event);
	if (event.kind != EVENT_TRAP ||
	    run->host->trap_cause(task->tid) != TRAP_STEP) {
		run_requeue(run, &event);
		return false;
	}
	/* The program may have set it itself. */
	if (!(flags & abi->flag_step))
		step_clear(run, task);
	return true;
}
