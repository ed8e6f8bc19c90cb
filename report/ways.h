/*
 * In how many ways control is led to the counters.
 */
#ifndef REPORT_WAYS_H
#define REPORT_WAYS_H

#include "report/text/reasons.h"
#include "report/table.h"

struct ways {
	size_t relocated_fplans;		/* functions that have a
						   relocated function, ... */
	size_t jumps, chains, traps;	/* the entry patches that lead there,
					   ... */
	size_t guards;		/* and those that nothing is known to come to */
	size_t trapped;		/* functions without, that are counted */
	size_t lost;		/* functions whose relocated function was given
				   up */
};

struct ways ways_count(const struct report_input *report_input);
/* In words, "" if there is nothing to say; owned by the caller. */
char *ways_text(const struct ways *ways);

#endif
