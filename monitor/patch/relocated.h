/*
 * Relocated functions of functions in a process, and what their being there
 * must not show.
 */
#ifndef MONITOR_PATCH_RELOCATED_H
#define MONITOR_PATCH_RELOCATED_H

#include "relocate/relocate.h"
#include "monitor/run.h"

/*
 * The plan's functions go without relocated functions from now on; the report
 * says why.
 */
void relocated_refuse(struct run *run, struct plan *plan, const char *why);
/*
 * Map what the module needs for relocated functions; else its plan goes
 * without.
 */
void relocated_map(struct run *run, struct task *task, struct module *module);
/* Where a function plan's relocated function and its original are. */
struct relocated_place relocated_place(const struct module *module,
				       const struct func_plan *fplan);
/*
 * Put the original's bytes back where they are what the patch made them: who
 * wrote there himself keeps what he wrote.  Whether it was undone.
 */
bool patch_undo(struct run *run, const struct space *space, pid_t tid,
		const struct module *module, const struct code_patch *patch);
/*
 * Write a function plan's relocated function, and the ways into it; or it is
 * lost.
 */
void relocated_plant(struct run *run, struct space *space, pid_t tid,
		     const struct module *module, uint32_t fplan);
void relocated_unplant(struct run *run, struct space *space, pid_t tid,
		       const struct module *module);
/* The relocated function is not used any more: its original is as it was. */
void relocated_revert(struct run *run, struct space *space, pid_t tid,
		      const struct module *module, uint32_t fplan);

/*
 * Ways into the relocated function that are traps now: what was there before
 * goes.
 */
void relocated_reopen(struct run *run, struct space *space, pid_t tid,
		      const struct module *module, uint32_t fplan);

/* ---- relocated_pc.c */

/* A task runs into a trap that leads into a relocated function. */
void relocated_arrive(struct run *run, struct task *task,
		      const struct module *module, const struct site *site);
/* Where a trap that leads into a relocated function leads. */
uint64_t relocated_enter(const struct module *module, const struct site *site);
/*
 * If the stopped task is in a relocated function, move it to where it would be
 * in the original; whether it was.  It may have to run a little for that.
 */
bool relocated_leave(struct run *run, struct task *task);
/* Is the stopped task at an instruction of a relocated function's own? */
bool relocated_counting(struct run *run, const struct task *task);
/*
 * If the stopped task is in a relocated function, bring it to where it could be
 * in the original as well, at *va, and leave it in the relocated function;
 * whether that was done.
 */
bool relocated_bring_original(struct run *run, struct task *task, uint64_t *va);
/* A task that is in the middle of a function when it is copied goes there. */
void relocated_begin(struct run *run, struct task *task);
/*
 * Where in a relocated function one would be that is at va then, or va itself.
 */
uint64_t relocated_inside(const struct space *space, uint64_t va);
/*
 * Where in a relocated function a task goes on that was moved to va, or va
 * itself.
 */
uint64_t relocated_back(const struct space *space, uint64_t va);
/* Move a task back that relocated_leave moved. */
void relocated_return(struct run *run, struct task *task);
/*
 * Where a task that is in a relocated function at pc, or was just led out of it
 * to a call, would be without.
 */
struct position {
	uint64_t va;		/* at this instruction */
	bool during;		/* which has begun */
	bool ahead;		/* or has not; but if it begins a block, that
				   has been counted */
};

/*
 * Find that without running the task.  false if it is in no relocated function.
 */
bool relocated_position(const struct space *space, uint64_t pc,
			struct position *position);
/*
 * The task was moved to va out of a relocated function, or is looked at so:
 * take the count of the block that begins there back, as it has not begun; or
 * add it again, as it goes back to where that has been counted.
 */
void relocated_ahead(struct run *run, struct task *task, uint64_t va,
		     bool back);

/* ---- relocated_signal.c */

/* Deliver a signal to a task that was moved, whose handler will return. */
void relocated_signal(struct run *run, struct task *task, int signal);
/*
 * Deliver a signal to a task that stays in its relocated function, where its
 * handler will return: it is at what would be va in the original.
 */
void relocated_signal_in(struct run *run, struct task *task, int signal,
			 uint64_t va);
/*
 * A handler that was running when its process was attached to has this context
 * to return to, of another place than where it is: it is to come into the
 * relocated function there, if there is one then.
 */
void relocated_context(struct run *run, struct task *task, uint64_t context,
		       uint64_t pc, uint64_t sp);
/* The relocated functions go: handlers of the task return to the original. */
void relocated_contexts(struct run *run, struct task *task);
/* A forked child has its maker's stack, with what handlers return to. */
void relocated_inherit(struct task *child, const struct task *maker);
/*
 * A handler returns, by the code at va hook: the context that it returns to
 * goes back to the relocated function.
 */
void relocated_sigreturn(struct run *run, struct task *task, uint64_t hook);
/* Undo that if the system call has not been made yet: was it so? */
bool relocated_unreturn(struct run *run, struct task *task);
void relocated_forget(struct task *task);

#endif
