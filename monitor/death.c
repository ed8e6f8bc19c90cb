/*
 * Notes where the launched process is when a signal comes that may end it, so
 * that reports can name the position (Mellor-Crummey & LeBlanc 1989, section 2:
 * a place and how often control has come there).  Moves no task and counts
 * nothing.
 */
#include "monitor/death.h"

#include <signal.h>

#include "monitor/patch/relocated_pc.h"
#include "monitor/process/object.h"
#include "monitor/process/signals.h"
#include "monitor/process/space.h"
#include "monitor/process/task.h"
#include "monitor/unwind/abnormal.h"
#include "monitor/unwind/stack.h"

static bool
signal_stops(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
	       signal == SIGTTOU;
}

/* Whether the code at va is counted; if so, its place. */
static bool
place_find(const struct space *space, uint64_t va, struct death *death)
{
	struct code_at at = code_at(space, va);

	if (!at.fplan)
		return false;
	death->plan = at.module->plan;
	death->addr = at.addr;
	return true;
}

/* A caller's frame is known by where the call returns to. */
static bool
frame_counted(const struct walk *walk, void *ctx)
{
	struct death death;

	return place_find(ctx, walk->frames[walk->n - 1].pc - 1, &death);
}

/* The innermost caller whose code is counted. */
static void
caller_find(struct run *run, const struct task *task, uint64_t va,
	    struct death *death)
{
	struct space *space = task->process->space;
	const struct walk_until until = { frame_counted, space };
	struct walk_start start;
	struct walk walk;

	if (walk_start(run->host, task->tid, &start))
		return;
	start.regs.r[run->arch->reg_pc] = va;
	if (!stack_walk(space_stack(run, space), task->tid, &start, &until,
			&walk) &&
	    walk.end == WALK_ENOUGH &&
	    place_find(space, walk.frames[walk.n - 1].pc - 1, death))
		death->how = DEATH_CALL;
	walk_free(&walk);
}

void
death_forget(struct run *run, const struct task *task)
{
	if (run->root.dying == task->tid)
		run->root.dying = 0;
}

void
death_note(struct run *run, struct task *task, int signal)
{
	const struct space *space = task->process->space;
	struct death *death = &run->root.death;
	struct position position;
	uint64_t pc, va;

	if (!signal || run->root.dying || task->process->pid != run->root.tid ||
	    signal_stops(signal) || signal_ignored(run, task, signal))
		return;
	va = pc = task_pc(run, task);
	run->root.dying = task->tid;
	*death = (struct death){ 0 };
	if (relocated_task_position(run, task, pc, &position))
		va = position.va;
	if (!place_find(space, va, death))
		caller_find(run, task, va, death);
	else if (task->fault_va == pc)
		death->how = DEATH_DURING;
}
