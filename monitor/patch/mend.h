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
	MEND_ELSEWHERE,		/* the counters of the task can be at this place
				   no more */
};

/*
 * The task has stopped for this signal, SIGSEGV or SIGBUS, which its own
 * instruction has raised.  If that was an access to pmon's memory for pmon's sake, which failed
 * because the program has unmapped, protected or emptied the memory, mend this,
 * so that the task can go on at its pc, and restore what the fault did to the
 * program's signals.  The caller drops the signal, unless MEND_NOT is returned.
 */
enum mend mend_fault(struct run *run, struct task *task, int signal);

#endif
