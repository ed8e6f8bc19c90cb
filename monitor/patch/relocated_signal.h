/*
 * Signals of tasks that run relocated functions, and the contexts that their
 * handlers return to.
 */
#ifndef MONITOR_PATCH_RELOCATED_SIGNAL_H
#define MONITOR_PATCH_RELOCATED_SIGNAL_H

#include "monitor/run.h"

/*
 * Deliver a signal that has a handler to a task that stands in the original,
 * and remember the context that the handler returns to.  left: the task was
 * moved out of a relocated function, see relocated_leave.
 */
void relocated_signal(struct run *run, struct task *task, int signal,
		      bool left);
/*
 * Deliver a signal to a task that stays in its relocated function, at what
 * would be va in the original.  The handler returns into the relocated
 * function.
 */
void relocated_signal_in(struct run *run, struct task *task, int signal,
			 uint64_t va);
/*
 * When pmon attached, a handler was running that will return to this context.
 * Make it return into the relocated function there, if there is one.
 */
void relocated_context(struct run *run, struct task *task, uint64_t context,
		       uint64_t pc, uint64_t sp);
/*
 * Whether a handler that is followed, as it runs with SIGTRAP blocked, returns
 * to this context.  Called at a system call of a task that `follows`; ends the
 * following if it is not needed any more.
 */
bool relocated_followed(struct run *run, struct task *task, uint64_t context);
/*
 * Hook the code that handlers return to, at va, which makes the call sigreturn.
 * false if pmon does not know that code.
 */
bool relocated_restorer(struct run *run, struct task *task, uint64_t va);
/* Free the task's list of contexts that handlers return to. */
void relocated_contexts_clear(struct task *task);
/* The task is let go: make its handlers return to the original. */
void relocated_contexts(struct run *run, struct task *task);
/* A forked child has a copy of its maker's stack, with the contexts on it. */
void relocated_inherit(struct task *child, const struct task *maker);
/*
 * What a handler made of the context that it returns to: the registers as they
 * were when it was called, and as they will be, all of the original.
 */
struct context_change {
	struct regs from, to;
};

/*
 * A handler is about to return, by the code at va `hook`: change its context so
 * that the task goes back into the relocated function.  true if the handler has
 * led the task elsewhere; *change is then set.
 */
bool relocated_sigreturn(struct run *run, struct task *task, uint64_t hook,
			 struct context_change *change);
/*
 * Undo relocated_sigreturn if the system call has not been made yet; whether it
 * was undone.
 */
bool relocated_unreturn(struct run *run, struct task *task);

/* The entry patch at the va, or NULL. */
const struct entry_patch *entry_patch_at(const struct space *space,
					 uint64_t va);

/*
 * A handler interrupts the function at pc.  Nothing is derived in that function
 * unless all stacks are known: without them nothing shows whether the handler
 * came back.
 */
void fault_interrupts(const struct space *space, uint64_t pc);

#endif
