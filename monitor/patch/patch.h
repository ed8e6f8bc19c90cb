/*
 * Takes tasks out of slots before the program could see their pc there.
 */
#ifndef MONITOR_PATCH_PATCH_H
#define MONITOR_PATCH_PATCH_H

#include "monitor/run.h"

/*
 * Take the task back to before the trap that the event tells of, without
 * counting.  false if the event is not due to a trap of pmon's.
 */
bool patch_rewind(struct run *run, struct task *task,
		  const struct event *event);
/*
 * The signal is about to be delivered (0: none, the task is looked at or let
 * go): if the task is in a slot, move it out of there, and take its hit back if
 * the instruction has not begun.  false if it was killed, or stays in the slot
 * of a system call, which the kernel may restart there (not if it has ended).
 */
bool patch_signal(struct run *run, struct task *task, int signal);
/*
 * The task is about to be detached: move it, and the contexts that its handlers
 * return to, out of slots and relocated functions.
 */
void patch_leave(struct run *run, struct task *task);

#endif
