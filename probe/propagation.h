/*
 * What the parts of propagation share.  For probe/ only.
 */
#ifndef PROBE_PROPAGATION_H
#define PROBE_PROPAGATION_H

#include "probe/plan.h"

/* One propagation: a plan, and the counter set that its counts come from. */
struct propagation {
	struct plan *plan;
	const struct counter_set *counter_set;
};

/* doubt.c */

/*
 * Why control may have left the function or come to it unreported, or
 * REASON_NONE.
 */
enum count_reason doubt_of(const struct propagation *s,
			   const struct func_plan *fplan);
/* The same without jumps into its middle, which do not count as calls. */
enum count_reason doubt_of_stacks(const struct propagation *s,
				  const struct func_plan *fplan);
/*
 * Set fplan->doubt, and return the nodes of the flow where control may have
 * come or left unreported: per node, owned by the caller.  NULL if there are
 * none, and then there is no doubt.
 */
bool *doubt_open(const struct propagation *s, struct func_plan *fplan);
/*
 * If the function may have run before it was looked at, return the arcs that
 * control can have gone over uncounted: per arc, owned by the caller.  Else
 * NULL.  `open` is doubt_open's result.
 */
bool *doubt_reach(const struct propagation *s, const struct func_plan *fplan,
		  const bool *open);

/* abnormal_insns.c */

/* The site's counter in the counter set; with PLACE_ONCE hits is 0 or 1. */
struct counter propagation_counter(const struct propagation *s, uint32_t site);
/*
 * Make the abnormal instructions of all function plans with graphs from the
 * counter set's abnormal edges.
 */
void abnormal_insns_make(const struct propagation *s);
/*
 * Replace the abnormal instructions at calls that have a counter behind them:
 * that counter tells how often control left a call or came back twice, so walks
 * of stacks are not needed.
 */
void abnormal_insns_measure(const struct propagation *s,
			    struct func_plan *fplan);
/* The function plan's abnormal instructions for propagate; the caller frees. */
struct flow_extra *abnormal_insns_extras(const struct func_plan *fplan,
					 size_t *n);
/*
 * Whether it is known, without a walk of the stack, how often each call and
 * system call in instructions [from, to) came back.
 */
bool calls_measured(const struct func_plan *fplan, uint32_t from, uint32_t to);

#endif
