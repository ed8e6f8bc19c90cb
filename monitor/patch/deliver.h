/*
 * Signals of the program's own.
 */
#ifndef MONITOR_PATCH_DELIVER_H
#define MONITOR_PATCH_DELIVER_H

#include "monitor/run.h"

/* The task has stopped for a signal: deliver it. */
void task_deliver(struct run *run, struct task *task, int signal);

/* The same of a signal that a trap caused, which is not pmon's. */
void trap_deliver(struct run *run, struct task *task, int signal);

#endif
