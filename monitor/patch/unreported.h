/*
 * Traps that a task ran into and has not told of.
 */
#ifndef MONITOR_PATCH_UNREPORTED_H
#define MONITOR_PATCH_UNREPORTED_H

#include "monitor/run.h"

/*
 * The task, at its last stop or paused, may have run into a trap and not said
 * so, or have been counted there and not gone on: then the pc is put back
 * before that, and it is not counted.
 */
enum unreported {
	UNREPORTED_NOTHING,
	UNREPORTED_TRAP,
	UNREPORTED_UNDONE,		/* it was counted */
	UNREPORTED_PERHAPS,		/* that cannot be known */
};
enum unreported trap_unreported(struct run *run, struct task *task);
/*
 * The task has ended, and its last stop was not seen: it has done nothing
 * since it was last resumed.
 */
void hit_unseen(struct run *run, struct task *task);

#endif
