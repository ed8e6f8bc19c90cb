/*
 * Relocated functions in a process: the ways into them, and how pmon hides them
 * from the program.
 */
#ifndef MONITOR_PATCH_RELOCATED_H
#define MONITOR_PATCH_RELOCATED_H

#include "monitor/run.h"
#include "relocate/patch_bytes.h"
#include "relocate/relocate.h"

/* Where a function's relocated function and its original are. */
struct relocated_place relocated_place(const struct module *module,
				       const struct func_plan *fplan);
/*
 * Put the original bytes back where the patch still stands; bytes that the
 * program has written since stay.  Whether the patch was undone.
 */
bool patch_undo(struct run *run, const struct space *space, pid_t tid,
		const struct module *module, const struct code_patch *patch);
/*
 * Write the code of a function's relocated function, before anything leads
 * there; and write its entry patches, once the traps that lead there are.  If
 * that cannot be done, the relocated function is lost: nothing leads to it.
 */
void relocated_code(struct run *run, struct space *space, pid_t tid,
		    const struct module *module, uint32_t fplan);
void relocated_enable(struct run *run, struct space *space, pid_t tid,
		      const struct module *module, uint32_t fplan);
/*
 * Not all that was held could be written: lose the relocated functions whose
 * code is not there or, with `entries`, whose entry patches are not, though
 * memory is.
 */
void relocated_check(struct run *run, struct space *space, pid_t tid,
		     const struct module *module, bool entries);
/* Call relocated_revert for all relocated functions of the module. */
void relocated_unplant(struct run *run, struct space *space, pid_t tid,
		       const struct module *module);
/*
 * Undo the entry patches of the relocated function, those that are traps too,
 * and the redirected calls to it.  Tasks that are in it may stay.
 */
void relocated_revert(struct run *run, struct space *space, pid_t tid,
		      const struct module *module, uint32_t fplan);
/* The same for one that is lost, and remove all traps that lead to it. */
void relocated_abandon(struct run *run, struct space *space, pid_t tid,
		       const struct module *module, uint32_t fplan);

/*
 * Remove all jumps and traps that lead to relocated functions of the module,
 * and the redirected calls between them.
 */
void relocated_remove(struct run *run, struct space *space, pid_t tid,
		      struct module *module);
/*
 * Some entry patches of the function have become traps: undo the jumps that
 * were there before.  The relocated function stays in use.
 */
void relocated_reopen(struct run *run, struct space *space, pid_t tid,
		      const struct module *module, uint32_t fplan);

/* ---- relocated_pc.c */

/*
 * A task has run into a trap that leads into a relocated function: if no known
 * control flow leads there, count an abnormal edge.
 */
void relocated_arrive(struct run *run, struct task *task,
		      const struct module *module, const struct site *site);
/* The va in the relocated function that a PATCH_LEADS trap leads to. */
uint64_t relocated_enter(const struct module *module, const struct site *site);
/*
 * If the stopped task is at a landing slot or a springboard, let it jump on
 * from there: one that steps itself, with a handler, would come there again and
 * again.
 */
void relocated_land(struct run *run, struct task *task);
/*
 * If the stopped task is in a relocated function, or was just led out of one to
 * a call, see that it stands where it would be in the original; it may have to
 * run some instructions for that.  true if it, or a handler's return, must go
 * back to the relocated function: see relocated_return and relocated_signal.
 */
bool relocated_leave(struct run *run, struct task *task);
/*
 * Whether the stopped task is in a relocated function and runs code of pmon's
 * there, not a relocated instruction.
 */
bool relocated_counting(struct run *run, const struct task *task);
/*
 * If the stopped task is in a relocated function, run it to where it could as
 * well be in the original, at *va, and leave it in the relocated function;
 * whether that was done.
 */
bool relocated_bring_original(struct run *run, struct task *task, uint64_t *va);
/*
 * The task stands in the middle of a function that now has a relocated
 * function: move it there, unless it stands behind a system call, which the
 * kernel or pmon may make again.  That returns to the original.
 */
void relocated_begin(struct run *run, struct task *task);
/*
 * The place in a relocated function for a task that comes from outside to va:
 * before the increment, if a block begins at va.  va itself if there is no such
 * place.
 */
uint64_t relocated_inside(const struct space *space, uint64_t va);
/*
 * The place in a relocated function where a task goes on that was moved to va
 * in the original: after the increment.  va itself if there is no such place.
 */
uint64_t relocated_back(const struct space *space, uint64_t va);
/* Move a task back that relocated_leave moved. */
void relocated_return(struct run *run, struct task *task);
/*
 * Where a task that is in a relocated function, or has just been led out of one
 * to a call, would be without relocated functions.
 */
struct position {
	uint64_t va;		/* at this instruction */
	bool during;		/* the instruction has begun */
	bool ahead;		/* it has not begun; but if it begins a block,
				   that has been counted */
};

/*
 * Find the position without running the task.  false if the task is in no
 * relocated function and did not just leave one.
 */
bool relocated_position(const struct space *space, uint64_t pc,
			struct position *position);
/*
 * The task was moved out of a relocated function to va, or is looked at as if
 * it were.  If a block begins at va, it has been counted but not begun: with
 * `back`, take its count back; without, add it again, as the task goes back to
 * where it has been counted.
 */
void relocated_ahead(struct run *run, struct task *task, uint64_t va,
		     bool back);

/* ---- relocated_signal.c */

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
/* Forget all contexts that handlers return to. */
void relocated_forget(struct task *task);
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
