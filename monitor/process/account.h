/*
 * Keeping the tables in step with events: what begins, becomes another, ends.
 */
#ifndef MONITOR_PROCESS_ACCOUNT_H
#define MONITOR_PROCESS_ACCOUNT_H

#include "monitor/run.h"

/* Make the tables say what the event says: new tasks, exec, ends. */
void run_account(struct run *run, struct task *task,
		 const struct event *event);

/*
 * A task has stopped of which no event has told.  If what made it is gone
 * before it told, it is that's child; else the event is waited for.
 */
void run_adopt(struct run *run, struct task *task);

/* Forget what is kept of tasks that are gone. */
void account_close(struct run *run);

/* The task belongs to this process: its first stop may take its course. */
void run_announce(struct run *run, pid_t tid, struct process *process);

#endif
