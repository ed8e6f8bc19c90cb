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

#endif
