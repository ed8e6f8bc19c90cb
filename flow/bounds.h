/*
 * Upper bounds of the index with which a jump table is read.  Reads no tables.
 * For flow/ only.
 */
#ifndef FLOW_BOUNDS_H
#define FLOW_BOUNDS_H

#include "flow/values.h"

static const uint64_t BOUND_NONE = UINT64_MAX;

struct bound {
	uint64_t limit;		/* the index seems to be below it; or
				   BOUND_NONE */
	bool exact;		/* set by an unsigned compare: the table has
				   that many entries */
	bool above, below;	/* the index may be limit or more for all that
				   is known; it may be negative */
};

/*
 * Return the bound that holds on every path to the use.  It comes from the
 * compares and branches on the path, else from the instructions that computed
 * the index.  It is proven unless `above` or `below` is set.
 */
struct bound bound_find(struct values *v, const struct use *index);

#endif
