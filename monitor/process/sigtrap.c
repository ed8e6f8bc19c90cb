/*
 * Keeps what a program has made of SIGTRAP, and restores that after traps; the
 * same for SIGSEGV and SIGBUS after faults that are pmon's matter.  The kernel
 * forces a trap's SIGTRAP upon the task: it unblocks the signal if that is
 * blocked, and resets its action if it is blocked or ignored, before pmon sees
 * the stop (doc/decisions/0002-sigtrap.md).  So pmon must know the action
 * beforehand: it hooks the system calls that set one.  The lost action tells
 * that SIGTRAP was blocked.  Where there is no handler nothing tells, and the
 * bit in the mask stays lost.
 */
#include "monitor/process/sigtrap.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "monitor/process/events.h"
#include "monitor/process/inject.h"
#include "monitor/process/task.h"
#include "util/mem.h"

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND UINT64_C(0x100000000)
#endif

enum {
	TRAP_BIT = 1 << (SIGTRAP - 1),
	FAULTS = 2,		/* SIGSEGV and SIGBUS */
	HANDLER_DEFAULT = 0,
	HANDLER_IGNORE = 1,
	MASK_BYTES = 8,		/* of a set of signals */
	BELOW_STACK = 256,	/* this far below sp nothing is kept */
};

/* As rt_sigaction(2) reads and writes it. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

/* Shared by processes that share their handlers (CLONE_SIGHAND). */
struct sigtrap {
	unsigned refs;
	struct action action;
	struct action faults[FAULTS];
};

static const int fault_signals[FAULTS] = { SIGSEGV, SIGBUS };

/* What is kept of the signal's action, or NULL. */
static struct action *
signal_action(struct sigtrap *sigtrap, int signal)
{
	for (size_t i = 0; i < FAULTS; i++)
		if (signal == fault_signals[i])
			return &sigtrap->faults[i];
	return signal == SIGTRAP ? &sigtrap->action : NULL;
}

static uint64_t
signal_bit(int signal)
{
	return UINT64_C(1) << (signal - 1);
}

/* ---- sharing */

struct sigtrap *
sigtrap_hold(struct sigtrap *sigtrap)
{
	if (sigtrap)
		sigtrap->refs++;
	return sigtrap;
}

void
sigtrap_drop(struct sigtrap *sigtrap)
{
	if (sigtrap && !--sigtrap->refs)
		free(sigtrap);
}

static struct sigtrap *
sigtrap_new(const struct sigtrap *actions)
{
	struct sigtrap *sigtrap = mem_alloc(sizeof(*sigtrap));

	*sigtrap = *actions;
	sigtrap->refs = 1;
	return sigtrap;
}

/* The action with no handler; an ignored signal stays ignored. */
static struct action
action_cleared(const struct action *action)
{
	if (action->handler == HANDLER_IGNORE)
		return *action;
	return (struct action){ .handler = HANDLER_DEFAULT };
}

static struct sigtrap
actions_cleared(const struct sigtrap *sigtrap)
{
	struct sigtrap cleared = { .action = action_cleared(&sigtrap->action) };

	for (size_t i = 0; i < FAULTS; i++)
		cleared.faults[i] = action_cleared(&sigtrap->faults[i]);
	return cleared;
}

struct sigtrap *
sigtrap_child(struct sigtrap *maker, uint64_t flags)
{
	struct sigtrap actions;

	if (!maker || flags & CLONE_SIGHAND)
		return sigtrap_hold(maker);
	actions = flags & CLONE_CLEAR_SIGHAND ? actions_cleared(maker) : *maker;
	return sigtrap_new(&actions);
}

/* What the kernel tells without a call: which of the signals are ignored. */
static struct sigtrap
actions_ignored(const struct signal_state *state)
{
	struct sigtrap actions = { 0 };

	if (state->ignored & TRAP_BIT)
		actions.action.handler = HANDLER_IGNORE;
	for (size_t i = 0; i < FAULTS; i++)
		if (state->ignored & signal_bit(fault_signals[i]))
			actions.faults[i].handler = HANDLER_IGNORE;
	return actions;
}

void
sigtrap_exec(struct run *run, struct task *task)
{
	struct process *process = task->process;
	struct sigtrap *old = process->sigtrap, actions = { 0 };
	struct signal_state state;

	if (!run->host->native || run->opts->no_traps)
		return;
	if (old)
		actions = actions_cleared(old);
	else if (!run->host->signals(task->tid, &state))
		actions = actions_ignored(&state);
	process->sigtrap = sigtrap_new(&actions);
	sigtrap_drop(old);
}

/* ---- asking the kernel */

bool
sigtrap_mends(struct run *run, const struct task *task)
{
	return run->host->native && !task_confined(run, task);
}

/*
 * Make the task call rt_sigaction for the signal, with the structure on its
 * stack for that moment, and send it `sent` (0: none).  No other task that might
 * use that memory runs meanwhile.
 */
static int
action_call(struct run *run, struct task *task, int signal,
	    struct action *action, bool set, int sent)
{
	const struct host *host = run->host;
	uint64_t args[6] = { (uint64_t)signal, 0, 0, MASK_BYTES }, at;
	struct action saved;
	int64_t result = -1;
	int err;

	if (host->reg_get(task->tid, run->arch->reg_sp, &at))
		return HOST_GONE;
	at = (at - BELOW_STACK) & ~(uint64_t)15;
	args[set ? 1 : 2] = at;
	if (host->data_read(task->tid, at, &saved, sizeof(saved)) ||
	    (set && host->data_write(task->tid, at, action, sizeof(*action))))
		return HOST_ERROR;
	err = inject_pending(run, task, run->abi->nr_sigaction, args, sent,
			     &result);
	if (!err && !set)
		err = host->data_read(task->tid, at, action, sizeof(*action));
	host->data_write(task->tid, at, &saved, sizeof(saved));
	return err ? err : result ? HOST_ERROR : HOST_OK;
}

static void
action_ask(struct run *run, struct task *task)
{
	struct process *process = task->process;
	struct signal_state state;
	struct sigtrap actions;
	bool mends;

	if (!run->host->native || run->host->signals(task->tid, &state))
		return;
	actions = actions_ignored(&state);
	mends = sigtrap_mends(run, task);
	if (state.caught & TRAP_BIT &&
	    (!mends ||
	     action_call(run, task, SIGTRAP, &actions.action, false, 0)))
		run_remark(run,
			   "process %d handles SIGTRAP: a trap may remove "
			   "its handler",
			   (int)process->pid);
	for (size_t i = 0; i < FAULTS && mends; i++)
		if (state.caught & signal_bit(fault_signals[i]) &&
		    action_call(run, task, fault_signals[i], &actions.faults[i],
				false, 0))
			actions.faults[i] = (struct action){ 0 };
	sigtrap_drop(process->sigtrap);
	process->sigtrap = sigtrap_new(&actions);
}

void
sigtrap_ask(struct run *run, struct task *task)
{
	if (!run->opts->no_traps)
		action_ask(run, task);
}

/* ---- what the program sets */

/* Is it, with these registers, a call that gets or sets the action? */
static bool
is_action_call(const struct abi *abi, const struct regs *regs)
{
	return (int)regs->r[abi->reg_nr] == abi->nr_sigaction &&
	       (int)regs->r[abi->reg_arg[0]] == SIGTRAP;
}

/* Is it a call that sets the action of a fault's signal? */
static bool
sets_fault(const struct abi *abi, const struct regs *regs)
{
	int signal = (int)regs->r[abi->reg_arg[0]];

	return (int)regs->r[abi->reg_nr] == abi->nr_sigaction &&
	       (signal == SIGSEGV || signal == SIGBUS) &&
	       regs->r[abi->reg_arg[1]];
}

void
sigtrap_hook(struct run *run, struct task *task, const struct regs *regs)
{
	const struct abi *abi = run->abi;
	struct sigtrap *sigtrap = task->process->sigtrap;
	struct action action, *kept;

	if (!sigtrap || (int)regs->r[abi->reg_nr] != abi->nr_sigaction)
		return;
	kept = signal_action(sigtrap, (int)regs->r[abi->reg_arg[0]]);
	if (!kept || !regs->r[abi->reg_arg[1]] ||
	    regs->r[abi->reg_arg[3]] != MASK_BYTES ||
	    run->host->data_read(task->tid, regs->r[abi->reg_arg[1]], &action,
				 sizeof(action)))
		return;
	*kept = action;
}

void
sigtrap_deliver(struct task *task, int signal)
{
	struct sigtrap *sigtrap = task->process->sigtrap;
	struct action *kept = sigtrap ? signal_action(sigtrap, signal) : NULL;

	if (kept && kept->flags & SA_RESETHAND)
		kept->handler = HANDLER_DEFAULT;
}

/* ---- mending */

/*
 * If several threads hit traps at the same time, it is not known which of them
 * had SIGTRAP blocked.  Suspects are taken to have had it blocked if they block
 * all other signals.
 */
struct suspects {
	const struct task *task;
	struct task *other;	/* the last of the suspects, or NULL */
	unsigned others;	/* the suspects besides task */
};

static void
task_suspect(struct run *run, struct task *task, void *ctx)
{
	struct suspects *suspects = ctx;
	const struct event *event = run_queued(run, task);
	struct signal_state state;

	if (task == suspects->task || !task->process || !event || event->sent ||
	    task->process->sigtrap != suspects->task->process->sigtrap ||
	    task->state != TASK_STOPPED)
		return;
	if (event->kind == EVENT_TRAP ||
	    run->host->signals(task->tid, &state) || state.pending & TRAP_BIT) {
		task->suspect = true;
		suspects->other = task;
		suspects->others++;
	}
}

static void
suspects_remark(struct run *run, const struct suspects *suspects)
{
	run_remark(run,
		   "process %d: threads hit traps at the same time: SIGTRAP "
		   "may now be blocked or unblocked by mistake in one of them",
		   (int)suspects->task->process->pid);
}

/* Block SIGTRAP again; for a suspect only if it blocks all other signals. */
static int
mask_restore(struct run *run, struct task *task)
{
	const uint64_t other = INT32_MAX & ~(TRAP_BIT | 1 << (SIGKILL - 1) |
					     1 << (SIGSTOP - 1));
	struct signal_state state;

	if (run->host->signals(task->tid, &state))
		return HOST_GONE;
	if (task->suspect && ~state.blocked & other)
		return HOST_OK;
	return run->host->mask_set(task->tid, state.blocked | TRAP_BIT, NULL);
}

bool
sigtrap_lost(struct run *run, const struct task *task)
{
	const struct sigtrap *sigtrap = task->process->sigtrap;
	struct signal_state state;

	return sigtrap && sigtrap->action.handler != HANDLER_DEFAULT &&
	       !run->host->native->actions(task->tid, &state) &&
	       !((state.ignored | state.caught) & TRAP_BIT);
}

/*
 * The signal to make pending again.  If one was sent while SIGTRAP was blocked,
 * the kernel raised none for the trap, and this stop is for the one that was
 * sent.
 */
static int
signal_waiting(struct run *run, const struct task *task)
{
	return run->host->trap_cause(task->tid) == TRAP_SENT ? SIGTRAP : 0;
}

/*
 * Have the task set the action again, with other tasks of its space paused, and
 * send it this signal again (0: none).
 */
static int
action_again(struct run *run, struct task *task, int signal)
{
	int err = action_call(run, task, SIGTRAP,
			      &task->process->sigtrap->action, true, signal);

	if (err == HOST_GONE)
		return err;
	if (err)
		run_remark(run,
			   "process %d lost its handler of SIGTRAP to a "
			   "trap",
			   (int)task->process->pid);
	return HOST_OK;
}

static int
action_restore(struct run *run, struct task *task)
{
	struct suspects suspects = { .task = task };
	const struct sigtrap *sigtrap = task->process->sigtrap;
	bool caught = sigtrap->action.handler != HANDLER_IGNORE;
	int err;

	task_each(run, task_suspect, &suspects);
	err = action_again(run, task, caught ? signal_waiting(run, task) : 0);
	if (err || !caught)
		return err;
	if (suspects.others) {
		task->suspect = true;
		suspects_remark(run, &suspects);
	}
	return mask_restore(run, task);
}

/*
 * The action is lost: can it be restored?  Then the task's space stands still.
 * 1, 0 if not, or HOST_GONE.
 */
static int
mend_begin(struct run *run, struct task *task)
{
	if (!sigtrap_mends(run, task)) {
		run_remark(run,
			   "process %d lost its handler of SIGTRAP to a "
			   "trap: a seccomp filter keeps pmon from restoring "
			   "the handler",
			   (int)task->process->pid);
		task->process->sigtrap->action.handler = HANDLER_DEFAULT;
		return 0;
	}
	run_pause(run, task->process->space, task, STOP_MENDS);
	return task->exiting || task->state != TASK_STOPPED ? HOST_GONE : 1;
}

int
sigtrap_mend(struct run *run, struct task *task)
{
	int err = HOST_OK;

	if (!sigtrap_lost(run, task)) {
		if (task->suspect || task->unblocked)
			err = mask_restore(run, task);
		task->suspect = task->unblocked = false;
		return err;
	}
	err = mend_begin(run, task);
	if (err <= 0)
		return err;
	err = action_restore(run, task);
	task->suspect = task->unblocked = false;
	return err;
}

int
sigtrap_still(struct run *run, struct task *task)
{
	struct suspects suspects = { .task = task };
	const struct sigtrap *sigtrap = task->process->sigtrap;
	struct regs regs;

	if (!sigtrap)
		return 0;
	if (run->host->regs_get(task->tid, &regs))
		return HOST_GONE;
	if (sets_fault(run->abi, &regs))
		return 1;
	if (!is_action_call(run->abi, &regs) ||
	    (task->process->ntasks == 1 && sigtrap->refs == 1))
		return 0;
	run_pause(run, task->process->space, task, STOP_MENDS);
	if (task->exiting || task->state != TASK_STOPPED)
		return HOST_GONE;
	if (!sigtrap_lost(run, task) || !sigtrap_mends(run, task))
		return 1;
	/* The task's own trap was mended before: it was another's. */
	if (sigtrap->action.handler != HANDLER_IGNORE)
		task_each(run, task_suspect, &suspects);
	if (suspects.others == 1) {
		suspects.other->suspect = false;
		suspects.other->unblocked = true;
	} else if (suspects.others) {
		suspects_remark(run, &suspects);
	}
	return action_again(run, task, 0) ? HOST_GONE : 1;
}

/* Another task that a trap may have stopped while SIGTRAP was blocked. */
static void
task_trapped(struct run *run, struct task *task, void *ctx)
{
	struct suspects *suspects = ctx;
	const struct event *event = run_queued(run, task);

	if (task != suspects->task && task->process && event &&
	    event->kind == EVENT_TRAP && !event->sent &&
	    task->process->sigtrap == suspects->task->process->sigtrap &&
	    task->state == TASK_STOPPED)
		suspects->others++;
}

int
sigtrap_settle(struct run *run, struct task *task)
{
	const struct sigtrap *sigtrap = task->process->sigtrap;
	struct suspects trapped = { .task = task };
	struct event event = { EVENT_TRAP, task->tid, SIGTRAP, .sent = true };

	if (!sigtrap || sigtrap->action.handler == HANDLER_DEFAULT ||
	    !sigtrap_mends(run, task))
		return HOST_OK;
	run_pause(run, task->process->space, task, STOP_MENDS);
	if (task->exiting || task->state != TASK_STOPPED)
		return HOST_GONE;
	if (!sigtrap_lost(run, task))
		return HOST_OK;
	task_each(run, task_trapped, &trapped);
	if (trapped.others) {
		run_requeue(run, &event);
		return HOST_GONE;
	}
	/* A trap of the program's own while it blocks SIGTRAP is to end it. */
	if (run->host->trap_cause(task->tid) != TRAP_SENT)
		return HOST_OK;
	return action_again(run, task, 0);
}

bool
sigtrap_default(const struct task *task)
{
	const struct sigtrap *sigtrap = task->process->sigtrap;

	return sigtrap && sigtrap->action.handler == HANDLER_DEFAULT;
}

bool
sigtrap_ignores(const struct task *task)
{
	const struct sigtrap *sigtrap = task->process->sigtrap;

	return sigtrap && sigtrap->action.handler == HANDLER_IGNORE;
}

void
sigtrap_steps(struct run *run, struct task *task)
{
	if (run->opts->no_traps)
		action_ask(run, task);
}

int
sigtrap_stepped(struct run *run, struct task *task)
{
	int err = sigtrap_lost(run, task) ? mend_begin(run, task) : 0;

	if (err > 0)
		err = action_again(run, task, 0);
	/* No hook tells what the program makes of it from now on. */
	if (run->opts->no_traps) {
		sigtrap_drop(task->process->sigtrap);
		task->process->sigtrap = NULL;
	}
	return err;
}

/* ---- faults */

/* Another task whose fault may be the one that was raised while blocked. */
static void
task_faulted(struct run *run, struct task *task, void *ctx)
{
	struct suspects *suspects = ctx;
	const struct event *event = run_queued(run, task);

	if (task != suspects->task && task->process && event &&
	    task->process->sigtrap == suspects->task->process->sigtrap &&
	    event->kind == EVENT_SIGNAL &&
	    (event->value == SIGSEGV || event->value == SIGBUS))
		suspects->others++;
}

/* Set the action again, and block the signal again, if it was. */
static int
fault_restore(struct run *run, struct task *task, int signal)
{
	struct suspects suspects = { .task = task };
	struct action *kept = signal_action(task->process->sigtrap, signal);
	struct signal_state state;
	int err = HOST_ERROR;

	if (sigtrap_mends(run, task)) {
		run_pause(run, task->process->space, task, STOP_MENDS);
		if (task->exiting || task->state != TASK_STOPPED)
			return HOST_GONE;
		err = action_call(run, task, signal, kept, true, 0);
	}
	if (err == HOST_GONE)
		return err;
	task_each(run, task_faulted, &suspects);
	if (err || suspects.others)
		run_remark(run,
			   "process %d: a fault in pmon's memory may have "
			   "changed what the process does with signal %d",
			   (int)task->process->pid, signal);
	/* One that was ignored may have been blocked or not. */
	if (err || suspects.others || kept->handler == HANDLER_IGNORE)
		return HOST_OK;
	if (run->host->signals(task->tid, &state))
		return HOST_GONE;
	return run->host->mask_set(task->tid,
				   state.blocked | signal_bit(signal), NULL);
}

int
sigtrap_fault(struct run *run, struct task *task, int signal)
{
	struct sigtrap *sigtrap = task->process->sigtrap;
	struct signal_state state;

	if (!sigtrap ||
	    signal_action(sigtrap, signal)->handler == HANDLER_DEFAULT ||
	    run->host->native->actions(task->tid, &state) ||
	    (state.ignored | state.caught) & signal_bit(signal))
		return HOST_OK;
	return fault_restore(run, task, signal);
}
