/*
 * Text that the program has moved, by mremap(2), with pmon's patches in it.
 */
#ifndef MONITOR_PATCH_MOVED_H
#define MONITOR_PATCH_MOVED_H

#include "monitor/run.h"

/*
 * The task has stopped for a SIGTRAP, and at no trap of a module.  If it is at
 * one that was moved with its text: undo all patches in that text, lose the
 * counts of its functions, and return the trap's va, where the task is to go on.
 * All tasks of the space then stand still.  Else 0.
 */
uint64_t moved_reached(struct run *run, struct task *task);

#endif
