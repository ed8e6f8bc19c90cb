/*
 * Deferred jumps: jumps at the entries of relocated functions that are written
 * later, many in one pause.  See deferred.c.
 */
#ifndef MONITOR_PATCH_DEFERRED_H
#define MONITOR_PATCH_DEFERRED_H

#include "monitor/run.h"

/*
 * Whether the plan's new relocated functions can be planted in the module while
 * its tasks run, with the jumps at their entries deferred, and whether that
 * saves a pause.
 */
bool deferral_pays(struct run *run, const struct module *module);

/*
 * Whether the jump at the function's entry is deferred in the module: the trap
 * that waited there leads into the relocated function.
 */
bool entry_deferred(const struct module *module, const struct func_plan *fplan);

/*
 * A task has come to the trap at a deferred entry.  Whether the deferred jumps
 * had better be written now.
 */
bool deferred_hit(struct module *module, const struct site *site);

/* Whether the deferred jumps are too many, or one of them is lost. */
bool deferred_due(const struct module *module);

#endif
