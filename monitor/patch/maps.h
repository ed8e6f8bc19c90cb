/*
 * System calls that change what code a process can execute: a process whose
 * libraries are counted is stopped at these, or else at all its system calls.
 */
#ifndef MONITOR_PATCH_MAPS_H
#define MONITOR_PATCH_MAPS_H

#include "monitor/run.h"

/*
 * The task, with these registers, is about to make a system call that has a
 * hook: if that changes what is mapped, have it stop behind the call.
 */
void maps_hook(struct run *run, struct task *task, const struct regs *regs);
/* The task leaves a system call: if that changed what is mapped, look. */
void maps_syscall(struct run *run, struct task *task);

#endif
