/*
 * Finds abnormal edges, control that leaves functions, or comes to them, over
 * no edge of their graphs, and tells clients of them.  To enter a frame edge is
 * to tell clients of it.
 */
#ifndef MONITOR_UNWIND_ABNORMAL_H
#define MONITOR_UNWIND_ABNORMAL_H

#include "monitor/run.h"

/* The task is at its last stop: all its frames are left. */
void abnormal_end(struct run *run, struct task *task);
/*
 * The task has ended.  If abnormal_end was not called for it, it is not known
 * where it ended: make its space underivable, unless the task never began.
 */
void abnormal_unseen(struct run *run, struct task *task);
/*
 * The first stop of a new task, which may have begun in the middle of
 * functions: control comes to its frames.
 */
void abnormal_birth(struct run *run, struct task *task);
/*
 * The task has made a child by vfork and will wait for it in the kernel, where
 * it cannot be stopped: record its frames (task->waits).
 */
void abnormal_waits(struct run *run, struct task *task);
/*
 * An attached process is counted from here on: control comes to the frames of
 * all its tasks, which stand still.  Walks stacks only where counts are derived.
 */
void abnormal_attach(struct run *run, struct process *process);
/*
 * abnormal_attach has been called for all processes that are attached to: move
 * this one's tasks into the relocated functions of the functions that they are
 * in.
 */
void abnormal_begin(struct run *run, struct process *process);
/*
 * All tasks stand still.  PRESENT: enter their frames as left, so that counts
 * can be looked at.  PRESENT_NOT: take that back.  PRESENT_ANEW: all counts
 * have been reset; enter the frames as come to, in place of taking that back.
 */
enum presence { PRESENT, PRESENT_NOT, PRESENT_ANEW };
void abnormal_present(struct run *run, enum presence how);
/*
 * The task has stopped; pc is where it would be without pmon, or 0 if it has
 * certainly run on.  Unless pc is still the hook that it stopped at last, it
 * has done the stack switch there: enter that switch's frame edges.
 */
void abnormal_passed(struct run *run, struct task *task, uint64_t pc);
/*
 * The task's exec has succeeded: enter the frames that it has left.  Its old
 * space is still in place.
 */
void abnormal_exec(struct run *run, struct task *task);
/* Task `from` execs and takes the id of task `to`: pass on what it leaves. */
void abnormal_hand_over(struct task *from, struct task *to);
/* Free what abnormal.c keeps for the task. */
void abnormal_free(struct task *task);
/* The task is at hook number `number`, from 1, of the module's plan. */
void abnormal_hook(struct run *run, struct task *task, struct module *module,
		   uint32_t number);
/* Enter these frame edges of the task, if anything is derived in its space. */
void abnormal_enter(struct run *run, const struct task *task,
		    const struct stack_switch *stack_switch);

/* ---- between abnormal.c and abnormal_tasks.c */

/* The space's stack walker, which the space owns. */
struct stack *space_stack(struct run *run, struct space *space);
/* Free a stack switch of a task (exec or waits), if it has one. */
void task_switch_free(struct stack_switch **stack_switch);
/* Whether counts are derived for the task. */
bool task_infers(const struct task *task);
/* Whether clients are told of abnormal edges of the task. */
bool task_abnormals(const struct run *run, const struct task *task);
/* Count the functions that the switch comes to from now on. */
void stack_switch_wake(struct run *run, const struct task *task,
		       const struct stack_switch *stack_switch);
/* Enter the frame edges of the task, as `how` says. */
void stack_switch_enter(struct run *run, const struct task *task,
			const struct stack_switch *stack_switch,
			enum presence how);

#endif
