/*
 * Copies of functions in a process, and what their being there must not show.
 */
#ifndef MONITOR_COPIES_H
#define MONITOR_COPIES_H

#include "copy/copy.h"
#include "monitor/run.h"

/* The plan's functions go without copies from now on; the report says why. */
void copies_refuse(struct run *run, struct plan *plan, const char *why);
/* Map what the module needs for copies; else its plan goes without. */
void copies_map(struct run *run, struct task *task, struct module *module);
/* Where a body's copy and its original are. */
struct copy_place copy_place(const struct module *module,
			     const struct body *body);
/*
 * Put the original's bytes back where they are what the patch made them: who
 * wrote there himself keeps what he wrote.  Whether it was undone.
 */
bool patch_undo(struct run *run, const struct space *space, pid_t tid,
		const struct module *module, const struct copy_patch *patch);
/* Write a body's copy, and the ways into it; or it is lost. */
void copy_plant(struct run *run, struct space *space, pid_t tid,
		const struct module *module, uint32_t body);
void copies_unplant(struct run *run, struct space *space, pid_t tid,
		    const struct module *module);
/* The copy is not used any more: its original is as it was. */
void copy_revert(struct run *run, struct space *space, pid_t tid,
		 const struct module *module, uint32_t body);

/* Ways into the copy that are traps now: what was there before goes. */
void copy_reopen(struct run *run, struct space *space, pid_t tid,
		 const struct module *module, uint32_t body);

/* ---- copies_pc.c */

/* A task runs into a trap that leads into a copy. */
void copies_arrive(struct run *run, struct task *task,
		   const struct module *module, const struct site *site);
/* Where a trap that leads into a copy leads. */
uint64_t copies_enter(const struct module *module, const struct site *site);
/*
 * If the stopped task is in a copy, move it to where it would be in the
 * original; whether it was.  It may have to run a little for that.
 */
bool copies_leave(struct run *run, struct task *task);
/* Is the stopped task at an instruction of a copy's own? */
bool copies_counting(struct run *run, const struct task *task);
/*
 * If the stopped task is in a copy, bring it to where it could be in the
 * original as well, at *va, and leave it in the copy; whether that was done.
 */
bool copies_settle(struct run *run, struct task *task, uint64_t *va);
/* A task that is in the middle of a function when it is copied goes there. */
void copies_begin(struct run *run, struct task *task);
/* Where in a copy one would be that is at va then, or va itself. */
uint64_t copies_inside(const struct space *space, uint64_t va);
/* Where in a copy a task goes on that was moved to va, or va itself. */
uint64_t copies_back(const struct space *space, uint64_t va);
/* Move a task back that copies_leave moved. */
void copies_return(struct run *run, struct task *task);
/*
 * Where a task that is in a copy at pc, or was just led out of it to a call,
 * would be without.
 */
struct position {
	uint64_t va;		/* at this instruction */
	bool during;		/* which has begun */
	bool ahead;		/* or has not; but if it begins a block, that
				   has been counted */
};

/* Find that without running the task.  false if it is in no copy. */
bool copies_position(const struct space *space, uint64_t pc,
		     struct position *position);
/*
 * The task was moved to va out of a copy, or is looked at so: take the count of
 * the block that begins there back, as it has not begun; or add it again, as
 * it goes back to where that has been counted.
 */
void copies_ahead(struct run *run, struct task *task, uint64_t va, bool back);

/* ---- copies_signal.c */

/* Deliver a signal to a task that was moved, whose handler will return. */
void copies_signal(struct run *run, struct task *task, int signal);
/*
 * Deliver a signal to a task that stays in its copy, where its handler will
 * return: it is at what would be va in the original.
 */
void copies_signal_in(struct run *run, struct task *task, int signal,
		      uint64_t va);
/*
 * A handler that was running when its process was attached to has this context
 * to return to, of another place than where it is: it is to come into the copy
 * there, if there is one then.
 */
void copies_context(struct run *run, struct task *task, uint64_t context,
		    uint64_t pc, uint64_t sp);
/* The copies go: handlers of the task return to the original. */
void copies_contexts(struct run *run, struct task *task);
/* A forked child has its maker's stack, with what handlers return to. */
void copies_inherit(struct task *child, const struct task *maker);
/*
 * A handler returns, by the code at va hook: the context that it returns to
 * goes back to the copy.
 */
void copies_sigreturn(struct run *run, struct task *task, uint64_t hook);
/* Undo that if the system call has not been made yet: was it so? */
bool copies_unreturn(struct run *run, struct task *task);
void copies_forget(struct task *task);

#endif
