/*
 * What propagation's parts share.  For plan/ only.
 */
#ifndef PLAN_PROPAGATION_H
#define PLAN_PROPAGATION_H

#include "plan/plan.h"

/* One propagation: what a counter set says of a plan. */
struct propagation {
	struct plan *plan;
	const struct counter_set *counter_set;
};

/* doubt.c */

/*
 * Why some of what control did to the function plan may not have been told, or
 * NONE.
 */
enum count_reason doubt_of(const struct propagation *s,
			   const struct func_plan *fplan);
/* The same, but for jumps into its middle: those do not count as calls. */
enum count_reason doubt_of_stacks(const struct propagation *s,
				  const struct func_plan *fplan);
/*
 * Set fplan->doubt.  Where that may have been: per node of the flow, owned by
 * the caller; NULL if nowhere, and then there is no doubt.
 */
bool *doubt_open(const struct propagation *s, struct func_plan *fplan);
/*
 * Which arcs control can have gone over uncounted, if the function plan may
 * have run before it was looked at; else NULL.  open: of doubt_open.  Owned by
 * the caller.
 */
bool *doubt_reach(const struct propagation *s, const struct func_plan *fplan,
		  const bool *open);

/* abnormal edges.c */

struct counter propagation_counter(const struct propagation *s, uint32_t site);
/*
 * Give the abnormal edges to the function plans with graphs that they are in.
 */
void abnormal_insns_make(const struct propagation *s);
/*
 * Where it was counted how often calls came back, that tells how often
 * control left them or came back twice, whatever stacks said.
 */
void abnormal_insns_measure(const struct propagation *s,
			    struct func_plan *fplan);
/* The same for propagate; owned by the caller. */
struct flow_extra *abnormal_insns_extras(const struct func_plan *fplan,
					 size_t *n);
/*
 * Of all calls and system calls in instructions [from, to), is it known how
 * often they came back, without a walk of the stack?
 */
bool calls_measured(const struct func_plan *fplan, uint32_t from, uint32_t to);

#endif
