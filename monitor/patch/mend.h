/*
 * Memory of pmon's in a program that the program has made unusable.
 */
#ifndef MONITOR_PATCH_MEND_H
#define MONITOR_PATCH_MEND_H

#include "monitor/run.h"

enum mend {
	MEND_NOT,		/* the fault is the program's own, or cannot be
				   mended */
	MEND_WHOLE,		/* mended, and nothing was lost */
	MEND_RESUMED,		/* the same, and the task runs already, or was
				   killed meanwhile */
	MEND_LOST,		/* the task can go on, but counts may be lost */
	MEND_ELSEWHERE,		/* the task's counters can no longer be at
				   their place */
};

/*
 * The task has stopped for this signal, SIGSEGV or SIGBUS, which its own
 * instruction has raised.  If the instruction serves pmon, and has failed
 * because the program has unmapped, protected or emptied memory of pmon's,
 * restore the memory, so that the task can go on at its pc, and what the fault
 * did to the program's signals.  The caller drops the signal, unless MEND_NOT
 * is returned.
 */
enum mend mend_fault(struct run *run, struct task *task, int signal);

#endif
