/*
 * Changes what is planted in modules while programs run.
 */
#ifndef MONITOR_PATCH_EXTEND_H
#define MONITOR_PATCH_EXTEND_H

#include "monitor/run.h"

/*
 * Plant what has been added to the plan (sites, relocated functions), replace
 * or remove the traps at entries that no longer wait, and undo what the plan
 * has reverted, in every space that has the image.
 */
void plan_extended(struct run *run, struct plan *plan);
/*
 * Write the jumps at entries that were deferred (deferred.h): those of the
 * module, or of all modules of the space.
 */
void module_undefer(struct run *run, struct module *module);
void space_undefer(struct run *run, const struct space *space);
/*
 * The kernel has refused a write, so the trap of the site is still there or
 * cannot be lifted: choose how its instruction is done.
 */
void site_stuck(struct run *run, struct module *module, uint32_t site);
/*
 * Write the filter of the module's site again, in all spaces.  Of its first
 * `kept` bytes only the targets of jumps have changed.
 */
void module_filter_again(struct run *run, struct module *module, uint32_t site,
			 size_t kept);

#endif
