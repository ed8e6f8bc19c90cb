/*
 * What a program has made of SIGTRAP, SIGSEGV and SIGBUS: the signals that
 * pmon's traps, and damage to pmon's memory, raise.  Kept for sigtrap.c and
 * fault_signal.c, which restore the actions.
 */
#ifndef MONITOR_PROCESS_ACTIONS_H
#define MONITOR_PROCESS_ACTIONS_H

#include <signal.h>

#include "monitor/run.h"

enum {
	TRACKED_SIGNALS = 3,
	TRAP_BIT = 1 << (SIGTRAP - 1),	/* in a set of signals */
	MASK_BYTES = 8,			/* of such a set */
	HANDLER_DEFAULT = 0,
	HANDLER_IGNORE = 1,
};

/* The signals whose actions are tracked. */
extern const int tracked_signals[TRACKED_SIGNALS];

/* As rt_sigaction(2) reads and writes it. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

/* Shared by processes that share their handlers (CLONE_SIGHAND). */
struct actions {
	unsigned refs;
	struct action trap, segv, bus;
	uint64_t restorer;	/* to which a handler of any signal returns; 0:
				   none is known, as none has run */
	bool return_wanted;	/* it is to have a hook when it is known */
};

/* Actions of which is known which signals are ignored; the caller owns them. */
struct actions *actions_new(const struct signal_state *state);
/*
 * The actions for a child made with these flags of clone(2), which the caller
 * owns; NULL if the maker's are not known.
 */
struct actions *actions_child(struct actions *maker, uint64_t flags);
/*
 * Take and give back a reference; the last one frees the actions.  Both accept
 * NULL.
 */
struct actions *actions_ref(struct actions *actions);
void actions_drop(struct actions *actions);

/* The task's process has executed another program: handlers are reset. */
void actions_exec(struct run *run, struct task *task);

/*
 * With these registers the task is about to make a system call: if it is
 * rt_sigaction, note the new action of a signal that is tracked.
 */
void actions_hook(struct run *run, struct task *task, const struct regs *regs);

/* Whether, with these registers, the call gets or sets the signal's action. */
bool action_called(const struct abi *abi, const struct regs *regs, int signal);

/* Whether it is another task, and has the same actions. */
bool actions_shared(const struct task *task, const struct task *other);

/* The signal's action; NULL if it is not tracked. */
struct action *action_of(struct actions *actions, int signal);

/*
 * A signal of the program's own is delivered to its handler: with SA_RESETHAND
 * the handler is gone then.
 */
void action_deliver(struct task *task, int signal);

/*
 * The va of the code that the program's handlers return to, for a hook there.  0
 * if it handles SIGTRAP, as no trap is to be there then, or if that is not
 * known: if there are handlers, actions_return tells later that it is wanted.
 */
uint64_t actions_restorer(struct run *run, const struct task *task);
/* Whether a handler that is about to run can tell the code it returns to. */
bool actions_unreturned(const struct task *task);
/* A handler runs that returns there; true if a hook is wanted there. */
bool actions_return(struct task *task, uint64_t restorer);

#endif
