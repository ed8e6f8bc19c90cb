/*
 * What effect.c and arithmetic.c share.  Private to these two.
 */
#ifndef ARCH_M68K_EFFECT_H
#define ARCH_M68K_EFFECT_H

#include "arch/m68k/m68k.h"

enum { OP = 2, LONG = 4 };	/* bytes of an operation word, of a long */

static const struct place nowhere = { .reg = REG_NONE, .index = REG_NONE };

static inline struct place
place_reg(unsigned reg, unsigned width)
{
	struct place place = nowhere;

	place.kind = PLACE_REG;
	place.width = (uint8_t)width;
	place.reg = (uint8_t)reg;
	return place;
}

/* The sum reg + index * scale + disp. */
static inline struct place
place_sum(unsigned reg, unsigned index, unsigned scale, int64_t disp)
{
	return (struct place){
		.kind = PLACE_MEM,
		.width = LONG,
		.reg = (uint8_t)reg,
		.index = (uint8_t)index,
		.scale = (uint8_t)scale,
		.disp = disp,
	};
}

static inline struct place
place_constant(int64_t value)
{
	return place_sum(REG_NONE, REG_NONE, 0, (uint32_t)value);
}

static inline unsigned
upper_reg(uint16_t op)
{
	return op >> 9 & 7;
}

static inline uint32_t
bit(unsigned reg)
{
	return UINT32_C(1) << reg;
}

/* Bytes of the usual size field: 0 byte, 1 word, 2 long. */
static inline unsigned
width_of(unsigned bits)
{
	return 1u << (bits & 3);
}

static inline bool
is_immediate(uint16_t op)
{
	return m68k_mode(op) == EA_IMM;
}

static inline int64_t
immediate(const struct m68k_code *code, unsigned width)
{
	return m68k_signed(code, OP, width);
}

/* The place of an operand that is read, or PLACE_NONE. */
static inline struct place
ea_read(const struct m68k_code *code, uint16_t op, size_t offset,
	unsigned width)
{
	return m68k_ea_place(code, op, offset, (uint8_t)width);
}

/* Enter the change of an address register by (An)+ or -(An). */
void m68k_ea_moves(struct effect *e, uint16_t op, unsigned width);

/*
 * Enter an operand that is written.  A push is left out, since it writes below
 * every place that is followed; -(An) and (An)+ otherwise count as unknown
 * stores.
 */
void m68k_ea_written(struct effect *e, const struct m68k_code *code,
		     uint16_t op, size_t offset, unsigned width);

/* Enter reg = src; if reg is the stack pointer, in e->sp or e->kills. */
void m68k_sum_set(struct effect *e, unsigned reg, struct place src);

/* Enter everything that an instruction which is not known may change. */
void m68k_effect_other(struct effect *e, const struct m68k_code *code,
		       uint16_t op);

/* Arithmetic, by the first digit of the operation word: arithmetic.c. */
void m68k_effect_0(struct effect *e, const struct m68k_code *code, uint16_t op);
void m68k_effect_5(struct effect *e, const struct m68k_code *code, uint16_t op);
void m68k_effect_add(struct effect *e, const struct m68k_code *code,
		     uint16_t op);
void m68k_effect_b(struct effect *e, const struct m68k_code *code, uint16_t op);
void m68k_effect_unary(struct effect *e, const struct m68k_code *code,
		       uint16_t op);
void m68k_effect_multiply(struct effect *e, const struct m68k_code *code,
			  uint16_t op);
void m68k_effect_logic(struct effect *e, const struct m68k_code *code,
		       uint16_t op);
void m68k_effect_field(struct effect *e, const struct m68k_code *code,
		       uint16_t op);
void m68k_effect_float(struct effect *e, const struct m68k_code *code,
		       uint16_t op);

#endif
