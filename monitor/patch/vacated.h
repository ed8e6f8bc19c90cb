/*
 * The memory of modules that were dropped: a library that is loaded again where
 * it was gets it back, and nothing has to be mapped.
 */
#ifndef MONITOR_PATCH_VACATED_H
#define MONITOR_PATCH_VACATED_H

#include "monitor/run.h"

/* Keep what the module, which is dropped, has mapped in the space. */
void module_vacate(struct space *space, const struct module *module);
/*
 * Give a module of which nothing is planted what one of the same plan has left,
 * if that is still there: maps are the n mappings of the space, ascending.
 */
void module_resettle(struct space *space, struct module *module,
		     const struct mapping *maps, size_t n);

#endif
