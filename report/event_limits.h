/*
 * Limits of events: --fail-if.
 */
#ifndef REPORT_EVENT_LIMITS_H
#define REPORT_EVENT_LIMITS_H

#include "report/table.h"

/* Add the limit of one argument.  0, or -1 with the message set. */
MUST_CHECK int event_limit_add(struct events *events, const char *arg);

/*
 * Check that all limits are of events that there are, and that none is of a
 * change unless `two` runs are compared.  0, or -1 with the message set.
 */
MUST_CHECK int event_limits_check(const struct events *events, bool two);

/*
 * Judge the sums of one run (before is NULL), or of two: 0 if no limit is
 * passed; 1 with the message set if one is; -1 with the message set if a sum is
 * not known.
 */
MUST_CHECK int event_limits_judge(const struct events *events,
				  const struct figure *before,
				  const struct figure *after);

#endif
