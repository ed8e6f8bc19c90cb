/*
 * Control that leaves functions, or comes to them, over no edge.
 */
#ifndef MONITOR_UNWIND_ABNORMAL_H
#define MONITOR_UNWIND_ABNORMAL_H

#include "monitor/run.h"

/*
 * Whether anything is derived in what the space runs: then there are hooks
 * wherever stacks are left.
 */
bool space_infers(const struct space *space);
/*
 * Whether it has to be known what files it runs, and in the middle of what its
 * tasks are: also where nothing is derived, but there are relocated functions.
 */
bool space_known(const struct space *space);
/* Whether traps are planted there, so that some system calls matter. */
bool space_hooked(const struct space *space);
/* The task is at its last stop. */
void abnormal_end(struct run *run, struct task *task);
/* It has ended; that may have been overlooked. */
void abnormal_unseen(struct run *run, struct task *task);
/* The first stop of a task that may have begun in the middle of functions. */
void abnormal_birth(struct run *run, struct task *task);
/* All tasks of an attached process stand still, and are counted from here. */
void abnormal_attach(struct run *run, struct process *process);
/*
 * So it is with all processes that are attached to: tasks in the middle of
 * functions go on in their relocated functions.
 */
void strays_begin(struct run *run, struct process *process);
/*
 * All tasks stand still: enter their frames as left, for a look at the
 * counts; then take that back, or, when all counts are 0, say that control
 * came there, which is as much.
 */
enum presence { PRESENT, PRESENT_NOT, PRESENT_ANEW };
void abnormal_present(struct run *run, enum presence how);
/*
 * The task has stopped, with its pc where it would be without pmon: it has
 * done what it was about to do at a hook, unless it is still there.
 */
void abnormal_passed(struct run *run, struct task *task, uint64_t pc);
/* The task's exec has succeeded; its old space is still known. */
void abnormal_exec(struct run *run, struct task *task);
/* The task that execs takes the id of another. */
void abnormal_hand_over(struct task *from, struct task *to);
/* Forget what is kept for the task. */
void abnormal_forget(struct task *task);
/* It is at a hook of the module, by its number in sites. */
void abnormal_hook(struct run *run, struct task *task,
		   const struct module *module, uint32_t number);
/* The task's frame edges are what control did. */
void abnormal_enter(struct run *run, const struct task *task,
		    const struct stack_switch *stack_switch);

/* From here on nothing is derived behind calls in what the space runs. */
void space_calls_underivable(struct run *run, struct space *space,
			     enum count_reason reason, const char *why);

#endif
