/*
 * Memory for code near a module's text, and the slots in it.
 */
#ifndef MONITOR_PATCH_SLOTS_H
#define MONITOR_PATCH_SLOTS_H

#include "monitor/run.h"

/*
 * Have the task map code memory of this size within reach of the module's
 * text; its va, or 0 if that cannot be.
 */
uint64_t near_map(struct run *run, struct task *task,
		  const struct module *module, uint64_t size);
/* Map the area of the module's slots, if the task can be made to. */
void slots_map(struct run *run, struct task *task, struct module *module);
/*
 * Write the slots from number `first` up to `last`; sites for which there is
 * none are patched another way.
 */
void slots_write(struct run *run, struct space *space, pid_t tid,
		 struct module *module, size_t first, size_t last);

#endif
