/*
 * Entry patches: the places of an original that lead into its relocated
 * function.
 */
#ifndef RELOCATE_ENTRY_PATCH_H
#define RELOCATE_ENTRY_PATCH_H

#include <stdint.h>

/* Why the original has an entry patch at an address. */
enum entry_patch_kind {
	ENTRY_PATCH_ENTRY,	/* the function's entry */
	ENTRY_PATCH_RETURN,	/* a call or system call returns there */
	ENTRY_PATCH_PAD,	/* entered from outside: a landing pad, a leader
				   that nothing else leads to, or any block if
				   an indirect jump is unresolved */
	ENTRY_PATCH_TABLE,	/* an indirect jump leads there */
	ENTRY_PATCH_INSIDE,	/* code that runs in place leads there */
	ENTRY_PATCH_GUARD,	/* nothing known leads there: a trap */
	ENTRY_PATCH_KINDS
};

/* How an entry patch leads into the relocated function. */
enum entry_patch_via {
	VIA_JUMP,		/* by a jump */
	VIA_CHAIN,		/* by a short jump to a long one in a landing
				   slot */
	VIA_TRAP,		/* by a trap, whose handler sets the pc */
	VIA_SPRING,		/* by a jump to a springboard, a jump far away
				   from which the other leads on: see
				   arch->emit.springs.  A trap where there is no
				   memory for springboards */
	ENTRY_PATCH_VIAS
};

/*
 * The patch's bytes are at addr; those of a short-jump chain's long jump are at
 * landing.  The program runs none of the original instructions that these bytes
 * overwrite.
 */
struct entry_patch {
	uint64_t addr;		/* address in the original */
	uint64_t landing;	/* VIA_CHAIN: the landing slot */
	uint32_t offset;	/* in the relocated function: where the patch
				   leads */
	uint32_t room;		/* bytes from addr on that may be changed */
	uint8_t kind;		/* enum entry_patch_kind */
	uint8_t via;		/* enum entry_patch_via */
};

/* A call that runs in the original, and the function that it calls. */
struct direct_call {
	uint64_t addr, target;
};

#endif
