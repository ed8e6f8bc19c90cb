/*
 * Counts stack switches in the program that are like one that pmon has followed
 * (switch_sites.h).
 */
#ifndef MONITOR_PATCH_SWITCHES_H
#define MONITOR_PATCH_SWITCHES_H

#include "monitor/patch/switch_sites.h"

/* What a stack switch enters, all in one plan. */
struct switch_edges {
	struct plan *plan;	/* NULL: nothing */
	struct abnormal_edge *edges;
	size_t n;
};

/*
 * From now on count stack switches of the pattern in the program, in all spaces
 * with the module; each enters these edges, which are taken over.  False if
 * there is no room, or no counter.
 */
bool switch_count(struct run *run, const struct task *task,
		  struct module *module, struct switch_site *sw,
		  struct switch_pattern *pattern, struct switch_edges *edges);

#endif
