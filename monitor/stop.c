/*
 * Stops counting: removes every trap and all memory of pmon's from every space,
 * and lets go of every task, which goes on exactly where it would be without
 * pmon.  Never leaves a trace silently: memory that cannot be removed is a
 * remark in the report.
 */
#include "monitor/stop.h"

#include <signal.h>
#include <stdlib.h>

#include "monitor/account.h"
#include "monitor/patch/foreseen.h"
#include "monitor/patch/module.h"
#include "monitor/patch/patch.h"
#include "monitor/patch/traps.h"
#include "monitor/process/affinity.h"
#include "monitor/process/client.h"
#include "monitor/process/events.h"
#include "monitor/process/inject.h"
#include "monitor/process/restart.h"
#include "monitor/process/task.h"
#include "monitor/process/thread_memory.h"
#include "monitor/process/thread_pages.h"
#include "monitor/run.h"
#include "monitor/unwind/abnormal.h"
#include "util/clock.h"
#include "util/mem.h"

/* HOST_OK, or HOST_ERROR if the kernel has refused to remove a trap. */
static int
space_unplant(struct run *run, const struct process *process, pid_t tid)
{
	struct space *space = process->space;
	int err = HOST_OK;

	for (size_t i = 0; i < space->nmodules; i++)
		if (module_unplant(run, space, tid, space->modules[i],
				   foreseen_find(run, process->pid,
						 space->modules[i])))
			err = HOST_ERROR;
	return err;
}

/* ---- memory */

/* Call fn for all memory of pmon's in a space, until it returns non-zero. */
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
		if (module->shared.va && !err)
			err = fn(ctx, module->shared.va, module->shared.size);
		if (module->springs && !err)
			err = fn(ctx, module->springs, module->springs_size);
	}
	return err ? err : thread_pages_each(space, fn, ctx);
}

/* The tasks of a space, and which of them can best unmap pmon's memory. */
struct crowd {
	struct space *space;
	struct task *best;
	unsigned ease;		/* task_ease of best */
	struct task *inside;	/* one whose pc is stuck in pmon's memory, or
				   NULL */
	bool waiting;		/* one waits in vfork, and is not stopped */
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
 * How well the task, stopped by the event, can be made to do system calls; 0:
 * not at all.  A task that waits in vfork cannot, but its child can.
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
	struct syscall call = { u->run->abi->nr_munmap, 2,
				.args = { va, size } };

	if (inject_calls(u->run, u->task, &call, 1))
		return HOST_GONE;
	if (call.result)
		u->result = call.result;
	return HOST_OK;
}

static void
memory_stays(struct run *run, struct space *space, pid_t tid, const char *why)
{
	space->unmapped = true;
	run_remark(run,
		   "process %d: memory of pmon stays mapped in the "
		   "process: %s",
		   (int)tid, why);
}

/*
 * Have the task unmap all of pmon's memory in its space.  HOST_GONE if it was
 * killed: then another task may do it.
 */
static int
task_unmap(struct run *run, struct task *task, struct event *event)
{
	struct space *space = task->process->space;
	struct unmapping u = { run, task, 0 };

	if (task_confined(run, task)) {
		memory_stays(run, space, task->tid,
			     "a seccomp filter may forbid munmap");
		return HOST_OK;
	}
	if (inject_prepare(run, task, event))
		return HOST_GONE;
	space->unmapping = true;
	if (memory_each(space, memory_unmap, &u))
		return HOST_GONE;
	space->unmapped = true;
	if (u.result)
		memory_stays(run, space, task->tid,
			     "the kernel refused to unmap the memory");
	return HOST_OK;
}

/* Replace the task's event in the queue, which may have moved meanwhile. */
static void
queued_change(struct run *run, struct task *task, const struct event *event)
{
	struct event *queued = run_queued(run, task);

	if (queued)
		*queued = *event;
}

/*
 * Unmap pmon's memory in the space, whose tasks stand still and whose traps are
 * gone.  A task that waits for its vfork child will come back to where it was,
 * perhaps to a slot: then the last task to come back unmaps the memory.
 */
static void
space_unmap(struct run *run, struct space *space)
{
	struct crowd crowd = { 0 };
	struct event event;
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
				     "a thread could not be moved out of the "
				     "memory");
			return;
		}
		event = *run_queued(run, crowd.best);
		err = task_unmap(run, crowd.best, &event);
		if (!err)
			queued_change(run, crowd.best, &event);
	} while (err &&
		 (crowd.best->exiting || crowd.best->state == TASK_DEAD));
	if (err && !task_changed(run, crowd.best))
		memory_stays(run, space, crowd.best->tid,
			     "the process cannot be made to unmap the memory");
}

/* ---- tasks */

/*
 * Detach from the task, delivering signal, and remove it from the tables.  The
 * launched program stays there, untraced, until its end.
 */
static void
task_let_go(struct run *run, struct task *task, int signal)
{
	affinity_restore(run, task);
	thread_pages_leave(run, task);
	/* It was killed before its frames were entered. */
	abnormal_unseen(run, task);
	task->walked = true;
	stop_end(run, task);
	run->host->detach(task->tid, signal);
	thread_pages_end(run, task);
	client_ended(run, task, TASK_LET_GO);
	if (task->tid != run->root.tid) {
		task_free(run, task);
		return;
	}
	task->released = true;
	task->state = TASK_RUNNING;
	/* So that run_pause does not wait for it. */
	task->exiting = true;
}

/* Undo the task's stop for this event; the signal to detach with, or 0. */
static int
event_signal(struct run *run, struct task *task, const struct event *event)
{
	switch (event->kind) {
	case EVENT_TRAP:
		return patch_rewind(run, task, event) ? 0 : SIGTRAP;
	case EVENT_SIGNAL:
		return patch_rewind(run, task, event) ? 0 : event->value;
	default:
		return 0;
	}
}

void
task_release(struct run *run, struct task *task, const struct event *event)
{
	struct space *space = task->process ? task->process->space : NULL;
	int signal;

	/* It waits for its vfork child, and then unmaps pmon's memory. */
	if (task->vforking && space && !space->unmapped) {
		run_resume(run, task, 0);
		return;
	}
	signal = event_signal(run, task, event);
	restart_release(run, task, event->kind, signal);
	patch_leave(run, task);
	if (event->kind == EVENT_VFORK_DONE && space && !space->unmapped) {
		run_requeue(run, event);
		space_unmap(run, space);
		run_unqueue(run, task->tid);
	}
	task_let_go(run, task, signal);
}

/* ---- traps that cannot be removed */

bool
task_stuck(const struct task *task)
{
	return task->process && task->process->space &&
	       task->process->space->stuck;
}

static void
task_drain(struct run *run, struct task *task, void *ctx)
{
	if (task->process && task->process->space == ctx)
		thread_pages_drain(run, task);
}

/*
 * Without pmon, the traps that are left would end the processes of the space.
 * pmon stays until these processes end, and counts nothing in them.
 */
static void
space_mark_stuck(struct run *run, struct space *space, pid_t pid)
{
	char *note;

	if (!space->stuck) {
		note = mem_printf(
			"process %d: the kernel refuses to remove "
			"breakpoints, so pmon stays until the process "
			"ends; another signal to pmon tries again",
			(int)pid);
		run->tell(note);
		free(note);
		task_each(run, task_drain, space);
	}
	space->stuck = true;
	for (struct process *p = run->processes; p; p = p->next)
		if (p->space == space)
			p->counted = false;
}

int
space_leave(struct run *run, struct task *task, const struct event *event)
{
	struct space *space = task->process->space;

	if (space_unplant(run, task->process, task->tid)) {
		space_mark_stuck(run, space, task->process->pid);
		return HOST_ERROR;
	}
	run_requeue(run, event);
	space_unmap(run, space);
	run_unqueue(run, task->tid);
	task_release(run, task, event);
	return HOST_OK;
}

/* ---- all */

/* Does a process earlier in the list have the same space? */
static bool
space_seen(const struct run *run, const struct process *process)
{
	const struct process *other = run->processes;

	while (other != process && other->space != process->space)
		other = other->next;
	return other != process;
}

/* Remove traps and memory of pmon's from the process's space. */
static void
space_clear(struct run *run, const struct process *process)
{
	struct space *space = process->space;
	struct task *task = run_stopped_task(run, space);

	/* No task is stopped if the only one waits in vfork. */
	if (space_unplant(run, process, task ? task->tid : process->pid)) {
		space_mark_stuck(run, space, process->pid);
		return;
	}
	space->stuck = false;
	space_unmap(run, space);
}

void
run_stop_stuck(struct run *run)
{
	bool any = false;

	for (struct process *p = run->processes; p; p = p->next)
		any |= p->space && p->space->stuck;
	if (!any)
		return;
	run_pause_all(run, STOP_STOPPING);
	for (struct process *p = run->processes; p; p = p->next)
		if (p->space && p->space->stuck && !space_seen(run, p))
			space_clear(run, p);
}

/*
 * The task's pause may have made its system call fail.  The call may have run
 * in a slot.
 */
static void
task_ready(struct run *run, struct task *task, void *ctx)
{
	const struct event *queued = run_queued(run, task);

	if (!task->process || task->state != TASK_STOPPED || !queued ||
	    (queued->kind != EVENT_PAUSED &&
	     (queued->kind != EVENT_SYSCALL_EXIT || !task->paused)))
		return;
	patch_signal(run, task, 0);
	restart_ready(run, task);
}

static void
traps_add(struct run *run, const struct space *space)
{
	for (size_t i = 0; i < space->nmodules; i++)
		run->stall.traps += module_traps(space->modules[i]);
}

/* Do what can be done while the processes to let go still run. */
static void
stop_foresee(struct run *run)
{
	for (struct process *p = run->processes; p; p = p->next)
		if (p->space && !space_seen(run, p))
			foreseen_undo(run, p->pid, p->space);
}

void
run_stop(struct run *run, int signal)
{
	struct process *process;

	/* What is attached to may not have gone on yet. */
	if (run->opts->npids && !run->standing)
		stop_foresee(run);
	run_standing_end(run);
	if (run->opts->npids)
		run->standing = clock_seconds();
	run_pause_all(run, STOP_STOPPING);
	abnormal_present(run, PRESENT);
	task_each(run, task_ready, NULL);
	run->stopping = true;
	for (process = run->processes; process; process = process->next)
		if (process->space && !space_seen(run, process)) {
			traps_add(run, process->space);
			space_clear(run, process);
		}
	/* What was foreseen is freed in run_goes_on. */
	if (run->root.tid && !run->root.ended)
		run->host->kill(run->root.tid, signal);
}
