/*
 * What a plan is to count, and how.
 */
#ifndef PROBE_PLAN_OPTIONS_H
#define PROBE_PLAN_OPTIONS_H

#include <stdbool.h>

#include "flow/placement.h"
#include "program/select.h"

struct func_plan;
struct plan;
struct probe_list;		/* see probe/probes.h */

struct plan_options {
	const struct selection *sel;	/* NULL: nothing but hooks */
	enum placement_method method;
	bool eager;		/* look at all functions at once */
	bool early; /* the same if only calls are counted, in relocated
				   functions: that saves the entries' traps */
	/*
	 * Functions that are likely to run, by their addresses, ascending:
	 * these are looked at at once, too.  Need not outlive plan_open.
	 */
	const uint64_t *likely;
	size_t nlikely;
	bool relocated;		/* count in relocated functions if possible */
	bool shared;		/* all threads share the counters of relocated
				   functions */
	bool springs;		/* functions with unknown jumps, too:
				   VIA_SPRING */
	bool no_traps;		/* every site stays idle: there are no hooks,
				   so nothing is derived, and counts that need
				   a trap are unknown */
	bool counted;		/* counted elsewhere: the plan places nothing,
				   the caller fills in the function plans */
	/*
	 * How often the edges of a function plan, which has a cfg and a flow,
	 * are expected to run.  The plan frees the result; NULL: not known.
	 * The pointer itself may be NULL.
	 */
	struct weights *(*weigh)(void *ctx, const struct plan *plan,
				 const struct func_plan *fplan);
	/*
	 * Add the probes that clients choose for a function plan, which has a
	 * cfg, a flow and a placement: first those of the placement, by
	 * probes_count.  NULL: these alone.
	 */
	void (*choose)(void *ctx, struct plan *plan, struct probe_list *list);
	void *ctx;		/* of weigh and choose */
	bool whole;		/* clients choose probes anywhere: functions are
				   not looked at by their beginning alone */
	bool bare;		/* counts are wanted for nothing: functions get
				   the counters of their calls alone, though
				   their units are others */
	bool maps;		/* hooks are to see each system call that may
				   change what code is mapped */
	bool leaks;		/* stack walks cannot be relied on: any call
				   may not come back, and there are counters
				   behind calls */
	bool unswitched;	/* with leaks: it runs from the start, and no
				   other plan of its spaces derives counts, so
				   no stack switch needs a hook */
	bool unhooked;		/* nobody walks stacks: code is not searched for
				   hooks */
};

#endif
