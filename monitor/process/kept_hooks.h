/*
 * The hooks that earlier runs found in files of which nothing is counted.
 */
#ifndef MONITOR_PROCESS_KEPT_HOOKS_H
#define MONITOR_PROCESS_KEPT_HOOKS_H

#include "monitor/process/cache.h"
#include "probe/plan.h"

/* What plan_know_hooks needs. */
struct kept_hooks {
	struct hook *hooks;
	size_t n;
	bool maps_unseen;
};

/*
 * What is kept of this very file, of searches with HOOKS_MAPS (maps) or without;
 * the caller owns kept->hooks.  False if nothing is.  Needs no functions of the
 * image.
 */
bool kept_hooks_read(struct cache *cache, const struct image *image, bool maps,
		     struct kept_hooks *kept);

/*
 * Keep the hooks of a plan without a selection for later runs, unless that was
 * done already.  Finds those that the plan lacks.
 */
void kept_hooks_write(struct cache *cache, struct plan *plan);

/* Remove what is kept of the image. */
void kept_hooks_forget(struct cache *cache, const struct image *image);

#endif
