/*
 * How a run begins: a program is started, or a process attached to.
 */
#ifndef MONITOR_PROCESS_START_H
#define MONITOR_PROCESS_START_H

#include "monitor/run.h"

int run_launch(struct run *run);
/* If one cannot be, those that were are for the caller to let go. */
int run_attach(struct run *run, const pid_t *pids, size_t n);

#endif
