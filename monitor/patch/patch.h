/*
 * What is done when a task runs into a trap, or has to leave one.
 */
#ifndef MONITOR_PATCH_PATCH_H
#define MONITOR_PATCH_PATCH_H

#include "monitor/run.h"

/* The task ran into a trap instruction; the signal is what that raises. */
void patch_trap(struct run *run, struct task *task, int signal);
/*
 * The same, but nothing more is counted: its instruction is yet to be run.
 * false if the trap is not pmon's.
 */
bool patch_forget(struct run *run, struct task *task);
/* A signal is about to be delivered: let no pc be seen that is in a slot. */
void patch_signal(struct run *run, struct task *task, int signal);
/* Was it caused by the instruction at the pc, not sent? */
bool signal_caused(struct run *run, struct task *task, int signal);
/* Has the program a handler for it that will be called? */
bool signal_caught(struct run *run, struct task *task, int signal);
/* Does a signal wait to be delivered to it, or is that not known? */
bool signal_waits(struct run *run, struct task *task);
/* The task is let go: its pc must not be in a slot any more. */
void patch_leave(struct run *run, struct task *task);
/* While task->redo is set its system calls are shown to this. */
void patch_syscall(struct run *run, struct task *task, bool entry);

#endif
