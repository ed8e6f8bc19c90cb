/*
 * How often control enters a part of a function's code (a source line, the
 * function itself, an inlined copy): which counters to plant for it, and how
 * to add them up.  Pure.
 */
#ifndef FLOW_ENTRIES_H
#define FLOW_ENTRIES_H

#include "flow/cfg.h"

/* What of a site is counted. */
enum term_kind {
	TERM_HITS,		/* how often its instruction ran */
	TERM_TAKEN,		/* ... and the branch went to its target */
	TERM_FALL,		/* ... and the branch went on */
};

/* A unit's count is the sum over its terms of sign * counter. */
struct term {
	uint64_t addr;		/* of the site; a plan maps it to an index */
	uint8_t kind;		/* enum term_kind */
	int8_t sign;		/* +1 or -1 */
};

/* The owner of an instruction that is in no region. */
static const uint32_t REGION_NONE = UINT32_MAX;

/* Takes one term of what counts the entries into `id`. */
typedef void entries_emit(void *ctx, uint32_t id, const struct term *term);

/*
 * A region is a set of instructions of one cfg: those with owner[insn] == id.
 * Emit, for all regions at once and in no order of ids, what counts the
 * entries into each: over all edges from outside the region, and control
 * that arrives from outside the function: at its entry, at landing pads, and
 * at given leaders that nothing known leads to.  A region without code that
 * can be entered has no terms.
 *
 * An indirect jump that is not resolved is taken to come from another region,
 * unless this one has all of the function's (a switch that is one line): then
 * they stay inside.  It is taken not to lead behind a call of the same
 * region, which might also never have come back.
 *
 * Of a resolved one is known where it goes, not how often to each target: a
 * target that it reaches from inside and from outside the region counts all
 * arrivals by such jumps.
 */
void entries_of_regions(const struct cfg *cfg, const uint32_t *owner,
			entries_emit *emit, void *ctx);

/*
 * A place: a point before the instruction at index insn, which control
 * passes when it arrives there from any instruction not of region id (an
 * empty line row).
 */
void entries_of_point(const struct cfg *cfg, const uint32_t *owner,
		      uint32_t id, uint32_t insn, entries_emit *emit,
		      void *ctx);

/*
 * Calls of the function, emitted as of `id`: arrivals at its entry other than
 * by its own jumps there (a loop whose head is the entry).
 */
void entries_of_func(const struct cfg *cfg, uint32_t id, entries_emit *emit,
		     void *ctx);

#endif
