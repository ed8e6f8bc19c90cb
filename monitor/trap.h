/*
 * Handles the traps that tasks run into.
 */
#ifndef MONITOR_TRAP_H
#define MONITOR_TRAP_H

#include "monitor/run.h"

/*
 * The task has stopped with `signal`, which trap instructions raise: handle the
 * hit if the trap is pmon's, else deliver the signal.  The task runs on.
 */
void trap_handle(struct run *run, struct task *task, int signal);
/*
 * If the task, stopped by the signal (SIGTRAP or SIGILL), came to the middle of
 * an entry's jump, have it run on there, with what is in the file; whether it
 * did.
 */
bool trap_spring(struct run *run, struct task *task, int signal);
/*
 * The task is at the entry or the exit of a system call: find the sigreturn
 * that goes back to an instruction that faulted.  Needed only while
 * task->redo.state is set.
 */
void trap_syscall(struct run *run, struct task *task, bool entry);

#endif
