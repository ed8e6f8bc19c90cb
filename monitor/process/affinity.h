/*
 * Pinning tasks that hit many traps to pmon's processor.
 */
#ifndef MONITOR_PROCESS_AFFINITY_H
#define MONITOR_PROCESS_AFFINITY_H

#include "monitor/run.h"

/*
 * The task hit a trap, at the first entry of a function or not: pin it if its
 * traps come close together.  It may be killed meanwhile.
 */
void affinity_trap(struct run *run, struct task *task, bool first);
/* Whether pmon is to see the task's system calls for this. */
bool affinity_watches(const struct task *task);
/* The task, if that is so, enters or leaves a system call. */
void affinity_syscall(struct run *run, struct task *task, bool entry);
/* If the task is pinned, give it its own set of processors back. */
void affinity_restore(struct run *run, struct task *task);
/* The same for a task that has ended: only pmon itself is unpinned. */
void affinity_ended(struct run *run, struct task *task);
/* A tick has passed: unpin the tasks that hit too few traps in three of them. */
void affinity_tick(struct run *run);
/* In a child of pmon, which need not stay on pmon's processor. */
void affinity_child(void);

#endif
