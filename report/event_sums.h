/*
 * What the events of a run sum up to, for all code and for each function that
 * ran.  Never prints.
 */
#ifndef REPORT_EVENT_SUMS_H
#define REPORT_EVENT_SUMS_H

#include "report/events.h"
#include "report/table.h"

/* The sums of one function, or of nameless code. */
struct event_func {
	uint32_t plan, fplan;	/* indices, as a view has them */
	char *name;		/* as shown; owned */
	struct figure *sums;	/* per event, if event_in_funcs */
};

struct event_sums {
	struct figure *all;	/* per event */
	struct figure outside;	/* how often functions went to code of their
				   object that is neither in a function nor a
				   stub that is counted */
	size_t by;		/* the first event that event_in_funcs, or as
				   many as there are events */
	struct event_func *funcs;	/* that have part in event `by`; the
					   most first */
	size_t nfuncs;
};

/* Never NULL. */
struct event_sums *event_sums_make(struct table *table,
				   const struct events *events);
void event_sums_free(struct event_sums *sums);

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
