/*
 * The shallow unwind, for programs on hosts where stacks are not walked.  In
 * their plans no call is taken to come back (plan_options.leaks), so only the
 * innermost frame of a stopped task matters: where control came into the middle
 * of its code, or leaves it.  Marks a function as interrupted where it is not
 * known what a signal's handler did.
 */
#include "monitor/unwind/shallow.h"

#include <stdlib.h>

#include "monitor/patch/relocated_signal.h"
#include "monitor/run.h"
#include "monitor/unwind/abnormal.h"
#include "monitor/unwind/stack_switch.h"
#include "util/mem.h"

int
shallow_frame(struct run *run, const struct task *task, bool came,
	      struct stack_switch *stack_switch)
{
	uint64_t pc;

	*stack_switch = (struct stack_switch){ 0 };
	if (run->host->reg_get(task->tid, run->arch->reg_pc, &pc))
		return HOST_GONE;
	*vec_push(stack_switch->frame_edges,
		  stack_switch->n) = (struct frame_edge){
		.va = pc,
		.came = came,
		.arrived = came,
	};
	return HOST_OK;
}

/* If the host says that it could not count, no count is known. */
static void
shallow_check(struct run *run, const struct task *task)
{
	const struct space *space = task->process->space;
	const char *why;

	if (!run->host->uncounted || !run->host->uncounted(&why))
		return;
	for (size_t i = 0; i < space->nmodules; i++) {
		plan_lose(space->modules[i]->plan);
		space->modules[i]->plan->unseen = true;
	}
	run_remark(run, "nothing was counted: %s", why);
}

void
shallow_event(struct run *run, struct task *task, const struct event *event)
{
	struct stack_switch stack_switch = { 0 };
	int signal = task->signal;

	if (run->host->native || !task->process->space || run->stopping)
		return;
	shallow_check(run, task);
	task->signal = 0;
	if (event->kind != EVENT_KILLED) {
		if (signal)
			fault_interrupts(task->process->space, task->signal_va);
		/*
		 * It exited by a system call, which was not taken to come back.
		 */
		task->walked |= event->kind == EVENT_EXITED;
		return;
	}
	if (signal != event->value)
		return;
	*vec_push(stack_switch.frame_edges,
		  stack_switch.n) = (struct frame_edge){
		.va = task->signal_va,
	};
	abnormal_enter(run, task, &stack_switch);
	stack_switch_free(&stack_switch);
	task->walked = true;
}
