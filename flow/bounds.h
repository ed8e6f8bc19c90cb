/*
 * How large an index can be where a jump table is read.  For flow/ only.
 */
#ifndef FLOW_BOUNDS_H
#define FLOW_BOUNDS_H

#include "flow/values.h"

static const uint64_t BOUND_NONE = UINT64_MAX;

struct bound {
	uint64_t limit;		/* the index is below it, or BOUND_NONE */
	bool exact;		/* an unsigned compare says so: the table has
				   that many entries */
};

/*
 * The bound that holds at the spot whatever way control came: from compares
 * whose outcome led there, or else from what made the index.
 */
struct bound bound_find(struct values *v, const struct spot *index);

#endif
