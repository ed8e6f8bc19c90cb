/*
 * The signals of stopped tasks, and their way into a handler.
 */
#ifndef MONITOR_PROCESS_SIGNALS_H
#define MONITOR_PROCESS_SIGNALS_H

#include "monitor/run.h"

/* Whether an instruction can cause the signal. */
bool signal_is_fault(int signal);

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
/* Whether the program ignores the signal, or its default is to be ignored. */
bool signal_ignored(struct run *run, struct task *task, int signal);
/*
 * What is pending for the task and not blocked.  SIGNALS_WAIT, too, if that
 * cannot be found out.  *blocked (if not NULL) becomes the set of signals that
 * are blocked now: in a system call with a mask, that.
 */
enum signals_pending {
	SIGNALS_NONE,
	SIGNALS_IGNORED,	/* nothing but ignored ones */
	SIGNALS_WAIT,
};
enum signals_pending signals_pending(struct run *run, struct task *task,
				     uint64_t *blocked);

/*
 * Let the stopped task go to the first instruction of its handler for the
 * signal, by a step.  Whether it stands there; if not, its event is queued, or
 * the task is gone.
 */
bool signal_enter(struct run *run, struct task *task, int signal);
#endif
