/*
 * Does the instruction that a task has hit a trap at, and lets the task go on.
 * For trap.c and mend.c only.
 */
#ifndef MONITOR_PATCH_STEP_H
#define MONITOR_PATCH_STEP_H

#include "monitor/patch/hit.h"

/*
 * Bishop's cycle.  While the trap is lifted all other tasks of the space stand
 * still, or they would pass the site uncounted.  HOST_ERROR if the trap cannot
 * be lifted: then the task still stands there.  Else HOST_OK.
 */
int patch_step(struct run *run, struct task *task, const struct hit *hit);

/*
 * Emulate the instruction, which has an emulation; step it if that faults.
 * Returns what patch_step does.
 */
int patch_emulate(struct run *run, struct task *task, const struct hit *hit);

#endif
