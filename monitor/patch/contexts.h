/*
 * Finds the contexts that running signal handlers will return to, when pmon
 * attaches to a process.  Changes none of them itself.
 */
#ifndef MONITOR_PATCH_CONTEXTS_H
#define MONITOR_PATCH_CONTEXTS_H

#include "monitor/run.h"

/*
 * Look through the stacks of the process's stopped tasks, and call
 * relocated_context for each context whose pc may be in patched text.
 */
void contexts_find(struct run *run, const struct process *process);
/*
 * Whether no handler runs in the stopped task, which catches signals: no context
 * is on its stack.  Not if the stack is too large to look through.
 */
bool contexts_excluded(struct run *run, struct task *task);

#endif
