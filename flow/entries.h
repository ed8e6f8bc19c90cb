/*
 * How often control enters a part of a function's code (a source line, an
 * inlined copy): which arcs of its flow graph that is the sum of.  Pure.
 */
#ifndef FLOW_ENTRIES_H
#define FLOW_ENTRIES_H

#include "flow/graph.h"

/* The owner of an instruction that is in no region. */
static const uint32_t REGION_NONE = UINT32_MAX;

static const uint32_t INSN_NONE = UINT32_MAX;

/*
 * One summand of region id's count: the arc's count; or if insn is not
 * INSN_NONE, how often that instruction ran, of the block whose arc it is
 * (which differs only where control leaves or enters a block in its middle).
 */
typedef void entries_emit(void *ctx, uint32_t id, uint32_t arc,
			  uint32_t insn);

/*
 * A region is a set of instructions of one cfg: those with owner[insn] == id.
 * Emit, for all regions at once and in no order of ids, what the count of
 * each is the sum of: control coming into it over edges from outside, from
 * outside the function, and round loops inside it (gcov's definition of a
 * line's count: its blocks' entries and its cycles).
 *
 * An indirect jump that is not resolved is taken to come from another region,
 * unless this one has all of the function's (a switch that is one line): then
 * they stay inside.
 */
void entries_of_regions(const struct cfg *cfg, const struct flow *flow,
			const uint32_t *owner, entries_emit *emit, void *ctx);

/*
 * A place: a point before the instruction at index insn, which control
 * passes when it arrives there from any instruction not of region id (an
 * empty line row, an inlined copy's entry).
 */
void entries_of_point(const struct cfg *cfg, const struct flow *flow,
		      const uint32_t *owner, uint32_t id, uint32_t insn,
		      entries_emit *emit, void *ctx);

#endif
