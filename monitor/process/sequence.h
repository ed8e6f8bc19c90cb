/*
 * Restartable sequences that a task is in when pmon has it run elsewhere.
 */
#ifndef MONITOR_PROCESS_SEQUENCE_H
#define MONITOR_PROCESS_SEQUENCE_H

#include "monitor/run.h"

/*
 * If the task, which is stopped, is in a restartable sequence, have pc in its
 * registers be that of the sequence's abort handler.
 */
void sequence_abort(const struct run *run, const struct task *task,
		    struct regs *regs);

#endif
