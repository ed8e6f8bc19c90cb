/*
 * Host counters: sites that the host counts by itself.
 */
#ifndef MONITOR_PATCH_HOST_COUNTERS_H
#define MONITOR_PATCH_HOST_COUNTERS_H

#include "monitor/run.h"

/* Is the host to count what it can by itself?  Once the program is launched. */
bool host_counters_wanted(const struct run *run);
/*
 * Have the host count the PATCH_HOST sites of the module, the run's only one.
 * If the host refuses, the sites are lost, with a remark.
 */
void host_counters_plant(struct run *run, const struct module *module);
/*
 * Fetch the host's counts, tell the clients what is new, and keep the host's
 * remarks in the run.  May be called after the program's end, too.  Returns the
 * sum of the hits since the last reset.
 */
uint64_t host_counters_fetch(struct run *run);
/* Tell the clients what the host has counted, and begin its sum anew. */
void host_counters_reset(struct run *run);
/* Close the host and free the counters, at the end of the run. */
void host_counters_close(struct run *run);

#endif
