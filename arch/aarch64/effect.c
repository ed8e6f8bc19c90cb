/*
 * Describes what an aarch64 instruction does to registers and memory, for
 * following values backwards through code.  Never says too little: a kind of
 * instruction that is not known changes everything that it might.  Arm
 * Architecture Reference Manual, C4.1.
 */
#include "arch/aarch64/aarch64.h"

enum { ZR = 31 };		/* register number; in sums it means sp */

/* Procedure Call Standard for the Arm 64-bit Architecture, 6.1.1, 6.9. */
enum {
	CALL_KILLS = 0x3,		/* x0, x1 */
	CALL_SPOILS = 0x4003fffc,	/* x2 to x17, lr */
};

static const struct place nowhere = { .reg = REG_NONE, .index = REG_NONE };

static struct place
place_reg(unsigned reg, unsigned width)
{
	struct place place = nowhere;

	if (reg == ZR)
		return place;
	place.kind = PLACE_REG;
	place.width = (uint8_t)width;
	place.reg = (uint8_t)reg;
	return place;
}

static struct place
place_sum(unsigned reg, int64_t disp)
{
	struct place place = nowhere;

	place.kind = PLACE_MEM;
	place.width = 8;
	place.reg = (uint8_t)reg;
	place.disp = disp;
	return place;
}

static void
dst_set(struct effect *e, unsigned reg, unsigned width)
{
	e->dst = place_reg(reg, width);
	if (reg != ZR)
		e->kills |= UINT32_C(1) << reg;
}

static unsigned
width_of(uint32_t word)
{
	return word >> 31 ? 8 : 4;
}

/* add, sub with an immediate; 31 is zr if they set flags, else sp. */
static void
effect_add(struct effect *e, uint32_t word)
{
	unsigned rd = a64_field(word, 0, 5), rn = a64_field(word, 5, 5);
	int64_t imm = (int64_t)a64_field(word, 10, 12)
		      << 12 * a64_field(word, 22, 1);
	bool sub = a64_field(word, 30, 1), flags = a64_field(word, 29, 1);

	if (flags) {
		e->flags = true;
		e->compares = sub;
		e->left = rn == A64_SP ? nowhere :
					 place_reg(rn, width_of(word));
		e->right = imm;
	}
	if (sub)
		imm = -imm;
	if (rd == ZR && !flags) {
		if (rn == A64_SP)
			e->sp = (int32_t)imm;
		else
			e->kills |= UINT32_C(1) << A64_SP;
		return;
	}
	dst_set(e, rd, width_of(word));
	/* mov x29, sp is one of these. */
	if (rn == A64_SP && !imm) {
		e->op = EFFECT_COPY;
		e->src = place_reg(0, 8);
		e->src.reg = A64_SP;
		return;
	}
	e->op = EFFECT_SUM;
	e->src = place_sum(rn, imm);
}

/* add, sub, cmp with a register, which may be shifted or extended. */
static void
effect_add_register(struct effect *e, uint32_t word)
{
	unsigned rd = a64_field(word, 0, 5), rn = a64_field(word, 5, 5);
	unsigned rm = a64_field(word, 16, 5), width = width_of(word);
	bool extended = a64_field(word, 21, 1);
	bool sub = a64_field(word, 30, 1), flags = a64_field(word, 29, 1);
	unsigned option = a64_field(word, 13, 3), shift;

	if (flags) {
		e->flags = true;
		e->compares = sub && !(word & 0x00e0fc00);
		e->left = place_reg(rn, width);
		e->operand = place_reg(rm, width);
		e->compares &= e->operand.kind == PLACE_REG;
	}
	if (extended && rd == ZR && !flags) {
		e->kills |= UINT32_C(1) << A64_SP;
		return;
	}
	dst_set(e, rd, width);
	shift = a64_field(word, 10, extended ? 3 : 6);
	if (sub || rm == ZR || shift > 4 ||
	    (!extended && (a64_field(word, 22, 2) || rn == ZR)) || width != 8)
		return;
	e->op = EFFECT_SUM;
	e->src = place_sum(rn, 0);
	e->src.index = (uint8_t)rm;
	e->src.scale = (uint8_t)(1 << shift);
	if (extended && (option & 3) != 3) {
		e->src.index_width = (uint8_t)(1 << (option & 3));
		e->src.index_sign = option >> 2;
	}
}

/* Logical with an immediate; knows masks from bit 0 on (DecodeBitMasks). */
static void
effect_logical(struct effect *e, uint32_t word)
{
	unsigned opc = a64_field(word, 29, 2), rd = a64_field(word, 0, 5);
	unsigned ones = a64_field(word, 10, 6) + 1;
	bool plain = !a64_field(word, 16, 6) &&
		     (a64_field(word, 22, 1) || ones < 32);

	e->flags = opc == 3;
	if (rd == ZR && opc != 3) {
		e->kills |= UINT32_C(1) << A64_SP;
		return;
	}
	dst_set(e, rd, width_of(word));
	/* Elements smaller than the register repeat: no plain mask. */
	if (opc != 0 || !plain ||
	    (width_of(word) == 8 && !a64_field(word, 22, 1)))
		return;
	e->op = EFFECT_MASK;
	e->imm = ones >= 64 ? UINT64_MAX : (UINT64_C(1) << ones) - 1;
}

/* sbfm and ubfm, where they are extensions or shifts; bfm. */
static void
effect_bits(struct effect *e, uint32_t word)
{
	unsigned opc = a64_field(word, 29, 2), width = width_of(word);
	unsigned immr = a64_field(word, 16, 6), imms = a64_field(word, 10, 6);
	unsigned rn = a64_field(word, 5, 5);

	dst_set(e, a64_field(word, 0, 5), width);
	if (opc == 1 || rn == ZR)
		return;
	if (!immr && (imms == 7 || imms == 15 || imms == 31)) {
		e->op = EFFECT_COPY;
		e->src = place_reg(rn, (imms + 1) / 8);
		e->sign = opc == 0;
	} else if (opc == 2 && imms == 8 * width - 1) {
		e->op = EFFECT_SHIFT;
		e->imm = immr;
	} else if (opc == 2 && !immr) {
		e->op = EFFECT_MASK;
		e->imm = (UINT64_C(2) << imms) - 1;
	} else if (opc == 2 && imms + 1 == immr && 8 * width - immr <= 4 &&
		   width == 8) {
		e->op = EFFECT_SUM;
		e->src = place_sum(REG_NONE, 0);
		e->src.index = (uint8_t)rn;
		e->src.scale = (uint8_t)(1 << (64 - immr));
	}
}

/* Data processing with immediate operands, C4.1.92. */
static void
effect_immediate(struct effect *e, uint32_t word, uint64_t addr)
{
	unsigned rd = a64_field(word, 0, 5);

	switch (a64_field(word, 23, 3)) {
	case 0:
	case 1:			/* adr, adrp */
		dst_set(e, rd, 8);
		e->op = EFFECT_SUM;
		e->src = place_sum(REG_NONE, (int64_t)a64_adr(word, addr));
		return;
	case 2:
		effect_add(e, word);
		return;
	case 4:
		effect_logical(e, word);
		return;
	case 5:			/* movn, movz, movk */
		dst_set(e, rd, width_of(word));
		if (a64_field(word, 29, 2) != 2)
			return;
		e->op = EFFECT_SUM;
		e->src = place_sum(REG_NONE,
				   (int64_t)((uint64_t)a64_field(word, 5, 16)
					     << 16 * a64_field(word, 21, 2)));
		return;
	case 6:
		effect_bits(e, word);
		return;
	default:
		dst_set(e, rd, width_of(word));
		e->kills |= UINT32_C(1) << A64_SP;	/* addg, subg */
		return;
	}
}

/* Data processing with registers, C4.1.95. */
static void
effect_registers(struct effect *e, uint32_t word)
{
	unsigned rm = a64_field(word, 16, 5);

	if ((word & 0x1f000000) == 0x0b000000) {
		effect_add_register(e, word);
		return;
	}
	e->flags = true;	/* of ands, adcs, ccmp */
	dst_set(e, a64_field(word, 0, 5), width_of(word));
	if ((word & 0x7fe0ffe0) == 0x2a0003e0 && rm != ZR) {	/* mov */
		e->flags = false;
		e->op = EFFECT_COPY;
		e->src = place_reg(rm, width_of(word));
	} else if ((word & 0x1f000000) == 0x0a000000) {
		e->flags = a64_field(word, 29, 2) == 3;
		if (a64_field(word, 29, 2) == 2)
			e->op = EFFECT_MIX;
	} else if ((word & 0x1fe00000) == 0x1a800000 ||
		   (word & 0x1f000000) == 0x1b000000 ||
		   (word & 0x5fe00000) == 0x1ac00000) {
		e->flags = false;	/* csel, madd, lslv and the like */
	}
}

/* The place that a load or store accesses; it adds *moves to its base. */
static struct place
place_access(uint32_t word, unsigned size, int64_t *moves)
{
	unsigned rn = a64_field(word, 5, 5);
	unsigned option = a64_field(word, 13, 3);
	struct place place = place_sum(rn, 0);

	*moves = 0;
	if (a64_field(word, 24, 1)) {
		place.disp = (int64_t)a64_field(word, 10, 12) * size;
	} else if (!a64_field(word, 21, 1)) {
		place.disp = a64_signed(word, 12, 9);
		if (a64_field(word, 10, 1))
			*moves = place.disp;
		if (a64_field(word, 10, 2) == 1)
			place.disp = 0;
	} else if (a64_field(word, 10, 2) == 2) {
		place.index = a64_field(word, 16, 5);
		place.scale = a64_field(word, 12, 1) ? (uint8_t)size : 1;
		if (option == 2 || option == 6) {
			place.index_width = 4;
			place.index_sign = option == 6;
		}
		if (place.index == ZR)
			place.index = REG_NONE;
	} else {
		place = nowhere;	/* atomic, authenticated */
	}
	place.width = (uint8_t)size;
	return place;
}

static void
base_moves(struct effect *e, unsigned rn, int64_t moves)
{
	if (rn == A64_SP)
		e->sp = (int32_t)moves;
	else if (moves)
		e->kills |= UINT32_C(1) << rn;
}

/* Set dst to the place stored to, unless its base moves and is not sp. */
static void
store_to(struct effect *e, struct place place, int64_t moves)
{
	if (place.kind == PLACE_NONE || (moves && place.reg != A64_SP)) {
		e->stores = true;
		return;
	}
	e->dst = place;
	/* dst is relative to sp as it is behind the instruction. */
	e->dst.disp -= moves;
}

/* A load or store of one register: C4.1.94, "Load/store register". */
static void
effect_access(struct effect *e, uint32_t word)
{
	unsigned size = 1u << a64_field(word, 30, 2), rt, opc;
	int64_t moves;
	struct place place = place_access(word, size, &moves);

	rt = a64_field(word, 0, 5);
	opc = a64_field(word, 22, 2);
	base_moves(e, a64_field(word, 5, 5), moves);
	if (place.kind == PLACE_NONE) {
		dst_set(e, rt, 8);
		e->dst = nowhere;
		e->stores = true;
		return;
	}
	if (a64_field(word, 26, 1)) {		/* vector registers */
		e->stores = true;
		return;
	}
	if (opc == 0) {
		store_to(e, place, moves);
		e->src = place_reg(rt, size);
		e->op = e->src.kind ? EFFECT_COPY : EFFECT_OTHER;
		return;
	}
	if (size == 8 && opc == 2)
		return;				/* prefetch */
	dst_set(e, rt, opc == 2 || size == 8 ? 8 : 4);
	e->op = EFFECT_COPY;
	e->src = place;
	e->sign = opc >= 2;
}

/* Other loads and stores: pairs, exclusive, literal, vectors. */
static void
effect_memory(struct effect *e, uint32_t word, uint64_t addr)
{
	unsigned rn = a64_field(word, 5, 5), rt2 = a64_field(word, 10, 5);
	bool vector = a64_field(word, 26, 1);
	bool pair = (word & 0x3a000000) == 0x28000000;
	unsigned size = word >> 31 ? 8 : 4;

	if ((word & 0x3a000000) == 0x38000000) {
		effect_access(e, word);
		return;
	}
	if (pair && vector)
		size = 4u << a64_field(word, 30, 2);
	if (pair && a64_field(word, 23, 1))	/* pre- and post-indexed */
		base_moves(e, rn, a64_signed(word, 15, 7) * (int64_t)size);
	if (!pair || !a64_field(word, 22, 1))
		e->stores = true;
	if (vector && !pair && rn != A64_SP)
		e->kills |= UINT32_C(1) << rn;
	else if (vector && !pair)
		e->kills |= UINT32_C(1) << A64_SP;
	if (vector || (pair && !a64_field(word, 22, 1)))
		return;
	dst_set(e, a64_field(word, 0, 5), 8);
	dst_set(e, rt2, 8);
	if (!pair)				/* exclusive: the status */
		dst_set(e, a64_field(word, 16, 5), 8);
	e->dst = nowhere;
}

static enum effect_cond
branch_cond(uint32_t word)
{
	static const uint8_t conds[] = {
		[0] = COND_EQUAL,	   [1] = COND_NOT_EQUAL,
		[2] = COND_ABOVE_EQUAL,	   [3] = COND_BELOW,
		[8] = COND_ABOVE,	   [9] = COND_BELOW_EQUAL,
		[10] = COND_GREATER_EQUAL, [11] = COND_LESS,
		[12] = COND_GREATER,	   [13] = COND_LESS_EQUAL,
		[15] = COND_OTHER,
	};

	if ((word & 0xff000000) != 0x54000000)
		return COND_OTHER;
	return conds[a64_field(word, 0, 4)];
}

static void
effect_control(struct effect *e, uint32_t word, enum insn_kind kind)
{
	switch (kind) {
	case INSN_CALL_INDIRECT:
		e->src = place_reg(a64_field(word, 5, 5), 8);
		/* fallthrough */
	case INSN_CALL:
		e->kills = CALL_KILLS;
		e->spoils = CALL_SPOILS;
		e->stores = true;
		break;
	case INSN_JUMP_INDIRECT:
		e->src = place_reg(a64_field(word, 5, 5), 8);
		break;
	case INSN_BRANCH:
		e->cond = branch_cond(word);
		break;
	case INSN_SYSCALL:
		e->kills = 1 << A64_X0;
		e->stores = true;
		break;
	default:
		break;
	}
}

int
a64_effect(const uint8_t *code, size_t size, uint64_t addr, struct effect *e)
{
	enum insn_kind kind;
	uint64_t target;
	uint32_t word;

	if (!a64_word(code, size, &word))
		return -1;
	*e = (struct effect){
		.dst = nowhere,
		.src = nowhere,
		.left = nowhere,
		.operand = nowhere,
	};
	kind = a64_kind(word, addr, &target);
	if (kind != INSN_PLAIN)
		effect_control(e, word, kind);
	else if ((word & 0x1c000000) == 0x10000000)
		effect_immediate(e, word, addr);
	else if ((word & 0x0e000000) == 0x0a000000)
		effect_registers(e, word);
	else if ((word & 0x0a000000) == 0x08000000)
		effect_memory(e, word, addr);
	else if ((word & 0xff000000) != 0xd5000000)
		dst_set(e, a64_field(word, 0, 5), 8);	/* vectors */
	else
		dst_set(e, a64_field(word, 0, 5), 8);	/* mrs, sys, hints */
	if (e->op == EFFECT_OTHER && e->dst.kind == PLACE_REG)
		e->dst = nowhere;
	return 0;
}
