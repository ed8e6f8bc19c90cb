/*
 * The run loop: takes events from the host, or from the queue of those that
 * came while pmon waited for another task, enters them into the tables, and
 * hands traps to patch.c.  Owns the queue.  Never prints anything itself: a
 * report on SIGUSR1 goes through run->report.
 */
#include "monitor/process/account.h"
#include "monitor/process/affinity.h"
#include "monitor/process/thread_pages.h"
#include "monitor/client/autosave.h"
#include "monitor/client/client.h"
#include "monitor/process/clones.h"
#include "monitor/control.h"
#include "monitor/patch/relocated.h"
#include "monitor/process/cut.h"
#include "monitor/patch/deliver.h"
#include "monitor/patch/faults.h"
#include "monitor/unwind/shallow.h"
#include "monitor/notice.h"
#include "monitor/patch/patch.h"
#include "monitor/patch/plant.h"
#include "monitor/run.h"
#include "monitor/process/stop.h"
#include "monitor/unwind/abnormal.h"
#include "monitor/client/tamper.h"
#include "monitor/process/task.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"

void
run_remark(struct run *run, const char *fmt, ...)
{
	char buf[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < run->nremarks; i++)
		if (!strcmp(run->remarks[i], buf))
			return;
	*vec_push(run->remarks, run->nremarks) = mem_strdup(buf);
}

/* ---- the queue */

void
run_requeue(struct run *run, const struct event *event)
{
	if (run->queue_head && run->queue_head == run->queue_len)
		run->queue_head = run->queue_len = 0;
	*vec_push(run->queue, run->queue_len) = *event;
}

void
run_unqueue(struct run *run, pid_t tid)
{
	for (size_t i = run->queue_head; i < run->queue_len; i++)
		if (run->queue[i].tid == tid)
			run->queue[i].tid = 0;
}

static bool
queue_take(struct run *run, struct event *event)
{
	while (run->queue_head < run->queue_len) {
		*event = run->queue[run->queue_head++];
		if (event->tid)
			return true;
	}
	return false;
}

/*
 * Another thread has done exec and taken the task's id.  The task's queued
 * events are void, except that its forked children must be entered: they live
 * on in memory of their own.
 */
static void
queue_void(struct run *run, struct task *task)
{
	for (size_t i = run->queue_head; i < run->queue_len; i++) {
		struct event event = run->queue[i];

		if (event.tid != task->tid)
			continue;
		run->queue[i].tid = 0;
		if (event.kind == EVENT_FORK || event.kind == EVENT_VFORK)
			run_account(run, task, &event);
	}
}

/*
 * Note in the task's state that the host has told of this event.  false if the
 * task is not (yet) known, so that there is nothing to handle.
 */
static bool
event_receive(struct run *run, const struct event *event)
{
	struct task *task = task_find(run, event->tid);
	bool ended = event->kind == EVENT_EXITED ||
		     event->kind == EVENT_KILLED;

	if (event->kind == EVENT_EXEC && event->value != event->tid) {
		/* The leader whose id it took may be long gone. */
		struct task *old = task_find(run, event->value);

		if (task)
			queue_void(run, task);
		else if (old)
			task = task_new(run, event->tid, old->process);
		if (old) {
			abnormal_hand_over(old, task);
			thread_pages_end(run, old);
			client_ended(run, old, TASK_REPLACED);
			task_free(run, old);
		}
	}
	if (ended && (!task || !task->process)) {
		if (task)
			task_free(run, task);
		return false;
	}
	/* A child can stop before its parent's event announces it. */
	if (!task) {
		task = task_new(run, event->tid, NULL);
		task->parent = run->host->parent(event->tid);
	}
	if (!ended)
		task->hit_slotted = false;
	task->last = false;
	task->state = ended ? TASK_DEAD : TASK_STOPPED;
	if (!ended && event->kind != EVENT_CLONE && event->kind != EVENT_FORK &&
	    event->kind != EVENT_VFORK)
		task->extended = run->extended;
	task->group_stopped = event->kind == EVENT_STOPPED;
	if (!ended)
		stop_begin(run, task, event);
	if (task->process)
		return true;
	task->held = *event;
	task->has_held = true;
	run_adopt(run, task);
	if (!task->process)
		return false;
	run_unqueue(run, task->tid);
	return true;
}

/* A task is about to end, perhaps not yet announced: let it go at once. */
static void
task_exiting(struct run *run, const struct event *event)
{
	struct task *task = task_find(run, event->tid);

	stop_begin(run, task, event);
	if (!task) {
		run->host->resume(event->tid, RESUME_END, 0);
		return;
	}
	task->exiting = true;
	abnormal_end(run, task);
	tamper_check(run, task);
	thread_pages_end(run, task);
	task->state = TASK_RUNNING;
	task_resume(run, task, RESUME_END, 0);
}

/*
 * Wait for an event of some known task; false for EVENT_WAKE or EVENT_DONE.  A
 * task that is about to end is let go at once: it will run no more code, and a
 * thread in exec, or a leader that ends, waits for it in the kernel.
 */
static bool
host_event(struct run *run, struct event *event)
{
	for (;;) {
		run->host->wait(event);
		if (event->kind == EVENT_WAKE || event->kind == EVENT_DONE)
			return false;
		if (event->kind == EVENT_EXITING)
			task_exiting(run, event);
		else if (event_receive(run, event))
			return true;
	}
}

void
run_wait_task(struct run *run, struct task *task, struct event *event)
{
	pid_t tid = task->tid;

	task->state = TASK_RUNNING;
	for (;;) {
		if (host_event(run, event)) {
			if (event->tid == tid)
				return;
			run_requeue(run, event);
		} else if (event->kind == EVENT_DONE) {
			*event = (struct event){ EVENT_KILLED, tid, SIGKILL };
			task->state = TASK_DEAD;
			return;
		}
	}
}

/* ---- pausing and resuming */

struct pause {
	struct space *space;
	struct task *except;
	enum stop_cause why;
	bool waiting;		/* some tasks have not stopped yet */
	bool late;		/* a tick has passed: look for zombies */
};

/* Could the task run code in the space that is to stand still? */
static bool
task_to_pause(const struct task *task, const struct pause *pause)
{
	return task->process && task->state == TASK_RUNNING &&
	       !task->vforking && !task->exiting && task != pause->except &&
	       (!pause->space || task->process->space == pause->space);
}

static void
task_pause(struct run *run, struct task *task, void *pause)
{
	if (!task_to_pause(task, pause))
		return;
	task->paused = true;
	task_interrupt(run, task, ((const struct pause *)pause)->why);
}

/*
 * Is the task still to be waited for?  A leader that was killed is a zombie
 * until its threads have ended, which may be standing still.  Usually its
 * EVENT_EXITING has come, but a resume meant for an earlier stop may have let
 * the leader run past that stop.
 */
static void
task_pausing(struct run *run, struct task *task, void *ctx)
{
	struct pause *pause = ctx;

	if (!task_to_pause(task, pause))
		return;
	if (pause->late && task->tid == task->process->pid &&
	    run->host->zombie(task->tid))
		task->exiting = true;
	else
		pause->waiting = true;
}

void
run_pause(struct run *run, struct space *space, struct task *except,
	  enum stop_cause why)
{
	struct pause pause = { space, except, why, false, false };
	struct event event;

	task_each(run, task_pause, &pause);
	/* A tick ends the wait, so that a zombie is noticed. */
	notice_ticks(true);
	for (;;) {
		pause.waiting = false;
		task_each(run, task_pausing, &pause);
		if (!pause.waiting)
			break;
		if (host_event(run, &event))
			run_requeue(run, &event);
		else if (event.kind == EVENT_DONE)
			break;
		else
			pause.late = true;
	}
	notice_ticks(false);
}

/*
 * Enter queued events into the tables, as they may tell of new tasks that must
 * be paused, too; true if there were any.  The events' own tasks stay stopped,
 * within the system call that made the event.  Whatever else an event calls for
 * is done in its turn: after an exec the new program is still to be planted.
 */
static bool
queue_account(struct run *run)
{
	bool more = false;

	for (size_t i = run->queue_head; i < run->queue_len; i++) {
		struct event event = run->queue[i];
		struct task *task = task_find(run, event.tid);

		if (!task || event.accounted || event.kind < EVENT_CLONE ||
		    event.kind > EVENT_KILLED)
			continue;
		more = true;
		run->queue[i].accounted = true;
		run_account(run, task, &event);
	}
	return more;
}

void
run_pause_all(struct run *run, enum stop_cause why)
{
	do
		run_pause(run, NULL, NULL, why);
	while (queue_account(run));
}

/* Are there tasks of its space in the queue that only stand still for pmon? */
static bool
others_wait(struct run *run, const struct task *task)
{
	for (size_t i = run->queue_head; i < run->queue_len; i++) {
		const struct task *other = run->queue[i].kind == EVENT_PAUSED ?
			task_find(run, run->queue[i].tid) : NULL;

		if (other && other != task && other->process &&
		    other->process->space == task->process->space &&
		    !other->last)
			return true;
	}
	return false;
}

/*
 * A task at a trap that others were paused for goes on behind them (one within
 * a system call is not to look as if it had only been paused).  What it does
 * next may kill them (exec, exit_group), and the kernel has no way to resume a
 * task only if it is still at the stop that is meant: a paused one would be
 * resumed from its last stop, and nobody would have seen where it was.
 */
void
run_resume(struct run *run, struct task *task, int signal)
{
	enum resume how = RESUME_RUN;

	/* It may have run for pmon, and stopped again for something else. */
	if (task->state != TASK_STOPPED || run_queued(run, task))
		return;
	if (task->redo != REDO_NONE || task->pinned || task->untraced ||
	    task->process->watched || task->cut)
		how = RESUME_SYSCALL;
	task->paused = false;
	task->last = !signal && !task->last && others_wait(run, task);
	if (task->last) {
		run_requeue(run, &(struct event){ EVENT_PAUSED, task->tid, 0 });
		return;
	}
	task->state = TASK_RUNNING;
	task_resume(run, task, how, signal);
}

struct event *
run_queued(const struct run *run, const struct task *task)
{
	for (size_t i = run->queue_head; i < run->queue_len; i++)
		if (run->queue[i].tid == task->tid)
			return &run->queue[i];
	return NULL;
}

struct stopped {
	const struct space *space;
	struct task *best;
};

static void
task_stopped(struct run *run, struct task *task, void *ctx)
{
	const struct event *event = run_queued(run, task);
	struct stopped *stopped = ctx;

	if (!task->process || task->process->space != stopped->space ||
	    task->state != TASK_STOPPED || task->exiting)
		return;
	if (!stopped->best || (event && event->kind == EVENT_PAUSED))
		stopped->best = task;
}

struct task *
run_stopped_task(struct run *run, const struct space *space)
{
	struct stopped stopped = { space, NULL };

	task_each(run, task_stopped, &stopped);
	return stopped.best;
}

/* ---- handling */

/*
 * Release a child that is not to be followed, as soon as it has memory of its
 * own; whether it was.
 */
static bool
unfollowed(struct run *run, struct task *task, const struct event *event)
{
	struct space *space = task->process->space;

	if (task->process->counted || space->refs > 1)
		return false;
	space_leave(run, task, event);
	return true;
}

static void
on_exec(struct run *run, struct task *task, const struct event *event)
{
	struct event done;

	if (unfollowed(run, task, event))
		return;
	if (!run->host->native) {
		process_plant(run, task);
		run_resume(run, task, 0);
		return;
	}
	/*
	 * The exec has still to return, and the kernel will set a register
	 * then: it is too early to inject a system call.
	 */
	if (task_resume(run, task, RESUME_SYSCALL, 0))
		return;
	run_wait_task(run, task, &done);
	if (done.kind != EVENT_SYSCALL_EXIT) {
		run_requeue(run, &done);
		return;
	}
	process_plant(run, task);
	/* If pmon is to stop, the task must not run on. */
	if (run_interrupted(run))
		run_requeue(run, &done);
	else
		run_resume(run, task, 0);
}

static void
on_group_stop(struct run *run, struct task *task)
{
	task->state = TASK_RUNNING;
	/* Fails if the group stop has ended meanwhile. */
	if (task_resume(run, task, RESUME_LISTEN, 0) == HOST_ERROR) {
		task->state = TASK_STOPPED;
		run_resume(run, task, 0);
		return;
	}
	if (!run->suspending || task->process->pid != run->root)
		return;
	run->suspending = false;
	run_pause(run, NULL, NULL, STOP_SUSPEND);
	notice_suspended();
}

static void
on_syscall(struct run *run, struct task *task, bool entry)
{
	affinity_syscall(run, task, entry);
	patch_syscall(run, task, entry);
	if (!entry)
		clones_syscall(run, task);
	if (!entry && task->cut)
		cut_exit(run, task);
	else if (!entry && task->paused)
		cut_undo(run, task, true);
	if (task->process->watched && !entry)
		process_mapped(run, task);
	run_resume(run, task, 0);
}

static void
on_pause(struct run *run, struct task *task, const struct event *event)
{
	if (task->born)
		clones_birth(run, task);
	if (unfollowed(run, task, event))
		return;
	if (task->process->space && !task->process->planted)
		process_plant(run, task);
	if (task->born) {
		thread_pages_task(run, task);
		abnormal_birth(run, task);
	}
	cut_undo(run, task, true);
	run_resume(run, task, 0);
}

/*
 * Is the event void, as its task is no longer stopped for it?  The end of the
 * process, or another thread's exec, may kill the task while its event waits in
 * the queue.  After an exec the id may be the other thread's, which must not be
 * mistaken for the task.
 */
static bool
event_stale(struct run *run, const struct task *task,
	    const struct event *event)
{
	return task->process && task->process->ntasks > 1 &&
	       (event->kind == EVENT_TRAP || event->kind == EVENT_SIGNAL ||
		event->kind == EVENT_PAUSED) &&
	       run->host->changed(task->tid);
}

static void
event_handle(struct run *run, const struct event *event)
{
	struct task *task = task_find(run, event->tid);
	bool delayed;		/* by run_resume */

	if (!task)
		return;
	if (event_stale(run, task, event)) {
		task->state = TASK_RUNNING;
		return;
	}
	if (task->process)
		shallow_event(run, task, event);
	if (!event->accounted)
		run_account(run, task, event);
	if (event->kind == EVENT_EXITED || event->kind == EVENT_KILLED ||
	    task->exiting)
		return;
	if (run->stopping) {
		task_release(run, task, event);
		return;
	}
	if (run->host->native && tamper_event(run, task, event))
		return;
	delayed = event->kind == EVENT_PAUSED && task->last;
	task->last = event->kind != EVENT_TRAP;
	switch (event->kind) {
	case EVENT_CLONE:
		if (run->host->native) {
			run_resume(run, task, 0);
			break;
		}
		/*
		 * The host cannot stop the new thread: counting ends, and
		 * shallow_event has said why.
		 */
		run_requeue(run, event);
		run_stop(run, 0);
		break;
	case EVENT_TRAP:
		patch_trap(run, task, event->value ? event->value : SIGTRAP);
		break;
	case EVENT_SIGNAL:
		cut_end(run, task, event->kind);
		task_deliver(run, task, event->value);
		break;
	case EVENT_STOPPED:
		on_group_stop(run, task);
		break;
	case EVENT_EXEC:
		on_exec(run, task, event);
		break;
	case EVENT_SYSCALL_ENTRY:
	case EVENT_SYSCALL_EXIT:
		on_syscall(run, task, event->kind == EVENT_SYSCALL_ENTRY);
		break;
	case EVENT_PAUSED:
		if (delayed)
			run_resume(run, task, 0);
		else
			on_pause(run, task, event);
		break;
	default:
		run_resume(run, task, 0);
	}
}

double
run_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/*
 * Is the signal one that the program sent to its process group?  pmon belongs
 * to the group and gets it, too, but nobody asks pmon for anything.
 */
static bool
signal_shared(struct run *run, pid_t sender)
{
	return run->root && sender && task_find(run, sender) &&
	       getpgid(sender) == getpgrp();
}

/*
 * ^Z: the program gets it, too, and need not stop on it.  So pmon waits until
 * the program stops (on_group_stop), and then stops itself.  Without a launched
 * program pmon ignores ^Z: an attached process must not stand still because
 * pmon does.
 */
static void
suspend_handle(struct run *run)
{
	pid_t sender;
	enum suspension suspend = notice_suspend(&sender);

	if (suspend == SUSPEND_NONE || !run->root || run->root_ended)
		return;
	run->suspending = true;
	if (suspend == SUSPEND_SENT && !signal_shared(run, sender))
		run->host->kill(run->root, SIGTSTP);
}

bool
run_interrupted(struct run *run)
{
	pid_t sender;

	return notice_stopping(&sender) && !signal_shared(run, sender);
}

/* Act on the notices that came meanwhile. */
static void
notices_handle(struct run *run)
{
	pid_t sender;
	int signal = notice_stop(&sender);

	if (signal_shared(run, sender))
		signal = 0;
	if (notice_tick()) {
		affinity_tick(run);
		autosave_tick(run);
		if (!signal && run->deadline && !run->stopping &&
		    run_clock() >= run->deadline)
			signal = SIGTERM;
	}
	if (signal && run->stopping && run->root)
		run->host->kill(run->root, SIGKILL);
	else if (signal && !run->stopping)
		run_stop(run, signal);
	if (notice_report())
		run->report(run);
	if (notice_asked())
		control_serve(run);
	suspend_handle(run);
}

void
run_standing_end(struct run *run)
{
	double *longest = run->stopping ? &run->stall.detach :
					  &run->stall.attach;
	double now = run_clock();

	if (run->standing && now - run->standing > *longest)
		*longest = now - run->standing;
	run->standing = 0;
}

void
run_loop(struct run *run)
{
	struct event event;

	for (;;) {
		notices_handle(run);
		if (queue_take(run, &event)) {
			event_handle(run, &event);
			continue;
		}
		run_standing_end(run);
		if (host_event(run, &event))
			event_handle(run, &event);
		else if (event.kind == EVENT_DONE)
			return;
	}
}
