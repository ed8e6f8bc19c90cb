/*
 * How a run begins: pmon launches a program, or attaches to processes.
 */
#ifndef MONITOR_START_H
#define MONITOR_START_H

#include "monitor/run.h"
#include "util/fail.h"

/*
 * Choose the host for the program of the options and launch it.  0, or -1 with
 * the message.
 */
int run_launch(struct run *run) MUST_CHECK;
/*
 * Set the message for a program that was launched and whose exec failed with
 * this errno.  A script's names its interpreter if that cannot be executed.
 */
void run_launch_explain(const struct run *run, int err);
/*
 * Attach to n processes and plant their programs.  0, or -1 with the message;
 * then the caller must let go (run_stop) of those that are attached to.
 */
int run_attach(struct run *run, const pid_t *pids, size_t n) MUST_CHECK;

#endif
