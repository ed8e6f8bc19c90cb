/*
 * What is planted in a space: found by what the process has mapped.
 */
#ifndef MONITOR_PATCH_PLANT_H
#define MONITOR_PATCH_PLANT_H

#include "monitor/run.h"

/*
 * A process is about to be attached to: look at its files while it still
 * runs.
 */
void process_foresee(struct run *run, pid_t pid);
/*
 * A process has a new program: find its image and plant it.  Its task is
 * stopped, and all others of its space.
 */
void process_plant(struct run *run, struct task *task);
/*
 * The same of a program that is past its beginning: it gets no trap there.
 */
void process_plant_begun(struct run *run, struct task *task);
/*
 * A task of a watched process comes back from a system call: if that mapped
 * or unmapped text, plant what came and forget what went.
 */
void process_mapped(struct run *run, struct task *task);
/* Plant what is mapped, forget what is not. */
void process_rescan(struct run *run, struct task *task);
struct module *space_module(const struct space *space, uint64_t va);

#endif
