/*
 * Which functions of an image ran in earlier runs.
 */
#ifndef MONITOR_PROCESS_RAN_H
#define MONITOR_PROCESS_RAN_H

#include "monitor/process/cache.h"
#include "probe/plan.h"

/* Addresses of functions, ascending; owned by whoever asked for them. */
struct ran {
	uint64_t *addrs;
	size_t n;
};

/*
 * The functions of the image that ran in earlier runs, as far as that is known.
 * Nothing in the list needs to be true.
 */
struct ran ran_read(struct cache *cache, const struct image *image);

/* Remove what is noted of the image. */
void ran_forget(struct cache *cache, const struct image *image);

/* Note which functions of a propagated plan ran, for later runs. */
void ran_write(struct cache *cache, const struct plan *plan);

#endif
