/*
 * Relocated code: what moving an instruction takes, and the fragments that a
 * relocated function is made of.
 */
#ifndef ARCH_FRAGMENT_H
#define ARCH_FRAGMENT_H

#include "arch/insn.h"

/*
 * What must be known of an instruction to move it into a relocated function.
 * Flags are bits of the arch's flags register.
 */
struct motion {
	bool idle;		/* has no effect but to go on */
	bool lands;		/* is idle, and marks a place where indirect
				   jumps may arrive */
	bool stack;		/* a call whose operand may be relative to the
				   stack pointer */
	uint8_t disp;		/* offset in its code of a 32-bit displacement
				   relative to the pc; 0: none */
	uint8_t cond;		/* of a branch, as the arch numbers them */
	uint32_t reads;		/* flags it may use */
	uint32_t writes;	/* flags it sets in any case */
	uint64_t refers;	/* an address among its operands that it does
				   not jump to, or 0 */
};

/*
 * A relocated function is a sequence of fragments.  A fragment that jumps goes
 * to another fragment or to an address of the original.
 */
enum fragment_kind {
	FRAGMENT_NOTHING,	/* stands for an instruction left out */
	FRAGMENT_INSN,		/* the instruction at addr */
	FRAGMENT_COUNT,		/* add one to the thread's counter; changes
				   arch->count_flags */
	FRAGMENT_COUNT_KEEP,	/* the same, and preserves the flags */
	FRAGMENT_COUNT_LOCKED,	/* add one to a counter shared by all threads;
				   changes arch->count_flags */
	FRAGMENT_GO,		/* jump */
	FRAGMENT_BRANCH,	/* jump if the branch at addr is taken */
	FRAGMENT_BRANCH_NOT,	/* jump if it is not */
	FRAGMENT_CALL,		/* the call at addr, with its original return
				   address */
	FRAGMENT_ALIGN,		/* padding */
};

static const uint32_t FRAGMENT_OUT = UINT32_MAX;

struct fragment {
	uint64_t addr;		/* the original pc that it stands for */
	uint64_t target;	/* the original address it jumps to */
	uint32_t to;		/* index of a fragment, or FRAGMENT_OUT: to the
				   original */
	uint32_t counter;	/* number of the counter it adds to */
	uint32_t arc;		/* that is counted: see relocate/relocate.h */
	uint32_t offset;	/* in the relocated function */
	uint8_t kind;		/* enum fragment_kind */
	uint8_t size;		/* in the relocated function */
	uint8_t len;		/* of the instruction at addr */
	uint8_t disp, cond;	/* as in struct motion */
	bool arrived;		/* control is at addr, and its arrival there is
				   counted */
	bool direct;		/* FRAGMENT_CALL: to target */
	bool wide;		/* has the long form, which reaches farther */
};

/* The addresses that a fragment is written for. */
struct fragment_at {
	uint64_t va;
	uint64_t original;	/* va of the instruction at addr */
	uint64_t to;		/* va that it jumps to */
	uint64_t counter;	/* offset in the thread counter page; va if all
				   threads share the counter */
	uint64_t scratch;	/* offset of the scratch slot in that page */
	const uint8_t *code;	/* of the instruction at addr */
};

/* What a pc within a fragment means. */
enum fragment_inside {
	INSIDE_START,		/* at its start: nothing is done yet */
	INSIDE_SAVED,		/* a register is in the scratch slot, and the
				   counter is not changed yet */
	INSIDE_ADDED,		/* the same, but the counter is changed */
	INSIDE_BETWEEN,		/* no original pc corresponds to this one, but
				   one will after an instruction or two */
	INSIDE_NOT,		/* no instruction begins there */
};

enum { FRAGMENT_MAX = 64 };

#endif
