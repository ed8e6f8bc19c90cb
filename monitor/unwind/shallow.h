/*
 * Programs on hosts where stacks are not walked.
 */
#ifndef MONITOR_UNWIND_SHALLOW_H
#define MONITOR_UNWIND_SHALLOW_H

#include "monitor/run.h"

/* The innermost frame of a stopped task; 0 or HOST_GONE. */
int shallow_frame(struct run *run, const struct task *task, bool came,
		  struct stack_switch *stack_switch);
/* The task is delivered a signal. */
void shallow_signal(struct run *run, struct task *task, int signal);
/* Any event of the task: it may tell what came of the signal. */
void shallow_event(struct run *run, struct task *task,
		   const struct event *event);

#endif
