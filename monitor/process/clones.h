/*
 * Calls of clone with CLONE_UNTRACED: pmon removes the flag before the kernel
 * sees it, and restores it before the program can look.
 */
#ifndef MONITOR_PROCESS_CLONES_H
#define MONITOR_PROCESS_CLONES_H

#include "monitor/run.h"

/*
 * The task, with these registers, is about to make a system call: if that is
 * such a clone, remove the flag.
 */
void clones_hook(struct run *run, struct task *task, const struct regs *regs);

/* The task leaves a system call: if it is that clone, restore the flag. */
void clones_syscall(struct run *run, struct task *task);

/* The task made this child: note what clones_birth has to restore. */
void clones_made(const struct task *task, struct task *child);
/* The child's first stop: restore the flag in its registers or memory. */
void clones_birth(struct run *run, struct task *task);

#endif
