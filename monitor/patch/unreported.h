/*
 * Finds the traps that a task ran into and did not report.  Resumes no task.
 */
#ifndef MONITOR_PATCH_UNREPORTED_H
#define MONITOR_PATCH_UNREPORTED_H

#include "monitor/run.h"

/*
 * The task, paused or at its last stop, may have run into a trap without
 * reporting it, or may have been counted at a trap and not run on.  Then put
 * the pc back to before the trap, and take the hit back if it was counted.
 */
enum unreported {
	UNREPORTED_NOTHING,
	UNREPORTED_TRAP,
	UNREPORTED_UNDONE,		/* as UNREPORTED_TRAP, and the hit was
					   taken back */
	UNREPORTED_PERHAPS,		/* it is not known which */
};
enum unreported trap_unreported(struct run *run, struct task *task);
/*
 * The task has ended without a last stop that pmon saw.  It is taken to have
 * done nothing since it was last resumed: take back a hit that is still open.
 */
void hit_unseen(struct run *run, struct task *task);

#endif
