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
	PROOF_NONE,		/* nothing leads to it: it may be data */
	PROOF_PADDING,		/* nothing leads to it, and it does nothing */
	PROOF_FLOW,		/* control can reach it: the only blocks in
				   which anything may be planted */
};

/* Straight-line code: entered at its first instruction only. */
struct block {
	uint32_t first, count;	/* instructions: cfg->insns[first..] */
	bool given;		/* begins at a leader that the caller gave */
	bool external;		/* also entered from outside: the entry,
				   landing pads and mid-entries */
	bool label;		/* its address is taken, so that an unresolved
				   jump may well lead there */
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

/*
 * An indirect jump that reads its target from a table of addresses, by an index
 * in a register.  Two instructions of one block do that, or the jump alone.
 */
struct table_use {
	uint32_t jump, load;	/* instructions; load reads the entry */
	uint64_t table;		/* address of entry 0 */
	uint8_t index;		/* register with the entry's number at the
				   load */
	uint8_t target;		/* register that has the jump's target behind
				   the load; REG_NONE: the load is the jump */
	uint32_t *entries;	/* the instruction that each leads to */
	uint32_t n;		/* entries behind these, if there are any,
				   lead elsewhere or are not looked at */
};

struct cfg {
	struct insn *insns;	/* ascending addr */
	size_t ninsns;
	struct block *blocks;	/* ascending addr */
	size_t nblocks;
	struct edge *edges;	/* grouped by `to`, see `in` */
	size_t nedges;
	uint32_t *in;		/* nblocks + 1: edges into block b are
				   edges[in[b]] .. edges[in[b + 1] - 1] */
	long entry;		/* the instruction at the function's entry, or
				   -1 if it could not be decoded; not insns[0]
				   if foo.cold lies below */
	bool unresolved;	/* control may move within the function, or
				   into it, along paths that are not known */
	bool elsewhere;		/* control may come along such paths from
				   elsewhere than the function's jumps that are
				   FLOW_PLAIN */
	bool gaps;		/* some bytes are neither proven nor padding */
	bool reentered;		/* the gaps may contain a jump to the
				   function's beginning */
	uint64_t *outs;		/* targets of its jump tables, and of calls by
				   registers that hold a constant, that are in
				   the middle of other functions */
	size_t nouts;
	struct table_use *uses;	/* of its tables, ascending jump, if several
				   jumps have tables */
	size_t nuses;
	uint64_t bad;		/* address that control reaches but that could
				   not be decoded, or 0 */
	uint64_t overlap;	/* address that control reaches and that is
				   inside another instruction, or 0 */
};

/*
 * Return the program's bytes at addr, with their number in *avail, or NULL if
 * there are none.  For data, *avail ends with the section, and pointers are
 * relocated.
 */
typedef const uint8_t *cfg_text(void *ctx, uint64_t addr, size_t *avail);

enum cfg_place {
	CFG_UNKNOWN,
	CFG_ENTRY,		/* another function's entry */
	CFG_MIDDLE,		/* another instruction of another function */
	CFG_NONE,		/* no instruction: data, or in the middle of an
				   instruction of another function */
};

/* What a graph is made from.  A field that is 0 is not known. */
struct cfg_input {
	const struct arch *arch;
	const uint64_t *lo, *hi;	/* [lo[i], hi[i]), in any order; the
					   first begins with the entry */
	size_t n;
	const uint64_t *leaders;	/* ascending: known beginnings of
					   blocks (line rows) */
	size_t nleaders;
	const uint64_t *pads;	/* ascending: landing pads */
	size_t npads;
	bool calls_end;		/* calls and system calls end blocks */
	const uint64_t *refs;	/* ascending: code addresses found in data;
				   used as leaders if an indirect jump cannot
				   be resolved */
	size_t nrefs;
	const uint64_t *frames;	/* ascending: those of refs that nothing but
				   OCaml's frame tables has */
	size_t nframes;
	bool ocaml;		/* it may have handlers: */
	const uint64_t *handlers;	/* ascending: handlers of exceptions,
					   entered from outside; cfg_make finds
					   them, the caller gives none */
	size_t nhandlers;
	bool relocated;		/* relocations show that refs are addresses;
				   else they only look so, and prove nothing */
	cfg_text *text;		/* code */
	cfg_text *data;		/* data that the program cannot write; NULL: no
				   indirect jump is resolved */
	/* Whether the call may come back.  NULL: all calls may. */
	bool (*returns)(void *ctx, const struct insn *call);
	/* Classify an address outside the ranges. */
	enum cfg_place (*place)(void *ctx, uint64_t addr);
	/* Whether an instruction of the function around `code` has addr as a
	   constant, of which it may be the table. */
	bool (*mentions)(void *ctx, uint64_t code, uint64_t addr);
	void *ctx;
};

/*
 * Decode the ranges and build the graph.  Decoding runs linearly from each
 * range's start, and begins anew where flow/proof.h says; where it fails, the
 * rest of the range is left out.  Leaders inside a proven instruction are
 * ignored.  Indirect jumps are resolved as flow/tables.h says.  The caller owns
 * the graph and frees it with cfg_free.  Never fails, but the graph may be
 * empty.
 */
struct cfg *cfg_make(const struct cfg_input *in);

void cfg_free(struct cfg *cfg);

/* Whether addr is in one of the function's ranges. */
bool cfg_inside(const struct cfg_input *in, uint64_t addr);

/* Index of the first instruction at addr or behind it, or ninsns. */
size_t cfg_insn_from(const struct cfg *cfg, uint64_t addr);

/*
 * Whether the instruction is a call or a system call that may come back.
 * Control may also leave the function for good there.
 */
bool insn_comes_back(const struct insn *insn);

/* Whether control may go on from the instruction to the next. */
bool insn_goes_on(const struct insn *insn);

/* Whether control may go on from instruction i to i + 1. */
bool cfg_falls(const struct cfg *cfg, size_t i);

/* Whether the graph's instruction is in a block that is PROOF_FLOW. */
bool cfg_proven(const struct cfg *cfg, size_t insn);

/* Index of the instruction that begins at addr, or -1. */
long cfg_insn(const struct cfg *cfg, uint64_t addr);

/* The same, found sooner if addr is near instruction i. */
long cfg_insn_near(const struct cfg *cfg, size_t i, uint64_t addr);

/* The block that begins at addr, or BLOCK_NONE. */
long cfg_block(const struct cfg *cfg, uint64_t addr);

/* The block that contains the instruction with this index. */
uint32_t cfg_block_of(const struct cfg *cfg, size_t insn);

/*
 * Whether control always goes to EXIT from the instruction.  Then a fault in it
 * is no abnormal exit: the edge to EXIT has counted it.
 */
static inline bool
insn_exits(const struct insn *insn)
{
	return insn->kind == INSN_STOP || insn->kind == INSN_RETURN ||
	       (insn->kind == INSN_JUMP_INDIRECT && insn->flow != FLOW_TABLE &&
		insn->flow != FLOW_TABLE_LEAVES);
}

#endif
