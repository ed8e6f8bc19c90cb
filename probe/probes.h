/*
 * The probes of one function: what the clients of a run choose when the
 * function is looked at.
 */
#ifndef PROBE_PROBES_H
#define PROBE_PROBES_H

#include "flow/placement.h"
#include "probe/func_plan.h"
#include "relocate/probe.h"
#include "util/fail.h"

struct plan;

struct probe_list {
	const struct func_plan *fplan;	/* has a cfg, a flow and a placement */
	struct probe *probes;
	uint32_t n;
	uint32_t slot;		/* the next new probe's */
	uint32_t *of;		/* per arc, the number of its first probe, from
				   1 on; NULL until probe_ask needs it */
};

/*
 * Ask for a probe at an element, an arc of the flow.  There is one probe per
 * element and operation at most: clients that ask for the same operation share
 * it.  What is asked for later is done before what is there.  Returns 0, or -1
 * with the message: the element has a probe with another operand, or can have
 * none.
 */
int probe_ask(struct probe_list *list, uint32_t element, enum probe_op op,
	      int32_t operand) MUST_CHECK;
/*
 * Whether the element can have probes: 0, or -1 with the message.  Edges of an
 * indirect jump have none but those that count (placement_input.tables), and
 * code that no known control flow leads to, which may be data, has none.
 */
int probe_may(const struct func_plan *fplan, uint32_t element) MUST_CHECK;

/*
 * Add the probes of the counting client to an empty list: one per arc of the
 * placement, in its order, each of which adds 1.
 */
void probes_count(struct probe_list *list, const struct placement *placement);

/*
 * The probes of a function plan that has its placement, as clients choose them;
 * the placement's come first.
 */
struct probe_list fplan_probes(struct plan *plan,
			       const struct func_plan *fplan);
void probe_list_free(struct probe_list *list);

#endif
