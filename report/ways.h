/*
 * In how many ways control is led to the counters.
 */
#ifndef REPORT_WAYS_H
#define REPORT_WAYS_H

#include "report/reasons.h"
#include "report/table.h"

struct ways {
	size_t copied;		/* functions that have a copy, ... */
	size_t jumps, hops, traps;	/* the points that lead there, ... */
	size_t guards;		/* and those that nothing is known to come to */
	size_t trapped;		/* functions without, that are counted */
	size_t lost;		/* functions whose copy was given up */
};

struct ways ways_count(const struct tally *tally);
/* In words, "" if there is nothing to say; owned by the caller. */
char *ways_text(const struct ways *ways);

#endif
