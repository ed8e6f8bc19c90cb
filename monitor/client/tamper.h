/*
 * What a program does to what it is counted with.
 */
#ifndef MONITOR_CLIENT_TAMPER_H
#define MONITOR_CLIENT_TAMPER_H

#include "monitor/run.h"

/*
 * The task has stopped: if its register does not lead to its counters any more
 * its program is counted by traps from now on, and the task is led out of
 * relocated functions.  Whether that was all, and the task has been let go on.
 */
bool tamper_event(struct run *run, struct task *task,
		  const struct event *event);
/*
 * The same before its counts are taken, of the memory too; it goes on as it
 * is.
 */
void tamper_check(struct run *run, struct task *task);
/* Say of whose counts that is so. */
void tamper_remark(struct run *run);

#endif
