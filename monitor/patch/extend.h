/*
 * Changes to what is planted while programs run.
 */
#ifndef MONITOR_PATCH_EXTEND_H
#define MONITOR_PATCH_EXTEND_H

#include "monitor/run.h"

/* The plan has new sites, and entries that do not wait any more. */
void plan_extended(struct run *run, struct plan *plan);
/* A site has counted once, and does not again: its trap goes. */
void plan_lift(struct run *run, struct plan *plan, uint32_t site);
/* All counts are 0 again: all that are gone come back.  All stands still. */
void plan_again(struct run *run, struct plan *plan);
/*
 * A fork's child has a relocated function of memory as it was when number
 * `since` was the next extension, or later: bring it up to date.
 */
void space_catch_up(struct run *run, struct space *space, pid_t tid,
		    uint64_t since);
void extensions_free(struct run *run);

#endif
