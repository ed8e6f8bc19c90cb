/*
 * A relocated function with counters in it: what is executed in place of the
 * original once that is patched where control enters it (P. B. Kessler, "Fast
 * Breakpoints: Design and Implementation", PLDI 1990, has a jump to such code
 * for each counter; here it is one for each way into the function).  Pure: the
 * bytes of the relocated function and of the patches are made here, and put
 * into the process by others.
 * Calls and system calls are not copied: the relocated function goes to the
 * original one, which returns to the original.  So return addresses are what
 * they always were.  Control runs on there until it comes to what is counted,
 * where the original is patched to lead back into the relocated function; some
 * code is run in both.
 */
#ifndef RELOCATE_RELOCATE_H
#define RELOCATE_RELOCATE_H

#include "flow/placement.h"

/* How counters are added to. */
enum counting {
	COUNTING_THREAD,	/* each thread has its own, found by a segment
				   register that the program does not use */
	COUNTING_LOCKED,	/* all have the same */
};

enum relocate_extent {
	EXTENT_WHOLE,		/* all code that can be reached; what is not
				   known to be entered is guarded */
	EXTENT_COUNTED,		/* the blocks that have a counter; for few
				   counters of which nothing is derived */
};

/* Code of nobody's: [lo, hi). */
struct spare {
	uint64_t lo, hi;
};

/*
 * What of [lo, hi) is padding, from lo on: instructions that do nothing, or
 * trap, and are there to fill the room up to the next function.
 */
struct spare spare_padding(const struct arch *arch, cfg_text *text,
			   void *ctx, uint64_t lo, uint64_t hi);

struct relocate_input {
	const struct arch *arch;
	const struct cfg *cfg;
	const struct flow *flow;	/* of cfg */
	const struct placement *placement;	/* with wish.traps false */
	const struct weights *weights;	/* NULL: backward branches are taken
					   and others are not */
	uint32_t counter;	/* number of the relocated function's first
				   counter */
	enum counting counting;
	enum relocate_extent extent;
	bool absolute;		/* addresses in the code are those of the
				   process: it is not position-independent */
	cfg_text *text;		/* the code as it is in the file */
	void *ctx;
	/* Padding outside the function that patches may use: ascending. */
	const struct spare *spares;
	size_t nspares;
};

/* Why the original is patched at an entry patch. */
enum entry_patch_kind {
	ENTRY_PATCH_ENTRY, /* the function's entry */
	ENTRY_PATCH_RETURN, /* a call or system call comes back to
					   it */
	ENTRY_PATCH_PAD, /* entered from outside: landing pads,
					   leaders that nothing else leads to,
					   any block if an indirect jump is not
					   resolved */
	ENTRY_PATCH_TABLE, /* an indirect jump leads to it */
	ENTRY_PATCH_INSIDE, /* code that runs in place leads to it */
	ENTRY_PATCH_GUARD, /* nothing known does: a trap */
	ENTRY_PATCH_KINDS
};

/* How control is led into the relocated function. */
enum entry_patch_via {
	VIA_JUMP,		/* a jump at the entry patch */
	VIA_CHAIN,		/* a short jump to one elsewhere */
	VIA_TRAP,		/* a trap: whoever handles it sets the pc */
	ENTRY_PATCH_VIAS
};

/*
 * Its bytes are at addr, and those of the jump that a short-jump chain leads to
 * at landing slot. None of the original's instructions that the program still
 * runs has any of them.
 */
struct entry_patch {
	uint64_t addr;		/* address in the original */
	uint64_t landing;		/* VIA_CHAIN */
	uint32_t offset;	/* where it leads, in the relocated function */
	uint32_t room;		/* bytes from addr on that may be changed */
	uint8_t kind;		/* enum entry_patch_kind */
	uint8_t via;		/* enum entry_patch_via */
};

/* A call that is run in the original, of what begins at target. */
struct direct_call {
	uint64_t addr, target;
};

struct relocated {
	const struct arch *arch;
	cfg_text *text;
	void *ctx;
	struct fragment *fragments;	/* ascending offset */
	uint32_t nfragments;
	uint32_t *by_addr;	/* fragments that are copied instructions,
				   ascending addr */
	uint32_t nby_addr;
	uint32_t size, align;	/* bytes of the relocated function, wherever it
				   is put */
	struct entry_patch *entry_patches;	/* ascending addr */
	uint32_t nentry_patches;
	uint32_t narcs;		/* counters of the placement */
	uint32_t *extras;	/* counters behind those: each counts for
				   the placement's one of this index, too */
	uint32_t nextras;
	uint32_t unguarded;	/* leaders without room for a guard: a call is
				   there */
	uint32_t in_place;	/* calls that return to code run in place */
	struct spare *stays;	/* copied code that is also run in
					   place; ascending */
	size_t nstays;
	uint64_t entry;		/* the function's, in the original */
	struct direct_call *calls;	/* that can be led elsewhere */
	uint32_t ncalls;
};

/*
 * Make the relocated function of a function, owned by the caller; arch, text
 * and ctx must outlive it.  NULL if that cannot be done, with the reason as the
 * message: something in it is tied to its place, or would be counted wrong.
 */
struct relocated *relocated_make(const struct relocate_input *in);
void relocated_free(struct relocated *relocated);

/* Where a relocated function and its original are in a process. */
struct relocated_place {
	uint64_t va;		/* of the relocated function: a multiple of
				   relocated->align */
	uint64_t bias;		/* of the original: va = addr + bias */
	uint64_t counters;	/* counter number 0, which has 8 bytes, as all
				   have: its offset in the thread's page, or
				   its va */
	uint64_t scratch;	/* 8 bytes: offset in the thread's page */
};

/*
 * Write the relocated function's bytes, relocated->size of them, as they are
 * for that place.  0, or -1 with the message if something is too far from
 * something else.
 */
int relocated_write(const struct relocated *relocated,
		    const struct relocated_place *place, uint8_t *bytes);

/*
 * From the relocated function's counters, narcs + nextras of them, in the order
 * of their numbers, to those of the placement's arcs, narcs of them.
 */
void relocated_sum(const struct relocated *relocated, const uint64_t *slots,
		   uint64_t *counters);

/* Bytes to put at a va.  They are all of len. */
struct code_patch {
	uint64_t va;
	uint8_t bytes[INSN_MAX];
	uint8_t len;
};

/*
 * The patches of an entry patch, of which there are one or two; the second, if
 * any, is to be there first.  Returns how many, or -1 with the message.
 */
int entry_patch_bytes(const struct relocated *relocated,
		      const struct entry_patch *entry_patch,
		      const struct relocated_place *place,
		      struct code_patch patches[2]);

/* The entry patch where the function begins, or NULL. */
const struct entry_patch *relocated_entry(const struct relocated *relocated);

/*
 * The patch of a call, of whatever copy, that leads it to this relocated
 * function at once, past the jump at its entry.  0; -1 if that is not what it
 * calls, or too far.
 */
int relocated_redirect(const struct relocated *relocated,
		       const struct relocated_place *place,
		       const struct direct_call *call,
		       struct code_patch *patch);

/* What a pc in the relocated function stands for. */
struct pc_map_entry {
	uint64_t addr;		/* the original pc */
	uint32_t arc;		/* of the flow, that is about to be counted on
				   the way to addr, or ARC_NONE; or see next */
	bool added;		/* ... or has just been: its block's first
				   instruction, or an edge's branch (at addr),
				   has not run yet */
	bool arrived;		/* control has come to addr: if that begins a
				   block it is counted */
	bool saved;		/* arch->reg_saved is in the scratch slot */
	bool begins;		/* it is where the instruction at addr begins,
				   in whatever round of an unrolled loop */
	bool between;		/* there is no original pc, but there will be
				   after an instruction or two */
};

/* 0, or -1 if no instruction of the relocated function begins at the offset. */
int pc_map_entry(const struct relocated *relocated, uint32_t offset,
		 struct pc_map_entry *entry);

/*
 * Where in the relocated function the original's instruction at addr is, behind
 * what counts its block; or -1 if it only runs in place.
 */
int64_t relocated_offset(const struct relocated *relocated, uint64_t addr);

/* Is the original's instruction at addr run, though it may be copied, too? */
bool relocated_stays(const struct relocated *relocated, uint64_t addr);

/* The point at an original address, or NULL. */
const struct entry_patch *
relocated_entry_patch(const struct relocated *relocated, uint64_t addr);

/*
 * What a counter is expected to cost in a relocated function, in tenths of a
 * nanosecond, for the choice of where to put them: a placement_cost.  One that
 * is added to again and again has to wait for itself.
 */
enum { COST_COUNT = 3, COST_JUMP = 3, COST_AGAIN = 24 };

double relocated_cost(void *ctx, const struct flow *flow,
		      const struct weights *weights, uint32_t arc);

#endif
