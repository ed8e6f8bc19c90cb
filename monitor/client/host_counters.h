/*
 * Sites that the host counts by itself.
 */
#ifndef MONITOR_CLIENT_HOST_COUNTERS_H
#define MONITOR_CLIENT_HOST_COUNTERS_H

#include "monitor/run.h"

/* The module's sites that are PATCH_HOST are counted by the host. */
void host_counters_plant(struct run *run, const struct module *module);
/*
 * Fetch what it has counted, and what it has to say; also after the program's
 * end.  Returns the sum of counts.
 */
uint64_t host_counters_fetch(struct run *run);
/* The run is over, and its host. */
void host_counters_close(struct run *run);

#endif
