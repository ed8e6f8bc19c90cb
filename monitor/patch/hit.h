/*
 * A trap of pmon's that a task was stopped by: what patch.c handles, and
 * unreported.c looks for where it was not told.
 */
#ifndef MONITOR_PATCH_HIT_H
#define MONITOR_PATCH_HIT_H

#include "monitor/client/client.h"

struct hit {
	const struct module *module;
	struct site *site;
	const struct patched *patched;
	uint64_t va;
};

/* Whether there is a trap just before the pc. */
bool hit_before(struct run *run, const struct task *task, struct hit *hit);

/* Tell clients what happened at the site. */
void hit_tell(struct run *run, const struct task *task, const struct hit *hit,
	      enum site_event what);

/* Its instruction was done by a step, which went to pc. */
void hit_stepped(struct run *run, const struct task *task,
		 const struct hit *hit, uint64_t pc);

#endif
