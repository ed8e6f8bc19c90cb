/*
 * Which stack switches are worth being counted in the program.
 */
#ifndef MONITOR_UNWIND_SWITCH_LEARN_H
#define MONITOR_UNWIND_SWITCH_LEARN_H

#include "monitor/run.h"
#include "monitor/unwind/stack_switch.h"

/*
 * The program is about to start.  Its text and that of its libraries stays where
 * it is, unlike that of libraries that come later: only where both stacks lie in
 * such text are switches counted without a look at what is mapped.
 */
void switches_begin(struct run *run, struct task *task);
/*
 * A task was stopped by the filter's trap, and its stack switch has been followed.
 * If such a switch is not the first of its kind, true, with its pattern.
 */
bool switch_due(const struct task *task, const struct switch_at *at,
		struct switch_site *sw, struct switch_pattern *pattern);

#endif
