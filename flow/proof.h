/*
 * Which of a function's bytes are code.  This is the one home of the rule:
 *
 *	Bytes that no chain of control flow from a root leads to are data,
 *	until shown otherwise.
 *
 * Roots are the entry (of a symbol or an unwinding entry), landing pads,
 * OCaml's exception handlers (flow/ocaml.h), other places that are entered from
 * outside, rows of line tables and, if a jump is not resolved, relocated
 * pointers and labels (flow/labels.h).  A chain follows the graph's edges,
 * including those of the jump tables that were found.  Nothing may be planted
 * in a block that is not proven.
 *
 * Decoding runs straight on, also through data.  If it runs over the beginning
 * of an instruction to which a chain leads, decoding is cut: it begins anew at
 * that instruction.  If the CPU's arch cannot tell padding and effects (no
 * arch->motion or arch->effect), everything that can be decoded counts as code.
 * For flow/ only.  Pure.
 */
#ifndef FLOW_PROOF_H
#define FLOW_PROOF_H

#include "flow/cfg.h"

/* Cuts: addresses at which decoding begins anew, ascending. */
struct cuts {
	uint64_t *addrs;
	size_t n;
};

/* Whether the arch allows code to be told from data at all. */
bool proof_tells(const struct cfg_input *in);

/* The first cut at addr or behind it; UINT64_MAX if there is none. */
uint64_t cuts_from(const struct cuts *cuts, uint64_t addr);

/* Set `proof` in the blocks that are proven. */
void proof_reach(struct cfg *cfg, const struct cfg_input *in);

/* Set `proof` in all of the graph's blocks, and cfg->gaps. */
void proof_mark(struct cfg *cfg, const struct cfg_input *in);

/*
 * Add a cut wherever a chain leads and no instruction begins; true if any cut
 * is new.  Sets cfg->bad or cfg->overlap for places where a cut does not help.
 */
bool proof_cut(struct cfg *cfg, const struct cfg_input *in, struct cuts *cuts);

/*
 * Whether proven code, or data, mentions a place in the gaps or, if leaders are
 * given, any place but the entry (leaders alone may have proven it).
 */
bool proof_mentions(const struct cfg *cfg, const struct cfg_input *in);

/*
 * Return the addresses in the function that its proven code takes: ascending,
 * *n of them; the caller frees the array.  If all jumps are resolved, only
 * those of proven instructions to which code elsewhere might jump.
 */
uint64_t *proof_taken(const struct cfg *cfg, const struct cfg_input *in,
		      size_t *n);

/*
 * Return the addresses of proven instructions to which code in the gaps may
 * jump, whatever byte of a gap it begins at: ascending, *n of them; the caller
 * frees the array.  Sets cfg->reentered.
 */
uint64_t *proof_suspects(struct cfg *cfg, const struct cfg_input *in,
			 size_t *n);

#endif
