/*
 * Finds the images that a process has mapped and plants them in its space.
 */
#ifndef MONITOR_PATCH_PLANT_H
#define MONITOR_PATCH_PLANT_H

#include "monitor/run.h"

/*
 * Read the program and libraries of a process that is about to be attached to,
 * while it still runs.
 */
void process_foresee(struct run *run, pid_t pid);
/*
 * A process has executed a new program: find its image and plant it.  The task
 * and all others of its space are stopped.
 */
void process_plant(struct run *run, struct task *task);
/*
 * The same for a program that is past its entry point: no hook is planted
 * there.
 */
void process_plant_begun(struct run *run, struct task *task);
/* Plant the images that are mapped now, and drop the modules that are not. */
void process_rescan(struct run *run, struct task *task);
#endif
