/*
 * The control-flow graph of one function, made from its decoded
 * instructions.  A call does not end a block (Ball & Larus 1994, section 2).
 * Pure: no files, no processes.
 */
#ifndef FLOW_CFG_H
#define FLOW_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

enum { BLOCK_NONE = -1 };

/* Straight-line code: entered at its first instruction only. */
struct block {
	uint32_t first, count;	/* instructions: cfg->insns[first..] */
	bool given;		/* begins at one of the leaders given */
};

enum edge_kind {
	EDGE_FALL,		/* to the next instruction */
	EDGE_TAKEN,		/* a branch or jump to its target */
};

struct edge {
	uint32_t from, to;	/* blocks */
	uint8_t kind;		/* enum edge_kind */
};

struct cfg {
	struct insn *insns;	/* ascending addr */
	size_t ninsns;
	struct block *blocks;	/* ascending addr */
	size_t nblocks;
	struct edge *edges;	/* grouped by `to`, see in */
	size_t nedges;
	uint32_t *in;		/* nblocks + 1: edges into block b are
				   edges[in[b]] .. edges[in[b + 1] - 1] */
	long entry;		/* the instruction where the function is
				   entered, or -1 if it could not be decoded;
				   not the first where foo.cold lies below */
	bool unresolved;	/* has an indirect jump */
	uint64_t bad;		/* address where decoding failed, or 0 */
};

/* Code bytes: returns those at addr, *avail how many, or NULL. */
typedef const uint8_t *cfg_text(void *ctx, uint64_t addr, size_t *avail);

/*
 * Decode [lo[i], hi[i]) for each of n ranges, in any order (the first given
 * begins with the entry), and build the graph.  Decoding runs linearly from
 * each range's start; where it fails the rest of that range is left out and
 * `bad` is set.  leaders, ascending, are further addresses known to begin
 * blocks (line rows, landing pads); those not on an instruction boundary are
 * ignored.  Owned by the caller; never fails: a cfg may be empty.
 */
struct cfg *cfg_build(const struct arch *arch, const uint64_t *lo,
		      const uint64_t *hi, size_t n, const uint64_t *leaders,
		      size_t nleaders, cfg_text *text, void *ctx);
void cfg_free(struct cfg *cfg);

/* Index of the instruction at addr, or -1 when none begins there. */
long cfg_insn(const struct cfg *cfg, uint64_t addr);

/* The block that begins at addr, or BLOCK_NONE. */
long cfg_block(const struct cfg *cfg, uint64_t addr);

#endif
