/*
 * What signal handlers return to that are running when a process is attached
 * to.
 */
#ifndef MONITOR_PATCH_CONTEXTS_H
#define MONITOR_PATCH_CONTEXTS_H

#include "monitor/run.h"

/* Have relocated_context know of all contexts on the stopped task's stacks. */
void contexts_find(struct run *run, struct task *task);

#endif
