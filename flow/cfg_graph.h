/*
 * Makes blocks and edges from decoded instructions.  Decodes nothing, and
 * resolves no indirect jumps.  For flow/ only.
 */
#ifndef FLOW_CFG_GRAPH_H
#define FLOW_CFG_GRAPH_H

#include "flow/cfg.h"
#include "flow/tables.h"

/* What begins blocks besides the leaders of struct cfg_input. */
struct more {
	bool refs;		/* the code addresses in cfg_input.refs */
	uint64_t *taken;	/* addresses that the code takes, ascending */
	size_t ntaken;
	bool entered;		/* control may come there from elsewhere */
	uint64_t *labels;	/* see labels_find */
	size_t nlabels;
	uint64_t *suspects;	/* see proof_suspects */
	size_t nsuspects;
};

static const struct more no_more = { 0 };

/*
 * Make the graph's blocks and edges anew.  The caller then calls proof_mark, as
 * no new block is proven.  tables may be NULL.
 */
void cfg_graph(struct cfg *cfg, const struct cfg_input *in,
	       const struct tables *tables, const struct more *more);

/*
 * The instruction that the direct jump or branch `insn` goes to, or -1 if it is
 * neither, or leaves the function.
 */
long cfg_target(const struct cfg *cfg, size_t insn);

/* The block that begins with instruction insn, or BLOCK_NONE. */
long cfg_block_at(const struct cfg *cfg, size_t insn);

/*
 * Return the indices of all edges, grouped by `from` and in their order within
 * a group: those out of block b are at (*out)[b] to (*out)[b + 1] - 1.  The
 * caller frees both arrays.
 */
uint32_t *cfg_out(const struct cfg *cfg, uint32_t **out);

/*
 * The instruction where control goes on, coming from outside, behind call i and
 * its return if the call reenters; else 0.  Where a function with variable
 * arguments goes on, libgcc's __morestack_non_split looks whether an
 * instruction is there that takes an address in the frame.  That one must stay
 * as it is, so it is passed over: how often it runs is unknown.
 */
size_t cfg_reentry(const struct cfg *cfg, const struct cfg_input *in, size_t i);

#endif
