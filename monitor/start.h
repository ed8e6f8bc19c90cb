/*
 * How a run begins: a program is started, or a process attached to.
 */
#ifndef MONITOR_START_H
#define MONITOR_START_H

#include "monitor/run.h"

int run_launch(struct run *run);
int run_attach(struct run *run, pid_t pid);

#endif
