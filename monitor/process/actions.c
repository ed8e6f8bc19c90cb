/*
 * Keeps what a program has made of SIGTRAP, SIGSEGV and SIGBUS, by the system
 * calls that it makes.  Never has a task make a call: sigtrap.c does.
 */
#include "monitor/process/actions.h"

#include <sched.h>
#include <stdlib.h>

#include "monitor/process/task.h"
#include "util/mem.h"

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND UINT64_C(0x100000000)
#endif

const int tracked_signals[TRACKED_SIGNALS] = { SIGTRAP, SIGSEGV, SIGBUS };

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
actions_ref(struct actions *actions)
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

bool
actions_shared(const struct task *task, const struct task *other)
{
	return other != task && other->process &&
	       other->process->actions == task->process->actions;
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
	for (size_t i = 0; i < TRACKED_SIGNALS; i++) {
		struct action *action = action_of(actions, tracked_signals[i]);

		if (action->handler != HANDLER_IGNORE)
			*action = (struct action){ .handler = HANDLER_DEFAULT };
	}
	actions->restorer = 0;
	actions->return_wanted = false;
}

struct actions *
actions_child(struct actions *maker, uint64_t flags)
{
	struct actions *child;

	if (!maker || flags & CLONE_SIGHAND)
		return actions_ref(maker);
	child = actions_copy(maker);
	if (flags & CLONE_CLEAR_SIGHAND)
		actions_clear(child);
	return child;
}

struct actions *
actions_new(const struct signal_state *state)
{
	struct actions *actions = actions_copy(&(struct actions){ 0 });

	for (size_t i = 0; i < TRACKED_SIGNALS; i++)
		if (signals_have(state->ignored, tracked_signals[i]))
			action_of(actions, tracked_signals[i])->handler =
				HANDLER_IGNORE;
	return actions;
}

void
actions_exec(struct run *run, struct task *task)
{
	struct process *process = task->process;
	struct actions *old = process->actions;
	struct signal_state state = { 0 };

	if (!run->host->native || run->opts->no_traps)
		return;
	if (old) {
		process->actions = actions_copy(old);
		actions_clear(process->actions);
	} else {
		if (run->host->signals(task->tid, &state))
			state = (struct signal_state){ 0 };
		process->actions = actions_new(&state);
	}
	actions_drop(old);
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
	struct action action, *tracked;

	if (!actions || !is_action_call(abi, regs) || !at ||
	    regs->r[abi->reg_arg[3]] != MASK_BYTES ||
	    run->host->data_read(task->tid, at, &action, sizeof(action)))
		return;
	tracked = action_of(actions, (int)regs->r[abi->reg_arg[0]]);
	if (tracked)
		*tracked = action;
}

void
action_deliver(struct task *task, int signal)
{
	struct actions *actions = task->process->actions;
	struct action *tracked = actions ? action_of(actions, signal) : NULL;

	if (tracked && tracked->flags & SA_RESETHAND)
		tracked->handler = HANDLER_DEFAULT;
}

/* Whether traps may be where handlers return to: not in SIGTRAP's handler. */
static bool
returns_trap(const struct actions *actions)
{
	return actions && actions->trap.handler <= HANDLER_IGNORE;
}

uint64_t
actions_restorer(struct run *run, const struct task *task)
{
	struct actions *actions = task->process->actions;
	struct signal_state state;

	if (!returns_trap(actions))
		return 0;
	if (!actions->restorer && !actions->return_wanted)
		actions->return_wanted = !run->host->native->actions(task->tid,
								     &state) &&
					 state.caught;
	return actions->restorer;
}

bool
actions_unreturned(const struct task *task)
{
	const struct actions *actions = task->process->actions;

	return returns_trap(actions) && !actions->restorer;
}

bool
actions_return(struct task *task, uint64_t restorer)
{
	struct actions *actions = task->process->actions;
	bool wanted = returns_trap(actions) && actions->return_wanted;

	if (!actions)
		return false;
	actions->restorer = restorer;
	actions->return_wanted = false;
	return wanted;
}
