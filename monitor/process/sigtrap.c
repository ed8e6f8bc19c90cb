/*
 * Restores what a program has made of SIGTRAP, after traps.  The kernel forces a
 * trap's SIGTRAP upon the task: it unblocks the signal if that is blocked, and
 * resets its action if it is blocked or ignored, before pmon sees the stop
 * (doc/decisions/0002-sigtrap.md).  So pmon must know the action beforehand
 * (actions.c).  That the action was reset tells that SIGTRAP was blocked; where
 * there is no handler trap_mask.c does.
 */
#include "monitor/process/sigtrap.h"

#include "monitor/process/actions.h"
#include "monitor/process/detour.h"
#include "monitor/process/events.h"
#include "monitor/process/inject.h"
#include "monitor/process/task.h"
#include "monitor/process/trap_mask.h"

enum { BELOW_STACK = 256 };	/* this far below sp nothing is kept */

/* ---- calls for pmon */

bool
sigtrap_mends(const struct run *run, const struct task *task)
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
	struct syscall call = {
		.nr = run->abi->nr_sigaction,
		.nargs = 4,
		.args = { (uint64_t)signal, 0, 0, MASK_BYTES },
	};
	struct action saved;
	uint64_t at;
	int err;

	if (host->reg_get(task->tid, run->arch->reg_sp, &at))
		return HOST_GONE;
	at = (at - BELOW_STACK) & ~(uint64_t)15;
	call.args[set ? 1 : 2] = at;
	if (host->data_read(task->tid, at, &saved, sizeof(saved)) ||
	    (set && host->data_write(task->tid, at, action, sizeof(*action))))
		return HOST_ERROR;
	err = inject_pending(run, task, &call, sent);
	if (!err && !set)
		err = host->data_read(task->tid, at, action, sizeof(*action));
	host->data_write(task->tid, at, &saved, sizeof(saved));
	return err ? err : call.result ? HOST_ERROR : HOST_OK;
}

int
action_set(struct run *run, struct task *task, int signal, int sent)
{
	struct action *action = action_of(task->process->actions, signal);

	return action_call(run, task, signal, action, true, sent);
}

/* Ask for the action of one signal that has a handler. */
static void
action_ask(struct run *run, struct task *task, int signal,
	   struct action *action)
{
	if (sigtrap_mends(run, task) &&
	    !action_call(run, task, signal, action, false, 0))
		return;
	*action = (struct action){ .handler = HANDLER_DEFAULT };
	if (signal == SIGTRAP)
		run_remark(run,
			   "process %d handles SIGTRAP: a trap may remove "
			   "its handler",
			   (int)task->process->pid);
}

static void
actions_ask(struct run *run, struct task *task)
{
	struct process *process = task->process;
	struct signal_state state;
	struct actions *actions;

	if (!run->host->native || run->host->signals(task->tid, &state))
		return;
	actions = actions_new(&state);
	for (size_t i = 0; i < TRACKED_SIGNALS; i++)
		if (signals_have(state.caught, tracked_signals[i]))
			action_ask(run, task, tracked_signals[i],
				   action_of(actions, tracked_signals[i]));
	actions_drop(process->actions);
	process->actions = actions;
}

void
sigtrap_ask(struct run *run, struct task *task)
{
	if (!run->opts->no_traps)
		actions_ask(run, task);
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

	if (!actions_shared(suspects->task, task) || !event || event->sent ||
	    task->state != TASK_STOPPED)
		return;
	/* pmon may have paused it before it stopped for its trap. */
	if (event->kind == EVENT_TRAP ||
	    run->host->signals(task->tid, &state) ||
	    state.pending & ~state.blocked & TRAP_BIT) {
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

/*
 * The action was reset by a trap of another task that is not handled yet: have
 * SIGTRAP blocked again there when it is.  The number of suspects.
 */
static unsigned
others_suspect(struct run *run, const struct task *task)
{
	struct suspects suspects = { .task = task };

	task_each(run, task_suspect, &suspects);
	if (suspects.others == 1) {
		suspects.other->suspect = false;
		suspects.other->unblocked = true;
	} else if (suspects.others) {
		suspects_remark(run, &suspects);
	}
	return suspects.others;
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
	if (task->suspect && !task->blocks_trap && ~state.blocked & other)
		return HOST_OK;
	return run->host->mask_set(task->tid, state.blocked | TRAP_BIT, NULL);
}

/* Whether no other task shares the task's actions. */
static bool
task_alone(const struct task *task)
{
	return task->process->ntasks == 1 && task->process->actions->refs == 1;
}

/*
 * Whether the program has a handler which, as it is still there, tells that
 * SIGTRAP was not blocked: not if another task's may have been restored.
 */
static bool
action_tells(const struct task *task)
{
	const struct actions *actions = task->process->actions;

	return actions && actions->trap.handler > HANDLER_IGNORE &&
	       task_alone(task);
}

/*
 * Block SIGTRAP again if the program does, and have the signal that was sent, if
 * the stop is for one, wait again.
 */
static int
mask_again(struct run *run, struct task *task)
{
	uint64_t mask;

	if (!task->blocks_trap)
		return HOST_OK;
	if (run->host->native->mask_get(task->tid, &mask) ||
	    (run->host->trap_cause(task->tid) == TRAP_SENT &&
	     detour_defer(run, task)))
		return HOST_GONE;
	return run->host->mask_set(task->tid, mask | TRAP_BIT, NULL);
}

bool
sigtrap_reset(struct run *run, const struct task *task)
{
	const struct actions *actions = task->process->actions;
	struct signal_state state;

	return actions && actions->trap.handler != HANDLER_DEFAULT &&
	       !run->host->native->actions(task->tid, &state) &&
	       !((state.ignored | state.caught) & TRAP_BIT);
}

bool
sigtrap_waited(struct run *run, const struct task *task)
{
	return sigtrap_reset(run, task) ||
	       (!action_tells(task) && trap_mask_cleared(run, task));
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
	int err = action_set(run, task, SIGTRAP, signal);

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
	const struct actions *actions = task->process->actions;
	bool caught = actions->trap.handler != HANDLER_IGNORE;
	int err;

	task_each(run, task_suspect, &suspects);
	err = action_again(run, task, caught ? signal_waiting(run, task) : 0);
	/* To ignore a signal discards those that wait. */
	if (err || !caught)
		return err ? err : mask_again(run, task);
	if (suspects.others) {
		task->suspect = true;
		suspects_remark(run, &suspects);
	}
	return mask_restore(run, task);
}

/*
 * The action was reset: can it be restored?  Then the task's space stands
 * still. 1, 0 if not, or HOST_GONE.
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
		task->process->actions->trap.handler = HANDLER_DEFAULT;
		return 0;
	}
	run_pause(run, task->process->space, task, STOP_MENDS);
	return task->exiting || task->state != TASK_STOPPED ? HOST_GONE : 1;
}

int
sigtrap_mend(struct run *run, struct task *task)
{
	int err = HOST_OK;

	if (!sigtrap_reset(run, task)) {
		if (task->blocks_trap && !action_tells(task))
			err = mask_again(run, task);
		else if (task->suspect || task->unblocked)
			err = mask_restore(run, task);
		task->suspect = task->unblocked = false;
		return err;
	}
	err = mend_begin(run, task);
	if (err <= 0)
		return err ? err : mask_again(run, task);
	err = action_restore(run, task);
	task->suspect = task->unblocked = false;
	return err;
}

/* Is it, with these registers, a call that sets the action of a fault's signal? */
static bool
sets_fault(const struct abi *abi, const struct regs *regs)
{
	return regs->r[abi->reg_arg[1]] && (action_called(abi, regs, SIGSEGV) ||
					    action_called(abi, regs, SIGBUS));
}

int
sigtrap_still(struct run *run, struct task *task)
{
	const struct actions *actions = task->process->actions;
	struct regs regs;

	if (!actions)
		return 0;
	if (run->host->regs_get(task->tid, &regs))
		return HOST_GONE;
	if (sets_fault(run->abi, &regs))
		return 1;
	if (!action_called(run->abi, &regs, SIGTRAP) || task_alone(task))
		return 0;
	run_pause(run, task->process->space, task, STOP_MENDS);
	if (task->exiting || task->state != TASK_STOPPED)
		return HOST_GONE;
	if (!sigtrap_reset(run, task) || !sigtrap_mends(run, task))
		return 1;
	/* The task's own trap was mended before: it was another's. */
	if (actions->trap.handler != HANDLER_IGNORE)
		others_suspect(run, task);
	return action_again(run, task, 0) ? HOST_GONE : 1;
}

/* Another task that a trap may have stopped while SIGTRAP was blocked. */
static void
task_trapped(struct run *run, struct task *task, void *ctx)
{
	struct suspects *suspects = ctx;
	const struct event *event = run_queued(run, task);

	if (actions_shared(suspects->task, task) && event &&
	    event->kind == EVENT_TRAP && !event->sent &&
	    task->state == TASK_STOPPED)
		suspects->others++;
}

int
sigtrap_restore(struct run *run, struct task *task)
{
	const struct actions *actions = task->process->actions;
	struct suspects trapped = { .task = task };
	struct event event = { EVENT_TRAP, task->tid, SIGTRAP, .sent = true };

	if (!actions || actions->trap.handler == HANDLER_DEFAULT ||
	    !sigtrap_mends(run, task))
		return HOST_OK;
	run_pause(run, task->process->space, task, STOP_MENDS);
	if (task->exiting || task->state != TASK_STOPPED)
		return HOST_GONE;
	if (!sigtrap_reset(run, task))
		return HOST_OK;
	task_each(run, task_trapped, &trapped);
	if (trapped.others) {
		run_requeue(run, &event);
		return HOST_GONE;
	}
	/* A trap of the program's own while it blocks SIGTRAP is to end it. */
	if ((actions->trap.handler == HANDLER_IGNORE ||
	     !others_suspect(run, task)) &&
	    run->host->trap_cause(task->tid) != TRAP_SENT)
		return HOST_OK;
	return action_again(run, task, 0);
}

bool
sigtrap_lasts(const struct task *task)
{
	const struct actions *actions = task->process->actions;

	return actions && actions->trap.handler != HANDLER_IGNORE;
}

bool
sigtrap_ignores(const struct task *task)
{
	const struct actions *actions = task->process->actions;

	return actions && actions->trap.handler == HANDLER_IGNORE;
}

void
sigtrap_steps(struct run *run, struct task *task)
{
	if (run->opts->no_traps)
		actions_ask(run, task);
}

int
sigtrap_stepped(struct run *run, struct task *task)
{
	int err = sigtrap_reset(run, task) ? mend_begin(run, task) : 0;

	if (err > 0)
		err = action_again(run, task, 0);
	/* No hook tells what the program makes of it from now on. */
	if (run->opts->no_traps) {
		actions_drop(task->process->actions);
		task->process->actions = NULL;
	}
	return err;
}
