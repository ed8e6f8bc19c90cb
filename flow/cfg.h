/*
 * The control-flow graph of one function, made from its decoded
 * instructions.  A call does not end a block (Ball & Larus 1994, section 2),
 * unless asked to.
 * Pure: no files, no processes.
 */
#ifndef FLOW_CFG_H
#define FLOW_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

enum { BLOCK_NONE = -1 };

/* What is known of a block: see flow/proof.h. */
enum block_proof {
	PROOF_NONE,		/* nothing leads to it: perhaps it is data */
	PROOF_PADDING,		/* nor is it run: it does nothing */
	PROOF_FLOW,		/* control comes there: only here anything may
				   be planted */
};

/* Straight-line code: entered at its first instruction only. */
struct block {
	uint32_t first, count;	/* instructions: cfg->insns[first..] */
	bool given;		/* begins at one of the leaders given */
	bool external;		/* also entered from outside: the entry and
				   landing pads */
	uint8_t proof;		/* enum block_proof */
};

enum edge_kind {
	EDGE_FALL,		/* to the next instruction */
	EDGE_TAKEN,		/* a branch or jump to its target */
	EDGE_TABLE,		/* an indirect jump to one of its targets */
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
	bool unresolved;	/* control may go, or come, to places in the
				   function over ways that are not known */
	bool gaps;		/* some of it is neither proven nor padding */
	bool reentered;		/* what is in the gaps may be a jump to the
				   function's beginning */
	uint64_t *outs;		/* in the middle of other functions: its jumps
				   by tables lead there */
	size_t nouts;
	uint64_t bad;		/* address to which control comes and where
				   decoding failed, or 0 */
	uint64_t overlap;	/* the same where an instruction has bytes
				   that belong to another, too, or 0 */
};

/*
 * Bytes of the program: returns those at addr, *avail how many, or NULL.  Of
 * data *avail ends where its section does, and pointers are relocated.
 */
typedef const uint8_t *cfg_text(void *ctx, uint64_t addr, size_t *avail);

enum cfg_place {
	CFG_UNKNOWN,
	CFG_ENTRY,		/* another function's entry */
	CFG_FOREIGN,		/* no code, or inside another function */
};

/* What a graph is made from.  What is 0 is not known. */
struct cfg_input {
	const struct arch *arch;
	const uint64_t *lo, *hi;	/* [lo[i], hi[i]), in any order; the
					   first begins with the entry */
	size_t n;
	const uint64_t *leaders;	/* ascending: known to begin blocks
					   (line rows) */
	size_t nleaders;
	const uint64_t *pads;	/* ascending: landing pads */
	size_t npads;
	bool calls_end;		/* calls and system calls end blocks */
	const uint64_t *refs;	/* ascending: code addresses that are in data;
				   leaders where an indirect jump cannot be
				   resolved */
	size_t nrefs;
	bool relocated;		/* the linker says that they are addresses;
				   else they only look so, and prove nothing */
	cfg_text *text;		/* code */
	cfg_text *data;		/* what the program cannot write; NULL: no
				   indirect jump is resolved */
	/* The call may come back.  NULL: they all may. */
	bool (*returns)(void *ctx, const struct insn *call);
	/* What is at an address that is not in the ranges. */
	enum cfg_place (*place)(void *ctx, uint64_t addr);
	void *ctx;
};

/*
 * Decode the ranges and build the graph.  Decoding runs linearly from each
 * range's start, and begins anew where flow/proof.h says; where it fails the
 * rest is left out.  Leaders inside a proven instruction are ignored.
 * Indirect jumps are resolved as flow/tables.h says.  Owned by the caller;
 * never fails: a cfg may be empty.
 */
struct cfg *cfg_make(const struct cfg_input *in);

/* The same with nothing known but the code. */
struct cfg *cfg_build(const struct arch *arch, const uint64_t *lo,
		      const uint64_t *hi, size_t n, const uint64_t *leaders,
		      size_t nleaders, cfg_text *text, void *ctx);
void cfg_free(struct cfg *cfg);

/* Whether addr is in one of the function's ranges. */
bool cfg_inside(const struct cfg_input *in, uint64_t addr);

/* Index of the first instruction at addr or behind it; ninsns if none is. */
size_t cfg_insn_from(const struct cfg *cfg, uint64_t addr);

/*
 * May control leave for good at this instruction, and may it come back?  So
 * do calls and system calls.
 */
bool insn_comes_back(const struct insn *insn);

/* Does control go on from it to the next? */
bool insn_goes_on(const struct insn *insn);

/* Is an instruction of the graph proven to be one? */
bool cfg_proven(const struct cfg *cfg, size_t insn);

/* Index of the instruction at addr, or -1 when none begins there. */
long cfg_insn(const struct cfg *cfg, uint64_t addr);

/* The block that begins at addr, or BLOCK_NONE. */
long cfg_block(const struct cfg *cfg, uint64_t addr);

/* The block that has an instruction, by its index. */
uint32_t cfg_block_of(const struct cfg *cfg, size_t insn);

#endif
