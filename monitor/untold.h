/*
 * Traps that a task ran into and has not told of.
 */
#ifndef MONITOR_UNTOLD_H
#define MONITOR_UNTOLD_H

#include "monitor/run.h"

/*
 * The task, at its last stop or paused, may have run into a trap and not said
 * so, or have been counted there and not gone on: then the pc is put back
 * before that, and it is not counted.
 */
enum untold {
	UNTOLD_NOTHING,
	UNTOLD_TRAP,
	UNTOLD_UNDONE,		/* it was counted */
	UNTOLD_PERHAPS,		/* that cannot be known */
};
enum untold trap_untold(struct run *run, struct task *task);
/*
 * The task has ended, and its last stop was not seen: it has done nothing
 * since it was last resumed.
 */
void hit_unseen(struct run *run, struct task *task);

#endif
