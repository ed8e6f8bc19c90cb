/*
 * Tells by linear algebra, not by looking for cycles, which counts are
 * determined: an unknown count is determined if its row does not increase the
 * rank of the equations.
 */
#ifndef TESTS_LIB_KIRCHHOFF_H
#define TESTS_LIB_KIRCHHOFF_H

#include "tests/lib/flows.h"

/*
 * The rank of Kirchhoff's equations in the counts of the arcs without counters,
 * with a row for arc `extra` unless that is ARC_NONE.  If open is not NULL,
 * the equations do not hold at nodes that are open.
 */
unsigned kirchhoff_rank_open(const struct flow *flow, const bool *counted,
			     const bool *open, uint32_t extra);
unsigned kirchhoff_rank(const struct flow *flow, const bool *counted,
			uint32_t extra);

/* Whether the counted arcs determine all wanted ones. */
bool kirchhoff_determines(const struct flow *flow, const bool *counted,
			  const bool *wanted);

#endif
