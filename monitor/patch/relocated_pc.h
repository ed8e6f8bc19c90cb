/*
 * What a pc in a relocated function stands for, and tasks that are moved into a
 * relocated function and out of it.
 */
#ifndef MONITOR_PATCH_RELOCATED_PC_H
#define MONITOR_PATCH_RELOCATED_PC_H

#include "monitor/run.h"

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
 * from there: a task that steps itself, with a handler, would come there again
 * and again.
 */
void relocated_land(struct run *run, struct task *task);
/*
 * If the stopped task is in a relocated function, or was just led out of one to
 * a call, take it to where it would be in the original, which may have it run
 * some instructions.  true if the task, or a handler's return, must go back to
 * the relocated function: see relocated_return and relocated_signal.
 */
bool relocated_leave(struct run *run, struct task *task);
/*
 * The function of the module whose relocated function has the pc, at *offset; or
 * NULL.
 */
const struct func_plan *relocated_find(const struct module *module, uint64_t pc,
				       uint32_t *offset);
/*
 * Whether the stopped task is in a relocated function and runs code of pmon's
 * there, not a relocated instruction.
 */
bool relocated_counting(struct run *run, const struct task *task);
/*
 * Whether the task has stopped at the trap of a PROBE_RECORD that had no room.
 * When it goes on, the probe tries again.
 */
bool relocated_full(struct run *run, const struct task *task);
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
	bool dispatched;	/* the indirect jump here has gone, and has been
				   counted: a scratch slot has the va of its
				   target; or, unless it is REG_NONE: */
	uint8_t reg;		/* the register with the target's va */
	uint64_t table;		/* ... or, unless 0, with the number of its
				   entry in this table */
};

/*
 * Find the position without running the task.  false if the task is in no
 * relocated function and did not just leave one.
 */
bool relocated_position(const struct space *space, uint64_t pc,
			struct position *position);
/*
 * The same of a task with this pc: where an indirect jump has gone the position
 * is its target.
 */
bool relocated_task_position(struct run *run, const struct task *task,
			     uint64_t pc, struct position *position);
/*
 * The task was moved out of a relocated function to va, or is looked at as if
 * it were.  If a block begins at va, it has been counted but not begun: with
 * `back`, take its count back; without, add it again, as the task goes back to
 * where it has been counted.
 */
void relocated_ahead(struct run *run, struct task *task, uint64_t va,
		     uint64_t sp, bool back);

#endif
