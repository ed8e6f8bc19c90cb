/*
 * Events by the arcs and instructions of one function.
 */
#ifndef REPORT_EVENT_ARCS_H
#define REPORT_EVENT_ARCS_H

#include "probe/plan.h"
#include "report/events.h"

/*
 * Check that the event can be counted while the program runs.  0, or -1 with the
 * message.
 */
MUST_CHECK int event_arcs_check(const struct event_def *event);

/*
 * Add to arcs[], of the function plan's flow, how often the event happens each
 * time that control passes them, and to insns[], of its cfg, how often it does
 * when they begin.  A block's arc has those of all its instructions.  0, or -1
 * with the message: that is not known.
 */
MUST_CHECK int event_arcs(const struct event_def *event,
			  const struct plan *plan,
			  const struct func_plan *fplan, uint64_t *arcs,
			  uint64_t *insns);

#endif
