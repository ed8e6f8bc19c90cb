/*
 * Slots: maps memory for a module's, and writes them.
 */
#ifndef MONITOR_PATCH_SLOTS_H
#define MONITOR_PATCH_SLOTS_H

#include "monitor/patch/room.h"
#include "monitor/run.h"

/*
 * Map the memory for the module's slots, if not enough is mapped.  Without it
 * module->slots is 0.
 */
void slots_map(struct room *room, struct module *module);
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
 * can be written, which false tells.
 */
bool slots_write(struct run *run, struct space *space, pid_t tid,
		 struct module *module, size_t first, size_t last);
/* Give sites for whose slot there will be no room another patch. */
void slots_foresee(struct run *run, struct module *module);

#endif
