/*
 * Maps memory for code near a module's text, and writes the slots into it.
 */
#ifndef MONITOR_PATCH_SLOTS_H
#define MONITOR_PATCH_SLOTS_H

#include "monitor/run.h"

/*
 * Make the task map `size` bytes for code within reach of the module's text.
 * Returns the va, or 0 if that cannot be done.
 */
uint64_t near_map(struct run *run, struct task *task,
		  const struct module *module, uint64_t size);
/*
 * Make the task map `size` bytes for code at `place`.  Returns place, or 0 if
 * something is there, or the task cannot map that now.
 */
uint64_t place_map(struct run *run, struct task *task, uint64_t place,
		   uint64_t size);
/* Map the memory for the module's slots.  Without it module->slots stays 0. */
void slots_map(struct run *run, struct task *task, struct module *module);
/*
 * How the site's instruction is done without a slot; if by emulation, *emul is
 * set.  A step writes text, which may be refused, too.
 */
enum patch patch_unslotted(const struct run *run, const struct module *module,
			   const struct site *site, struct emul *emul);
/*
 * The program has something else where the slot with that number is: have its
 * site done without a slot, if it is not already.  false if that cannot be.
 */
bool slot_yield(const struct run *run, struct module *module, size_t number);
/* Whether the slot with that number is there as it was written. */
bool slot_written(struct run *run, const struct space *space, pid_t tid,
		  struct module *module, size_t number);
/*
 * Write the slots from number `first` up to but not including `last`.  Sites
 * for whose slot there is no room get another patch; so do all these if not all
 * can be written.
 */
void slots_write(struct run *run, struct space *space, pid_t tid,
		 struct module *module, size_t first, size_t last);

#endif
