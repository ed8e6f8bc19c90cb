/*
 * Relocated functions: a function's code, elsewhere and with probes in it,
 * runs in place of the original once the original is patched wherever control
 * enters the function.  (P. B. Kessler, "Fast Breakpoints: Design and
 * Implementation", PLDI 1990, jumps to such code once per probe; here there
 * is one jump per way into the function.)  The code here is pure: it makes the
 * bytes of relocated functions and of patches, and never touches a process.
 * Calls and system calls are not relocated: the relocated function jumps to the
 * call in the original, and the callee returns to the original, so return
 * addresses stay what they were.  From there control runs on in the original
 * until it reaches code that has probes, where a patch leads back into the
 * relocated function.  So some code runs in both places.
 */
#ifndef RELOCATE_RELOCATE_H
#define RELOCATE_RELOCATE_H

#include "flow/weights.h"
#include "relocate/entry_patch.h"
#include "relocate/probe.h"
#include "util/fail.h"

enum relocate_extent {
	EXTENT_WHOLE,		/* all reachable code; leaders that nothing is
				   known to lead to get guards */
	EXTENT_PROBED,		/* only the blocks that have probes; for few
				   counts of which nothing is derived */
};

/* Bytes [lo, hi) that belong to no function. */
struct spare {
	uint64_t lo, hi;
};

/*
 * The padding at the start of [lo, hi): instructions that do nothing, or trap,
 * and fill the room up to the next function.
 */
struct spare spare_padding(const struct arch *arch, cfg_text *text, void *ctx,
			   uint64_t lo, uint64_t hi);

struct relocate_input {
	const struct arch *arch;
	const struct cfg *cfg;
	const struct flow *flow;	/* of cfg */
	const struct weights *weights;	/* NULL: assume that backward branches
					   are taken and others are not */
	/* At most one per element and operation; edges of branches at their
	   ways, not at the branch (placement_input.traps is false).  Those of
	   an indirect jump's edges have slots in the order of the edges. */
	const struct probe *probes;
	uint32_t nprobes;
	uint32_t slot;		/* the first of further slots that may be used */
	bool shared;		/* threads share the slots: operations are
				   locked.  Else each thread has its own, found
				   by a segment register that the program does
				   not use */
	enum relocate_extent extent;
	bool unknown;		/* jumps with unknown targets may lead to any
				   byte of the function: all bytes of patches
				   but the first trap.  With EXTENT_PROBED
				   nothing but the entry is patched */
	bool absolute;		/* the code is not position-independent:
				   addresses in it are those in the process */
	cfg_text *text;		/* reads the code as it is in the file */
	void *ctx;
	/* Padding outside the function that patches may use, ascending. */
	const struct spare *spares;
	size_t nspares;
};

/*
 * How an indirect jump's edge is counted by the index with which the
 * instruction at `load` reads the jump's table.
 */
struct edge_index {
	uint64_t load;
	uint64_t table;		/* address of the first entry, 8 bytes each */
	uint8_t index;		/* register with the entry's number there */
	uint8_t target;		/* register with the jump's target behind it, or
				   REG_NONE: the jump is at `load` */
	uint32_t entries;	/* that have a probe each: */
	uint32_t probe;		/* ... probes[probe..] */
};

struct relocated {
	const struct arch *arch;
	cfg_text *text;
	void *ctx;
	struct fragment *fragments;	/* ascending offset */
	uint32_t nfragments;
	uint32_t *by_addr;	/* fragments that are relocated instructions:
				   indices, ascending addr */
	uint32_t nby_addr;
	uint32_t size, align;	/* bytes of the relocated function, wherever it
				   is placed */
	struct entry_patch *entry_patches;	/* ascending addr */
	uint32_t nentry_patches;
	struct probe *probes;	/* those of the input, and behind them their
				   copies in unrolled loops and for entries of
				   jump tables, with slots of their own: */
	uint32_t nprobes;
	uint32_t *extras;	/* per copy, the index of its original */
	uint32_t nextras;
	uint32_t unguarded;	/* leaders that cannot have a guard because a
				   call is there */
	uint32_t in_place;	/* calls that return to code which runs in
				   place */
	struct spare *stays;	/* relocated code that also runs in place;
				   ascending */
	size_t nstays;
	uint64_t entry;		/* of the function, in the original */
	struct direct_call *calls;	/* that may be redirected */
	uint32_t ncalls;
	struct dispatch_map *maps;	/* behind the fragments */
	uint32_t nmaps;
	struct edge_index *indexes;
	uint32_t nindexes;
};

/*
 * Make the relocated function of a function.  The caller owns the result; arch,
 * text and ctx must outlive it.  NULL with the message if the function cannot
 * be relocated: the arch has no relocation, an instruction works only in its
 * place, control would pass an element but not its probe, an indirect jump's
 * edges have probes and cannot be told apart, or, with `unknown`, more than the
 * entry would have to be patched.
 */
struct relocated *relocated_make(const struct relocate_input *in);
void relocated_free(struct relocated *relocated);

/* Where a relocated function and its original are in a process. */
struct relocated_place {
	uint64_t va;		/* of the relocated function: a multiple of its
				   align */
	uint64_t bias;		/* of the original: va = addr + bias */
	uint64_t slots;		/* where slot number 0 is: its offset in the
				   thread counter page, or its va */
	struct page_offsets page;	/* in the thread counter page */
	int64_t spring;		/* from behind the entry patch to its
				   springboard; 0: there is no memory there */
};

/*
 * Write the relocated function's bytes for that place: relocated->size of them.
 * Returns 0, or -1 with the message if two things are too far apart.
 */
int relocated_write(const struct relocated *relocated,
		    const struct relocated_place *place,
		    uint8_t *bytes) MUST_CHECK;

/*
 * Add up, for each of the input's first nsums probes in their order, the slot
 * of the probe and those of its copies, into sums[].  There are n slots from
 * number 0 on; slots behind these count as 0.
 */
void relocated_sum(const struct relocated *relocated, const uint64_t *slots,
		   size_t n, uint64_t *sums, size_t nsums);

/*
 * Find, per arc, whether flags are in use where the arc's counter would be: a
 * locked counter would change them.  Needs arch, cfg, flow, text and ctx.  The
 * caller owns the array; NULL if the code cannot be read.
 */
bool *relocated_spoilt(const struct relocate_input *in);

/* The input's probe that adds where control passes the element, or NULL. */
const struct probe *relocated_probe(const struct relocated *relocated,
				    uint32_t element);

/* The entry patch at the function's entry, or NULL. */
const struct entry_patch *relocated_entry(const struct relocated *relocated);

/*
 * The entry patch that a call of this address comes to: the one at the entry, or
 * in the middle; NULL if there is none but a guard.
 */
const struct entry_patch *relocated_called(const struct relocated *relocated,
					   uint64_t addr);

/* The entry patch at an original address, or NULL. */
const struct entry_patch *
relocated_entry_patch(const struct relocated *relocated, uint64_t addr);

/*
 * The expected cost of a counter in a relocated function, in tenths of a
 * nanosecond: a placement_cost.  COST_AGAIN is for a counter that is
 * incremented on every round of a loop, so that each increment waits for the
 * last one's store.  ctx is NULL or the result of relocated_spoilt: COST_SPOILT
 * is for counters that would change flags in use.
 */
enum { COST_COUNT = 3, COST_JUMP = 3, COST_AGAIN = 24, COST_SPOILT = 1 << 30 };

double relocated_cost(void *ctx, const struct flow *flow,
		      const struct weights *weights, uint32_t arc);

#endif
