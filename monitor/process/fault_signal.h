/*
 * SIGSEGV and SIGBUS, where damage to pmon's memory raises them.
 */
#ifndef MONITOR_PROCESS_FAULT_SIGNAL_H
#define MONITOR_PROCESS_FAULT_SIGNAL_H

#include "monitor/run.h"

/*
 * The task is stopped by this signal, SIGSEGV or SIGBUS, which its own
 * instruction has raised, and which pmon drops: restore what that did to the
 * signal.  HOST_OK, or HOST_GONE if the task was killed meanwhile.
 */
int fault_signal_mend(struct run *run, struct task *task, int signal);

#endif
