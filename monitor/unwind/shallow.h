/*
 * The shallow unwind: the innermost frame only, for programs on hosts where
 * stacks are not walked.
 */
#ifndef MONITOR_UNWIND_SHALLOW_H
#define MONITOR_UNWIND_SHALLOW_H

#include "monitor/run.h"
#include "util/fail.h"

/*
 * The innermost frame of a stopped task, as a frame edge that came or left.
 * The caller frees *stack_switch.  HOST_OK or HOST_GONE.
 */
int shallow_frame(struct run *run, const struct task *task, bool came,
		  struct stack_switch *stack_switch) MUST_CHECK;
/* The task has had an event, which may show what the last signal did. */
void shallow_event(struct run *run, struct task *task,
		   const struct event *event);

#endif
