/*
 * Delivers the program's own signals to its tasks.
 */
#ifndef MONITOR_DELIVER_H
#define MONITOR_DELIVER_H

#include "monitor/run.h"

/* Deliver the signal that the task has stopped for.  The task runs on. */
void task_deliver(struct run *run, struct task *task, int signal);

/*
 * The same for a signal that a trap instruction or a sent SIGTRAP raised and
 * that is not pmon's.
 */
void trap_deliver(struct run *run, struct task *task, int signal);

#endif
