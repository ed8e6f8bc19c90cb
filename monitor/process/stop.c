/*
 * Stopping: taking every trap and all memory of pmon's out of every space, and
 * letting go of every task, so that each goes on exactly where it would be
 * without pmon, and nothing tells that it was there.  What cannot be removed
 * the report says.
 */
#include <signal.h>

#include "monitor/client/client.h"
#include "monitor/process/affinity.h"
#include "monitor/process/thread_pages.h"
#include "monitor/patch/relocated.h"
#include "monitor/process/cut.h"
#include "monitor/process/inject.h"
#include "monitor/patch/module.h"
#include "monitor/patch/patch.h"
#include "monitor/run.h"
#include "monitor/process/stop.h"
#include "monitor/unwind/abnormal.h"
#include "monitor/process/task.h"
#include "util/fail.h"

static void
space_unplant(struct run *run, struct space *space, pid_t tid)
{
	for (size_t i = 0; i < space->nmodules; i++)
		module_unplant(run, space, tid, space->modules[i]);
}

/* ---- memory */

/* Call fn for all memory of pmon's in a space, until it returns not 0. */
static int
memory_each(const struct space *space,
	    int (*fn)(void *ctx, uint64_t va, uint64_t size), void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < space->nmodules && !err; i++) {
		const struct module *module = space->modules[i];

		if (module->slots)
			err = fn(ctx, module->slots, module->slots_size);
		if (module->relocated && !err)
			err = fn(ctx, module->relocated,
				 module->relocated_size);
	}
	return err ? err : thread_pages_each(space, fn, ctx);
}

/* What a space's tasks are doing, and who of them can be made to do more. */
struct crowd {
	struct space *space;
	struct task *best;
	unsigned ease;		/* of that one */
	struct task *inside;	/* is where it cannot be led out of, or NULL */
	bool waiting;		/* one is in vfork, and not stopped */
};

static int
memory_has(void *pc, uint64_t va, uint64_t size)
{
	return *(const uint64_t *)pc - va < size;
}

static int
memory_any(void *ctx, uint64_t va, uint64_t size)
{
	return 1;
}

/*
 * How well the task can be made to do system calls.  One in vfork cannot: its
 * child can, if that shares the space.
 */
static unsigned
task_ease(const struct task *task, const struct event *event)
{
	if (!event || task->vforking)
		return 0;
	switch (event->kind) {
	case EVENT_PAUSED:
		return 3;
	case EVENT_TRAP:
	case EVENT_SIGNAL:
	case EVENT_STOPPED:
	case EVENT_SYSCALL_EXIT:
		return 2;
	default:
		return 1;
	}
}

static void
crowd_add(struct run *run, struct task *task, void *ctx)
{
	struct crowd *crowd = ctx;
	unsigned ease;
	uint64_t pc;

	if (!task->process || task->process->space != crowd->space ||
	    task->exiting)
		return;
	if (task->vforking && task->state == TASK_RUNNING)
		crowd->waiting = true;
	if (task->state != TASK_STOPPED)
		return;
	patch_leave(run, task);
	pc = task_pc(run, task);
	if (memory_each(crowd->space, memory_has, &pc))
		crowd->inside = task;
	ease = task_ease(task, run_queued(run, task));
	if (ease > crowd->ease) {
		crowd->best = task;
		crowd->ease = ease;
	}
}

struct unmapping {
	struct run *run;
	struct task *task;
	int64_t result;
};

static int
memory_unmap(void *ctx, uint64_t va, uint64_t size)
{
	struct unmapping *u = ctx;
	int64_t result = 0;

	if (inject_syscall(u->run, u->task, u->run->abi->nr_munmap,
			   (uint64_t[6]){ va, size }, &result))
		return HOST_GONE;
	if (result)
		u->result = result;
	return HOST_OK;
}

static void
memory_stays(struct run *run, struct space *space, pid_t tid, const char *why)
{
	space->unmapped = true;
	run_remark(run, "process %d: memory of pmon's is left in it: %s",
		   (int)tid, why);
}

/*
 * Have a task unmap all of pmon's memory in its space.  HOST_GONE if it was
 * killed: another one may do it.
 */
static int
task_unmap(struct run *run, struct task *task, struct event *event)
{
	struct space *space = task->process->space;
	struct unmapping u = { run, task, 0 };

	if (run->host->confined(task->tid)) {
		memory_stays(run, space, task->tid,
			     "a seccomp filter may forbid to unmap it");
		return HOST_OK;
	}
	if (inject_prepare(run, task, event) ||
	    memory_each(space, memory_unmap, &u))
		return HOST_GONE;
	space->unmapped = true;
	if (u.result)
		memory_stays(run, space, task->tid,
			     "the kernel refused to unmap it");
	return HOST_OK;
}

/* An event was changed while others may have been queued. */
static void
queued_change(struct run *run, struct task *task, const struct event *event)
{
	struct event *queued = run_queued(run, task);

	if (queued)
		*queued = *event;
}

/*
 * Unmap what is pmon's in the space, whose tasks stand still and have no traps
 * any more.  If one of them waits for its vfork child it comes back to where it
 * was, perhaps in a slot: then the one that comes back last unmaps it.
 */
static void
space_unmap(struct run *run, struct space *space)
{
	struct event event;
	struct crowd crowd;
	int err;

	do {
		crowd = (struct crowd){ .space = space };
		task_each(run, crowd_add, &crowd);
		if (space->unmapped || crowd.waiting || !crowd.best)
			return;
		if (!memory_each(space, memory_any, NULL)) {
			space->unmapped = true;
			return;
		}
		if (crowd.inside) {
			memory_stays(run, space, crowd.inside->tid,
				     "a thread could not be led out of it");
			return;
		}
		event = *run_queued(run, crowd.best);
		err = task_unmap(run, crowd.best, &event);
		if (!err)
			queued_change(run, crowd.best, &event);
	} while (err && (crowd.best->exiting ||
			 crowd.best->state == TASK_DEAD));
	if (err && !run->host->changed(crowd.best->tid))
		memory_stays(run, space, crowd.best->tid,
			     "it cannot be made to unmap it");
}

/* ---- tasks */

/*
 * The launched program stays in the table, untraced, until its end.
 */
static void
task_let_go(struct run *run, struct task *task, int signal)
{
	affinity_restore(run, task);
	thread_pages_leave(run, task);
	stop_end(run, task);
	run->host->detach(task->tid, signal);
	client_ended(run, task, TASK_LET_GO);
	if (task->tid != run->root) {
		task_free(run, task);
		return;
	}
	task->released = true;
	task->state = TASK_RUNNING;
	/* So that nothing waits for it to be paused. */
	task->exiting = true;
}

/* The signal that the task is to be let go with. */
static int
event_signal(struct run *run, struct task *task, const struct event *event)
{
	switch (event->kind) {
	case EVENT_TRAP:
		return patch_forget(run, task) ? 0 : SIGTRAP;
	case EVENT_SIGNAL:
		return event->value;
	case EVENT_PAUSED:
		cut_undo(run, task, false);
		return 0;
	default:
		return 0;
	}
}

void
task_release(struct run *run, struct task *task, const struct event *event)
{
	struct space *space = task->process ? task->process->space : NULL;
	int signal;

	/* It waits for its child, and then unmaps what is pmon's. */
	if (task->vforking && space && !space->unmapped) {
		run_resume(run, task, 0);
		return;
	}
	cut_end(run, task, event->kind);
	signal = event_signal(run, task, event);
	patch_leave(run, task);
	if (event->kind == EVENT_VFORK_DONE && space && !space->unmapped) {
		run_requeue(run, event);
		space_unmap(run, space);
		run_unqueue(run, task->tid);
	}
	task_let_go(run, task, signal);
}

void
space_leave(struct run *run, struct task *task, const struct event *event)
{
	struct space *space = task->process->space;

	space_unplant(run, space, task->tid);
	run_requeue(run, event);
	space_unmap(run, space);
	run_unqueue(run, task->tid);
	task_release(run, task, event);
}

/* ---- all */

/* Another process, looked at before, has the same space. */
static bool
space_seen(const struct run *run, const struct process *process)
{
	const struct process *other = run->processes;

	while (other != process && other->space != process->space)
		other = other->next;
	return other != process;
}

/* Take all that is pmon's out of the space, while its tasks stand still. */
static void
space_clear(struct run *run, const struct process *process)
{
	struct space *space = process->space;
	struct task *task = run_stopped_task(run, space);

	for (size_t i = 0; i < space->nmodules; i++)
		run->stall.traps += module_traps(space->modules[i]);
	/* None is stopped if all there is waits in vfork. */
	space_unplant(run, space, task ? task->tid : process->pid);
	space_unmap(run, space);
}

void
run_stop(struct run *run, int signal)
{
	struct process *process;

	/* What is attached to may not have gone on yet. */
	run_standing_end(run);
	if (run->opts->npids)
		run->standing = run_clock();
	run_pause_all(run, STOP_STOPPING);
	abnormal_present(run, PRESENT);
	run->stopping = true;
	for (process = run->processes; process; process = process->next)
		if (process->space && !space_seen(run, process))
			space_clear(run, process);
	if (run->root && !run->root_ended)
		run->host->kill(run->root, signal);
}
