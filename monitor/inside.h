/*
 * Sites that the host counts by itself.
 */
#ifndef MONITOR_INSIDE_H
#define MONITOR_INSIDE_H

#include "monitor/run.h"

/* The module's sites that are PATCH_INSIDE are counted by the host. */
void inside_plant(struct run *run, const struct module *module);
/*
 * Fetch what it has counted, and what it has to say; also after the program's
 * end.  Returns the sum of counts.
 */
uint64_t inside_fetch(struct run *run);
/* The run is over, and its host. */
void inside_close(struct run *run);

#endif
