/*
 * What of a function's bytes is code.  This is the one home of the rule:
 *
 *	What no chain of control flow leads to from a root is data, until
 *	shown otherwise.
 *
 * Roots are the entry (of a symbol or an unwinding entry), landing pads and
 * what else is entered from outside, and, where a jump is not resolved, rows
 * of line tables and relocated pointers.  A chain goes over the graph's edges,
 * so also by the jump tables that were found.  Nothing may be planted in a
 * block that is not proven.
 *
 * Decoding runs straight on, also through data.  Where that comes out inside
 * an instruction to which a chain leads it is cut: it begins anew there.  CPUs
 * that cannot tell padding (no arch->motion) are decoded straight on, and all
 * of that is taken for code.  For flow/ only.  Pure.
 */
#ifndef FLOW_PROOF_H
#define FLOW_PROOF_H

#include "flow/cfg.h"

/* Places where decoding begins anew: ascending. */
struct cuts {
	uint64_t *addrs;
	size_t n;
};

/* Is code told from data at all? */
bool proof_tells(const struct cfg_input *in);

/* The first cut at addr or behind it; UINT64_MAX if there is none. */
uint64_t cuts_from(const struct cuts *cuts, uint64_t addr);

/* Fill in what the graph's blocks are proven to be, and cfg->gaps. */
void proof_mark(struct cfg *cfg, const struct cfg_input *in);

/*
 * Cut where a chain leads and no instruction begins: true if any cut is new.
 * What no cut puts right sets cfg->bad or cfg->overlap.
 */
bool proof_cut(struct cfg *cfg, const struct cfg_input *in, struct cuts *cuts);

/*
 * Does proven code, or data, mention a place in the gaps, or one that may be
 * known by leaders alone?
 */
bool proof_mentions(const struct cfg *cfg, const struct cfg_input *in);

/*
 * Addresses of proven instructions to which code in the gaps may go, whatever
 * byte it begins at: ascending, *n of them, to be freed.  Sets
 * cfg->reentered.
 */
uint64_t *proof_suspects(struct cfg *cfg, const struct cfg_input *in,
			 size_t *n);

#endif
