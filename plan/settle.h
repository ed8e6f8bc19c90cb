/*
 * What settling's parts share.  For plan/ only.
 */
#ifndef PLAN_SETTLE_H
#define PLAN_SETTLE_H

#include "plan/plan.h"

/* One settling: what a meter says of a plan. */
struct settling {
	struct plan *plan;
	const struct meter *meter;
};

/* doubt.c */

/* Why some of what control did to the body may not have been told, or NONE. */
enum count_reason doubt_of(const struct settling *s, const struct body *body);
/* The same, but for jumps into its middle: those do not count as calls. */
enum count_reason doubt_of_stacks(const struct settling *s,
				  const struct body *body);
/*
 * Set body->doubt.  Where that may have been: per node of the flow, owned by
 * the caller; NULL if nowhere, and then there is no doubt.
 */
bool *doubt_open(const struct settling *s, struct body *body);
/*
 * Which arcs control can have gone over uncounted, if the body may have run
 * before it was looked at; else NULL.  open: of doubt_open.  Owned by the
 * caller.
 */
bool *doubt_reach(const struct settling *s, const struct body *body,
		  const bool *open);

/* leaps.c */

struct counter settling_counter(const struct settling *s, uint32_t site);
/* Give the strays to the bodies with graphs that they are in. */
void leaps_make(const struct settling *s);
/*
 * Where it was counted how often calls came back, that tells how often
 * control left them or came back twice, whatever stacks said.
 */
void leaps_measure(const struct settling *s, struct body *body);
/* The same for propagate; owned by the caller. */
struct flow_extra *leaps_extras(const struct body *body, size_t *n);
/*
 * Of all calls and system calls in instructions [from, to), is it known how
 * often they came back, without a walk of the stack?
 */
bool calls_measured(const struct body *body, uint32_t from, uint32_t to);

#endif
