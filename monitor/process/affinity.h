/*
 * Which processor tasks with many traps run on.
 */
#ifndef MONITOR_PROCESS_AFFINITY_H
#define MONITOR_PROCESS_AFFINITY_H

#include "monitor/run.h"

/* A trap was handled: pmon and its tasks may be better off on one CPU. */
void affinity_hit(struct run *run, struct task *task);
/* A system call of a pinned task. */
void affinity_syscall(struct run *run, struct task *task, bool entry);
void affinity_restore(struct run *run, struct task *task);
/* The task is gone and with it what was to be restored. */
void affinity_forget(struct run *run, struct task *task);
/* To be called every tick. */
void affinity_tick(struct run *run);

#endif
