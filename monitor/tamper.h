/*
 * What a program does to what it is counted with.
 */
#ifndef MONITOR_TAMPER_H
#define MONITOR_TAMPER_H

#include "monitor/run.h"

/*
 * The task has stopped: if its register does not lead to its counters any more
 * its program is counted by traps from now on, and the task is led out of
 * copies.  `counting` if it is at what counts in one, where the stop may be due
 * to that.  Whether it was so.
 */
bool tamper_look(struct run *run, struct task *task, bool *counting);
/*
 * The same before its counts are taken, of the memory too; it goes on as it
 * is.
 */
void tamper_check(struct run *run, struct task *task);
/* Say of whose counts that is so. */
void tamper_remark(struct run *run);

#endif
