/*
 * Owns the queue of events that came while pmon waited for another task.  Hands
 * each event to the run's keeper as it comes, pauses the tasks of a space, and
 * resumes them.  Never decides what an event calls for: run.c does.
 */
#include "monitor/process/events.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/process/affinity.h"
#include "monitor/process/notice.h"
#include "monitor/process/task.h"
#include "util/mem.h"

struct event_queue {
	struct event *events;
	size_t head, len;	/* those from head on are waiting */
};

/* ---- the queue */

/* Drop the events that were taken, if no more than those are waiting. */
static void
queue_shrink(struct event_queue *queue)
{
	size_t waiting = queue->len - queue->head;

	if (!queue->head || queue->head < waiting)
		return;
	if (waiting)
		memmove(queue->events, queue->events + queue->head,
			waiting * sizeof(*queue->events));
	queue->head = 0;
	queue->len = waiting;
}

void
run_requeue(struct run *run, const struct event *event)
{
	struct event_queue *queue = run->queue;

	if (!queue)
		queue = run->queue = mem_alloc(sizeof(*queue));
	queue_shrink(queue);
	*vec_push(queue->events, queue->len) = *event;
}

void
queue_free(struct run *run)
{
	if (run->queue)
		free(run->queue->events);
	free(run->queue);
}

/* Waiting event number i, from 0 on, or NULL.  One without a tid is void. */
static struct event *
queue_event(const struct run *run, size_t i)
{
	struct event_queue *queue = run->queue;

	return queue && i < queue->len - queue->head ?
		       &queue->events[queue->head + i] :
		       NULL;
}

void
run_unqueue(struct run *run, pid_t tid)
{
	struct event *event;

	for (size_t i = 0; (event = queue_event(run, i)); i++)
		if (event->tid == tid)
			event->tid = 0;
}

bool
queue_take(struct run *run, struct event *event)
{
	const struct event *first;

	while ((first = queue_event(run, 0))) {
		*event = *first;
		run->queue->head++;
		if (event->tid)
			return true;
	}
	return false;
}

void
queue_void(struct run *run, struct task *task)
{
	struct event *queued;

	for (size_t i = 0; (queued = queue_event(run, i)); i++) {
		struct event event = *queued;

		if (event.tid != task->tid)
			continue;
		queued->tid = 0;
		if (!event.accounted &&
		    (event.kind == EVENT_FORK || event.kind == EVENT_VFORK))
			run->keeper->enter(run, task, &event);
	}
}

bool
host_event(struct run *run, struct event *event)
{
	for (;;) {
		run->host->wait(event);
		if (event->kind == EVENT_WAKE || event->kind == EVENT_DONE)
			return false;
		if (run->keeper->receive(run, event))
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
	bool brief;		/* do not wait for a task that is in no hurry */
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

static bool
tasks_pause(struct run *run, struct pause *pause)
{
	struct event event;

	task_each(run, task_pause, pause);
	task_each(run, task_pausing, pause);
	if (!pause->waiting)
		return true;
	/* A tick ends the wait, so that a zombie is noticed. */
	notice_ticks(true);
	for (;;) {
		pause->waiting = false;
		task_each(run, task_pausing, pause);
		if (!pause->waiting || (pause->late && pause->brief))
			break;
		if (host_event(run, &event))
			run_requeue(run, &event);
		else if (event.kind == EVENT_DONE)
			break;
		else
			pause->late = true;
	}
	notice_ticks(false);
	return !pause->waiting;
}

void
run_pause(struct run *run, struct space *space, struct task *except,
	  enum stop_cause why)
{
	struct pause pause = { .space = space, .except = except, .why = why };

	tasks_pause(run, &pause);
}

bool
run_pause_brief(struct run *run, struct space *space, struct task *except,
		enum stop_cause why)
{
	struct pause pause = {
		.space = space,
		.except = except,
		.why = why,
		.brief = true,
	};

	return tasks_pause(run, &pause);
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
	struct event *queued;
	bool more = false;

	for (size_t i = 0; (queued = queue_event(run, i)); i++) {
		struct event event = *queued;
		struct task *task = task_find(run, event.tid);

		if (!task || event.accounted || event.kind < EVENT_CLONE ||
		    event.kind > EVENT_KILLED)
			continue;
		more = true;
		queued->accounted = true;
		run->keeper->enter(run, task, &event);
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
	const struct event *queued;

	for (size_t i = 0; (queued = queue_event(run, i)); i++) {
		const struct task *other = queued->kind == EVENT_PAUSED ?
						   task_find(run, queued->tid) :
						   NULL;

		if (other && other != task && other->process &&
		    other->process->space == task->process->space &&
		    !queued->delayed)
			return true;
	}
	return false;
}

void
run_resume(struct run *run, struct task *task, int signal)
{
	enum resume how = RESUME_RUN;

	/* It may have run for pmon, and stopped again for something else. */
	if (task->state != TASK_STOPPED || run_queued(run, task))
		return;
	/*
	 * A pause that comes as the task enters a system call still interrupts
	 * it, and nothing but the call's exit tells of it.
	 */
	task->paused = task->paused && task->entering;
	if (task->redo.state != REDO_NONE || affinity_watches(task) ||
	    task->untraced.nr || task->mapping.nr || task->follows ||
	    task_watched(task) || task->restart || task->paused)
		how = RESUME_SYSCALL;
	task->state = TASK_RUNNING;
	task_resume(run, task, how, signal);
}

void
run_resume_last(struct run *run, struct task *task)
{
	struct event event = { EVENT_PAUSED, task->tid, .delayed = true };

	if (task->state != TASK_STOPPED || run_queued(run, task))
		return;
	if (!others_wait(run, task)) {
		run_resume(run, task, 0);
		return;
	}
	task->paused = false;
	run_requeue(run, &event);
}

struct event *
run_queued(const struct run *run, const struct task *task)
{
	struct event *event;

	for (size_t i = 0; (event = queue_event(run, i)); i++)
		if (event->tid == task->tid)
			return event;
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
