/*
 * What the events of a run sum up to, for all code and for each function that
 * ran.  Never prints.
 */
#ifndef REPORT_EVENT_SUMS_H
#define REPORT_EVENT_SUMS_H

#include "report/events.h"
#include "report/table.h"

/* What the options' events sum up to: made at the first call, lent. */
const struct event_sums *event_sums(struct table *table);

/*
 * Find the next edge that a term means in its function, which has a flow: from
 * the block with one instruction to that which begins with another.  *edge is
 * where to look from on, and is set.  False if there is none.
 */
bool event_edge_next(const struct func_plan *fplan, const struct func *func,
		     const struct event_term *term, uint32_t *edge);

/*
 * event_match.c: check that each name in the events is one of the program's.
 * 0, or -1 with the message set.
 */
MUST_CHECK int events_matched(const struct table *table,
			      const struct events *events);

#endif
