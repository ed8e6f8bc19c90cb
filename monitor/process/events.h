/*
 * The queue of the host's events, and the pausing and resuming of tasks.
 */
#ifndef MONITOR_PROCESS_EVENTS_H
#define MONITOR_PROCESS_EVENTS_H

#include "monitor/run.h"

/*
 * The functions that keep the tables in step with events.  run.c sets the run's
 * to those of account.c, which this folder must not call itself.
 */
struct event_keeper {
	/*
	 * Note in its task's state that the host has told of this event.  false
	 * if there is nothing to handle: the task is about to end, or not (yet)
	 * known.
	 */
	bool (*receive)(struct run *run, const struct event *event);
	/* Enter a task's event into the tables; may free the task. */
	void (*enter)(struct run *run, struct task *task,
		      const struct event *event);
};

/* Free the queue, at the end of the run. */
void queue_free(struct run *run);

/* Take the first event out of the queue into *event; false if it is empty. */
bool queue_take(struct run *run, struct event *event);

/*
 * Another thread has done exec and taken the task's id.  The task's queued
 * events are void, except that its forked children must be entered, unless they
 * are already: they live on in memory of their own.
 */
void queue_void(struct run *run, struct task *task);

/*
 * Wait for an event of a known task; false for EVENT_WAKE or EVENT_DONE.  A
 * task that is about to end is let go at once: it will run no more code, and a
 * thread in exec, or a leader that ends, waits for it in the kernel.
 */
bool host_event(struct run *run, struct event *event);

/*
 * Wait for the next event of this task, which has been resumed, into *event.
 * Events of other tasks are queued.
 */
void run_wait_task(struct run *run, struct task *task, struct event *event);

/* Append an event to the queue, to be handled in its turn. */
void run_requeue(struct run *run, const struct event *event);

/* Drop all events of the task from the queue. */
void run_unqueue(struct run *run, pid_t tid);

/*
 * Stop every task that could run in this space (in any space if NULL) except
 * `except`, for this reason.  Their events are queued; the tasks go on when the
 * events are handled.
 */
void run_pause(struct run *run, struct space *space, struct task *except,
	       enum stop_cause why);
/*
 * The same, but wait no longer than for a tick: false if some tasks have not
 * stopped by then.  These stop later, and go on as if they had in time.
 */
bool run_pause_brief(struct run *run, struct space *space, struct task *except,
		     enum stop_cause why);

/* The task's event in the queue, or NULL. */
struct event *run_queued(const struct run *run, const struct task *task);

/*
 * A stopped task of the space, or NULL.  A task that was only paused, and so
 * can be made to run a little, is preferred.
 */
struct task *run_stopped_task(struct run *run, const struct space *space);

/*
 * Stop every task, including those that only queued events tell of: the
 * keeper enters these into the tables first.
 */
void run_pause_all(struct run *run, enum stop_cause why);

/*
 * Let a stopped task go on, delivering signal (0: none).  A task that runs or
 * has an event in the queue is left alone.
 */
void run_resume(struct run *run, struct task *task, int signal);

/*
 * The same for a task at a trap that others of its space may have been paused
 * for, without a signal: it goes on behind them.  What the task does next may
 * kill them (exec, exit_group), and the kernel has no way to resume a task only
 * if it is still at the stop that is meant: a paused task would be resumed from
 * its last stop, and nobody would have seen where it was.
 */
void run_resume_last(struct run *run, struct task *task);

#endif
