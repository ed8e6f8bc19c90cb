/*
 * How control comes to counters, in numbers: by the entry patches of relocated
 * functions, and by traps.
 */
#ifndef REPORT_WAYS_H
#define REPORT_WAYS_H

#include "report/table.h"

struct ways {
	size_t relocated_fplans;	/* functions that are relocated */
	size_t jumps, chains, traps;	/* their entry patches, without guards */
	size_t guards;		/* entry patches that nothing is known to lead
				   to */
	size_t trapped;		/* functions that count by traps instead */
	size_t lost;		/* functions whose relocated function was given
				   up */
};

/* Count over all plans.  Plans of data files have no patches. */
struct ways ways_count(const struct report_input *report_input);
/* The numbers in words, "" if all are 0; owned by the caller. */
char *ways_text(const struct ways *ways);

/* Why the site has a trap; static, or the plan's. */
const char *site_why(const struct plan *plan, const struct site *site);

#endif
