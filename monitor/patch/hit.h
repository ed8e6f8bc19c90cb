/*
 * Hits: a task has stopped at one of pmon's traps.  patch.c handles the hits
 * that were reported; unreported.c looks for those that were not.
 */
#ifndef MONITOR_PATCH_HIT_H
#define MONITOR_PATCH_HIT_H

#include "monitor/process/client.h"

struct hit {
	const struct module *module;
	struct site *site;
	const struct patched *patched;
	uint64_t va;
};

/* Whether the pc is where the trap of a site leaves it; if so, fill in *hit. */
bool hit_before(struct run *run, const struct task *task, struct hit *hit);

/* Tell clients what happened at the site. */
void hit_tell(struct run *run, const struct task *task, const struct hit *hit,
	      enum site_event what);

/*
 * The site's instruction has been stepped and led to pc: tell clients whether
 * its branch was taken, and its target.
 */
void hit_stepped(struct run *run, const struct task *task,
		 const struct hit *hit, uint64_t pc);

#endif
