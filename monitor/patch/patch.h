/*
 * Handles the traps that tasks run into, and takes tasks out of slots before
 * the program could see their pc there.
 */
#ifndef MONITOR_PATCH_PATCH_H
#define MONITOR_PATCH_PATCH_H

#include "monitor/run.h"

/*
 * The task has stopped with `signal`, which trap instructions raise: handle the
 * hit if the trap is pmon's, else deliver the signal.  The task runs on.
 */
void patch_trap(struct run *run, struct task *task, int signal);
/*
 * Take the task back to before the trap that it ran into, without counting.
 * false if the trap is not pmon's.
 */
bool patch_forget(struct run *run, struct task *task);
/*
 * The signal is about to be delivered (0: none, the task is looked at or let
 * go): if the task is in a slot, move it out of there, and take its hit back if
 * the instruction has not begun.
 */
void patch_signal(struct run *run, struct task *task, int signal);
/*
 * The task is about to be detached: move it, and the contexts that its handlers
 * return to, out of slots and relocated functions.
 */
void patch_leave(struct run *run, struct task *task);
/*
 * The task is at the entry or the exit of a system call.  Needed only while
 * task->redo is set: finds the sigreturn that goes back to an instruction that
 * faulted.
 */
void patch_syscall(struct run *run, struct task *task, bool entry);

#endif
