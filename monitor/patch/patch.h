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
 * Whether the instruction at the pc caused the signal, instead of someone
 * sending it.
 */
bool signal_caused(struct run *run, struct task *task, int signal);
/*
 * Whether the program has a handler for the signal that would be called: the
 * signal is caught and not blocked.
 */
bool signal_caught(struct run *run, struct task *task, int signal);
/*
 * Whether a signal is pending for the task and not blocked, or that is not
 * known.
 */
bool signal_waits(struct run *run, struct task *task);
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
