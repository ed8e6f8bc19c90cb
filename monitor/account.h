/*
 * Keeping the tables in step with events: tasks and processes that begin, run
 * another program, or end.
 */
#ifndef MONITOR_ACCOUNT_H
#define MONITOR_ACCOUNT_H

#include "monitor/run.h"

/*
 * Note in the state of the event's task that the host has told of the event.
 * A task that is about to end (EVENT_EXITING) is let go at once.  false if
 * there is nothing to handle: the task is about to end, or not (yet) known.
 */
bool event_receive(struct run *run, const struct event *event);

/* Enter a task's event into the tables; it may free the task. */
void run_account(struct run *run, struct task *task, const struct event *event);

/*
 * A task has stopped that no event has announced.  If the process that made it
 * has ended without telling, enter the task as its child; else the task stays
 * unannounced until the event comes.
 */
void run_adopt(struct run *run, struct task *task);

/* Free what is kept of the task that ended last (run->departed). */
void account_close(struct run *run);

/*
 * Enter task tid as one of the process, and tell the clients.  If it has
 * stopped already, its first event is queued now.
 */
void run_announce(struct run *run, pid_t tid, struct process *process);

/* Remove the task, its queued events, and its process if it was the last. */
void task_free(struct run *run, struct task *task);

/* Remove all tasks that are left at the end of a run. */
void tasks_free(struct run *run);

/* Drop a reference; the last one frees the space, after draining counters. */
void space_drop(struct run *run, struct space *space);

#endif
