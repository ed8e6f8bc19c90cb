/*
 * What one instruction does to registers and memory, so that values can be
 * followed backwards through code.
 */
#ifndef ARCH_EFFECT_H
#define ARCH_EFFECT_H

#include "arch/insn.h"

enum { REG_NONE = 0xff };

enum place_kind { PLACE_NONE, PLACE_REG, PLACE_MEM };

/*
 * Where a value is: in a register (an index into struct regs), or in memory
 * at reg + index * scale + disp, where REG_NONE counts as 0.
 */
struct place {
	uint8_t kind;		/* enum place_kind */
	uint8_t width;		/* bytes */
	uint8_t reg, index, scale;
	uint8_t index_width;	/* low bytes of index that are used; 0: all */
	bool index_sign;	/* ... extended by their sign */
	int64_t disp;
};

enum effect_op {
	EFFECT_OTHER,		/* only what it changes is known */
	EFFECT_COPY,		/* dst = src, extended */
	EFFECT_SUM,		/* dst = the address that src describes */
	EFFECT_MASK,		/* dst = something & imm; or, if src is
				   a place, src extended by that */
	EFFECT_SHIFT,		/* dst = something >> imm, unsigned */
	EFFECT_MIX,		/* dst = dst rotated, or xor something */
	EFFECT_PUSH,		/* imm is pushed */
};

/* The result of a compare of left with right at which a branch is taken. */
enum effect_cond {
	COND_OTHER,
	COND_ABOVE,		/* left > right, unsigned */
	COND_ABOVE_EQUAL,
	COND_BELOW,
	COND_BELOW_EQUAL,
	COND_GREATER,		/* from here on signed */
	COND_GREATER_EQUAL,
	COND_LESS,
	COND_LESS_EQUAL,
	COND_EQUAL,
	COND_NOT_EQUAL,
};

/*
 * What one instruction does to registers and memory, as far as following
 * values backwards through code requires.
 */
struct effect {
	uint8_t op;		/* enum effect_op */
	uint8_t cond;		/* enum effect_cond, of a branch */
	bool sign;		/* EFFECT_COPY: extended by its sign */
	bool flags;		/* changes the flags */
	bool compares;		/* ... to those of left - right, with left's
				   value before the instruction */
	bool stores;		/* writes memory other than dst */
	int32_t sp;		/* what it adds to the stack pointer, which is
				   then in neither dst nor kills */
	struct place dst, src;	/* an indirect jump or call: src holds the
				   address it goes to, or with EFFECT_SUM
				   describes that address */
	uint64_t imm;
	struct place left;
	int64_t right;
	struct place operand;	/* replaces right, or EFFECT_MASK's imm, unless
				   it is PLACE_NONE */
	uint32_t kills;		/* registers changed, with dst's: 1 << index */
	uint32_t spoils;	/* others that a call need not preserve */
};

#endif
