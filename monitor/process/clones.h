/*
 * Children that are made so that nobody can trace them: their flag is taken
 * away before the kernel sees it, and nobody else sees that.
 */
#ifndef MONITOR_PROCESS_CLONES_H
#define MONITOR_PROCESS_CLONES_H

#include "monitor/run.h"

/* With these registers the task is about to make what may be such a call. */
void clones_hook(struct run *run, struct task *task, const struct regs *regs);

/* At a system call's exit: if it was that call, all is as it was. */
void clones_syscall(struct run *run, struct task *task);

/* The child of such a call, before it runs. */
void clones_made(const struct task *task, struct task *child);
void clones_birth(struct run *run, struct task *task);

#endif
