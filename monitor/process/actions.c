/*
 * Keeps what a program has made of SIGTRAP, SIGSEGV and SIGBUS, by the system
 * calls that it makes and by what the kernel answers.  Never decides that an
 * action is to be restored: sigtrap.c and fault_signal.c do.
 */
#include "monitor/process/actions.h"

#include <sched.h>
#include <stdlib.h>

#include "monitor/process/inject.h"
#include "monitor/process/task.h"
#include "util/mem.h"

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND UINT64_C(0x100000000)
#endif

enum { BELOW_STACK = 256 };	/* this far below sp nothing is kept */

static const int kept_signals[] = { SIGTRAP, SIGSEGV, SIGBUS };

enum { KEPT = sizeof(kept_signals) / sizeof(kept_signals[0]) };

struct action *
action_of(struct actions *actions, int signal)
{
	switch (signal) {
	case SIGTRAP:
		return &actions->trap;
	case SIGSEGV:
		return &actions->segv;
	case SIGBUS:
		return &actions->bus;
	default:
		return NULL;
	}
}

/* ---- sharing */

struct actions *
actions_hold(struct actions *actions)
{
	if (actions)
		actions->refs++;
	return actions;
}

void
actions_drop(struct actions *actions)
{
	if (actions && !--actions->refs)
		free(actions);
}

static struct actions *
actions_copy(const struct actions *actions)
{
	struct actions *copy = mem_alloc(sizeof(*copy));

	*copy = *actions;
	copy->refs = 1;
	return copy;
}

/* Reset the handlers; what is ignored stays ignored. */
static void
actions_clear(struct actions *actions)
{
	for (size_t i = 0; i < KEPT; i++) {
		struct action *action = action_of(actions, kept_signals[i]);

		if (action->handler != HANDLER_IGNORE)
			*action = (struct action){ .handler = HANDLER_DEFAULT };
	}
	actions->restorer = 0;
}

struct actions *
actions_child(struct actions *maker, uint64_t flags)
{
	struct actions *child;

	if (!maker || flags & CLONE_SIGHAND)
		return actions_hold(maker);
	child = actions_copy(maker);
	if (flags & CLONE_CLEAR_SIGHAND)
		actions_clear(child);
	return child;
}

static bool
set_has(uint64_t set, int signal)
{
	return set & UINT64_C(1) << (signal - 1);
}

/* What the kernel tells without a call: which of the signals are ignored. */
static struct actions
actions_ignored(const struct signal_state *state)
{
	struct actions actions = { 0 };

	for (size_t i = 0; i < KEPT; i++)
		if (set_has(state->ignored, kept_signals[i]))
			action_of(&actions, kept_signals[i])->handler =
				HANDLER_IGNORE;
	return actions;
}

void
actions_exec(struct run *run, struct task *task)
{
	struct process *process = task->process;
	struct actions *old = process->actions, actions = { 0 };
	struct signal_state state;

	if (!run->host->native || run->opts->no_traps)
		return;
	if (old) {
		actions = *old;
		actions_clear(&actions);
	} else if (!run->host->signals(task->tid, &state)) {
		actions = actions_ignored(&state);
	}
	process->actions = actions_copy(&actions);
	actions_drop(old);
}

/* ---- calls for pmon */

bool
actions_settable(const struct run *run, const struct task *task)
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
	if (actions_settable(run, task) &&
	    !action_call(run, task, signal, action, false, 0))
		return;
	*action = (struct action){ .handler = HANDLER_DEFAULT };
	if (signal == SIGTRAP)
		run_remark(run,
			   "process %d handles SIGTRAP: a trap may remove "
			   "its handler",
			   (int)task->process->pid);
}

void
actions_ask(struct run *run, struct task *task)
{
	struct process *process = task->process;
	struct signal_state state;
	struct actions actions;

	if (!run->host->native || run->host->signals(task->tid, &state))
		return;
	actions = actions_ignored(&state);
	for (size_t i = 0; i < KEPT; i++)
		if (set_has(state.caught, kept_signals[i]))
			action_ask(run, task, kept_signals[i],
				   action_of(&actions, kept_signals[i]));
	actions_drop(process->actions);
	process->actions = actions_copy(&actions);
}

/* ---- what the program sets */

/* Whether it is, with these registers, a call that gets or sets an action. */
static bool
is_action_call(const struct abi *abi, const struct regs *regs)
{
	return (int)regs->r[abi->reg_nr] == abi->nr_sigaction;
}

bool
action_called(const struct abi *abi, const struct regs *regs, int signal)
{
	return is_action_call(abi, regs) &&
	       (int)regs->r[abi->reg_arg[0]] == signal;
}

void
actions_hook(struct run *run, struct task *task, const struct regs *regs)
{
	const struct abi *abi = run->abi;
	struct actions *actions = task->process->actions;
	uint64_t at = regs->r[abi->reg_arg[1]];
	struct action action, *kept;

	if (!actions || !is_action_call(abi, regs) || !at ||
	    regs->r[abi->reg_arg[3]] != MASK_BYTES ||
	    run->host->data_read(task->tid, at, &action, sizeof(action)))
		return;
	if (action.handler > HANDLER_IGNORE)
		actions->restorer = action.restorer;
	kept = action_of(actions, (int)regs->r[abi->reg_arg[0]]);
	if (kept)
		*kept = action;
}

void
action_deliver(struct task *task, int signal)
{
	struct actions *actions = task->process->actions;
	struct action *kept = actions ? action_of(actions, signal) : NULL;

	if (kept && kept->flags & SA_RESETHAND)
		kept->handler = HANDLER_DEFAULT;
}

uint64_t
actions_restorer(const struct task *task)
{
	const struct actions *actions = task->process->actions;

	return actions && actions->trap.handler <= HANDLER_IGNORE ?
		       actions->restorer :
		       0;
}
