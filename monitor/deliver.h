/*
 * Delivers the program's own signals to its tasks.
 */
#ifndef MONITOR_DELIVER_H
#define MONITOR_DELIVER_H

#include "monitor/run.h"

/* Deliver the signal that the task has stopped for.  The task runs on. */
void task_deliver(struct run *run, struct task *task, int signal);

/*
 * The same for a signal of the kind that trap instructions raise, if no trap of
 * pmon's did: it was sent, or an instruction of the program's own raised it.
 */
void trap_deliver(struct run *run, struct task *task, int signal);

#endif
