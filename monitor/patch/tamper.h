/*
 * Programs that change the memory or the register by which they are counted.
 */
#ifndef MONITOR_PATCH_TAMPER_H
#define MONITOR_PATCH_TAMPER_H

#include "monitor/run.h"

/*
 * The task has stopped.  If its register does not lead to its counters any
 * more, count its program by traps from now on, and move the task out of its
 * relocated function.  Returns true if that has dealt with the event and the
 * task has been resumed.
 */
bool tamper_event(struct run *run, struct task *task,
		  const struct event *event);
/*
 * Before the task's counters are drained: mark its counts as unknown if the
 * program has changed the register or mapped other memory over the counters.
 */
void tamper_check(struct run *run, struct task *task);
/* Remark on each file whose counts are unknown for that reason. */
void tamper_remark(struct run *run);

#endif
