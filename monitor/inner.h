/*
 * Programs on hosts where stacks are not walked.
 */
#ifndef MONITOR_INNER_H
#define MONITOR_INNER_H

#include "monitor/run.h"

/* The innermost frame of a stopped task; 0 or HOST_GONE. */
int inner_frame(struct run *run, const struct task *task, bool came,
		struct transfer *transfer);
/* The task is delivered a signal. */
void inner_signal(struct run *run, struct task *task, int signal);
/* Any event of the task: it may tell what came of the signal. */
void inner_event(struct run *run, struct task *task,
		 const struct event *event);

#endif
