/*
 * Ambiguous calls: where the walk of a stack is lost, the calls that may be
 * under way in the frames beyond.  Whatever made those frames, a call that is
 * under way has its return address in memory or in a register; so only calls
 * whose return address is found there are in doubt (Boehm and Weiser, "Garbage
 * Collection in an Uncooperative Environment", 1988).
 */
#ifndef MONITOR_UNWIND_AMBIGUOUS_H
#define MONITOR_UNWIND_AMBIGUOUS_H

#include "monitor/run.h"

struct stack_switch;

/*
 * *stack_switch has the frames of a stopped task.  If the walk was lost, and all
 * memory that the frames beyond can be in can be searched, make only the calls
 * that are found there ambiguous.  Then no more needs to be known of those
 * frames: stack_switch->unknown becomes NULL.
 */
void ambiguous_settle(struct run *run, struct task *task,
		      struct stack_switch *stack_switch);

#endif
