/*
 * Expresses how often control enters a part of a function's code (a source
 * line, an inlined copy) as a sum over arcs of the function's flow graph.
 * Counts nothing itself.  Pure.
 */
#ifndef FLOW_ENTRIES_H
#define FLOW_ENTRIES_H

#include "flow/graph.h"

/*
 * The regions of a function's code: region id is the set of those instructions
 * of the cfg for which owner[insn] == id.
 */
struct regions {
	const struct cfg *cfg;
	const struct flow *flow;
	const uint32_t *owner;
};

/* The owner of instructions that are in no region. */
static const uint32_t REGION_NONE = UINT32_MAX;

static const uint32_t INSN_NONE = UINT32_MAX;

/*
 * Receive one summand of region id's count.  The summand is the arc's count if
 * insn is INSN_NONE; else the arc is a block's, and the summand is how often
 * instruction insn of that block ran (which differs from the block's count only
 * where control leaves or enters the block in its middle).
 */
typedef void entries_emit(void *ctx, uint32_t id, uint32_t arc, uint32_t insn);

/*
 * Emit the summands of all regions' counts, in no order of ids.  A region's
 * count is how often control comes into it over edges from other regions, comes
 * from outside the function, and goes round loops inside it (gcov's definition
 * of a line's count: its blocks' entries and its cycles).
 *
 * An unresolved indirect jump counts as coming from another region, unless one
 * region has all unresolved jumps of the function (a switch on one line) and
 * control comes unseen from nowhere else: then they stay inside that region.
 */
void entries_of_regions(const struct regions *regions, entries_emit *emit,
			void *ctx);

/*
 * Emit the summands of a point's count (an empty line row, an inlined copy's
 * entry).  The point is before instruction insn; control passes it when it
 * arrives there from an instruction that is not in region id.
 */
void entries_of_point(const struct regions *regions, uint32_t id, uint32_t insn,
		      entries_emit *emit, void *ctx);

#endif
