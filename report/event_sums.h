/*
 * What the events of a run sum up to, for all code and for each function that
 * ran.  Never prints.
 */
#ifndef REPORT_EVENT_SUMS_H
#define REPORT_EVENT_SUMS_H

#include "report/events.h"
#include "report/table.h"

/*
 * What the options' events sum up to: made at the first call, lent.  Events that
 * name what was not counted are not known; if `other`, which may be NULL, has it,
 * there is none of it here.
 */
const struct event_sums *event_sums(struct table *table,
				    const struct table *other);

/*
 * event_match.c: check that each name in the options' events is one of the
 * program's, or of the other's, which may be NULL.  0, or -1 with the message
 * set.
 */
MUST_CHECK int events_matched(const struct table *table,
			      const struct table *other);

#endif
