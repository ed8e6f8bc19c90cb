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

/*
 * A region is a set of instructions of one cfg, given as owner[insn] == id.
 * Append to *terms (of *n, vec_push) what counts the entries into it: over
 * all edges from outside the region, and control that arrives from outside
 * the function: at its entry (cfg->insns[0]) and at blocks that nothing known
 * leads to (landing pads, jump table targets).
 */
void entries_of_region(const struct cfg *cfg, const uint32_t *owner,
		       uint32_t id, struct term **terms, size_t *n);

/*
 * A place: a point before the instruction at index insn, which control
 * passes when it arrives there from any instruction not of region id (an
 * empty line row).
 */
void entries_of_point(const struct cfg *cfg, const uint32_t *owner,
		      uint32_t id, uint32_t insn, struct term **terms,
		      size_t *n);

/*
 * Calls of the function: arrivals at its first instruction other than by
 * its own jumps there (a loop whose head is the entry).
 */
void entries_of_func(const struct cfg *cfg, struct term **terms, size_t *n);

#endif
