/*
 * Makes blocks and edges of decoded instructions.  For flow/ only.
 */
#ifndef FLOW_CFG_GRAPH_H
#define FLOW_CFG_GRAPH_H

#include "flow/cfg.h"
#include "flow/tables.h"

/* What else begins blocks. */
struct more {
	bool refs;		/* code addresses that are in data */
	uint64_t *suspects;	/* see proof_suspects */
	size_t nsuspects;
};

static const struct more no_more = { 0 };

/*
 * Make blocks and edges, in place of those there were.  What is proven is to be
 * said anew (proof_mark).
 * tables may be NULL.
 */
void cfg_graph(struct cfg *cfg, const struct cfg_input *in,
	       const struct tables *tables, const struct more *more);

/* The instruction that a jump or branch inside the function goes to, or -1. */
long cfg_target(const struct cfg *cfg, size_t insn);

/* The block that begins with instruction insn, or BLOCK_NONE. */
long cfg_block_at(const struct cfg *cfg, size_t insn);

/*
 * Indices of all edges grouped by `from`, in their order: those out of block b
 * are (*out)[b] to (*out)[b + 1] - 1.  Both arrays are to be freed.
 */
uint32_t *cfg_out(const struct cfg *cfg, uint32_t **out);

#endif
