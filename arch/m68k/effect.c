/*
 * Describes what a 68000 instruction does to registers and memory, for
 * following values backwards through code.  Never says too little: an
 * instruction that is not known changes everything that it might.  M68000
 * Family Programmer's Reference Manual, section 4.
 */
#include "arch/m68k/effect.h"

/*
 * System V ABI, M68000 supplement: the registers in which functions return
 * values, and the others that they need not preserve.
 */
enum {
	CALL_KILLS = 1 << M68K_D0 | 1 << M68K_D1 | 1 << M68K_A0,
	CALL_SPOILS = 1 << M68K_A1,
};

void
m68k_ea_moves(struct effect *e, uint16_t op, unsigned width)
{
	unsigned reg = M68K_A0 + (op & 7);
	enum ea_mode mode = m68k_mode(op);
	int step = (int)width;

	if (mode != EA_POST && mode != EA_PRE)
		return;
	if (reg != M68K_SP) {
		e->kills |= bit(reg);
		return;
	}
	if (step == 1)
		step = 2;	/* sp stays even */
	e->sp += mode == EA_PRE ? -step : step;
}

void
m68k_ea_written(struct effect *e, const struct m68k_code *code, uint16_t op,
		size_t offset, unsigned width)
{
	e->dst = m68k_ea_place(code, op, offset, (uint8_t)width);
	if (e->dst.kind == PLACE_REG) {
		e->kills |= bit(e->dst.reg);
	} else if (m68k_mode(op) == EA_PRE && e->dst.reg == M68K_SP) {
		e->dst = nowhere;
	} else if (e->dst.kind == PLACE_NONE || m68k_mode(op) == EA_PRE ||
		   m68k_mode(op) == EA_POST) {
		e->dst = nowhere;
		e->stores = true;
	}
}

void
m68k_sum_set(struct effect *e, unsigned reg, struct place src)
{
	e->dst = place_reg(reg, LONG);
	if (reg == M68K_SP) {
		e->dst = nowhere;
		if (src.reg == M68K_SP && src.index == REG_NONE)
			e->sp = (int32_t)src.disp;
		else
			e->kills |= bit(reg);
		return;
	}
	e->kills |= bit(reg);
	e->src = src;
	if (src.kind == PLACE_MEM)
		e->op = EFFECT_SUM;
}

void
m68k_effect_other(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	size_t len = m68k_size(code);
	enum ea_mode mode = m68k_mode(op);
	unsigned low = op & 7, high = upper_reg(op);

	e->flags = true;
	e->stores = mode > EA_ADDR;
	e->kills = bit(low) | bit(high);
	/* Extension words may name registers, too; cas2 has two. */
	for (size_t at = OP; at < len; at += OP) {
		uint16_t word = m68k_word(code, at);

		e->kills |= bit(word & 7) | bit(word >> 12);
	}
	if (low != 7 || mode == EA_ADDR || mode == EA_POST || mode == EA_PRE)
		e->kills |= bit(M68K_A0 + low);
	if (high != 7 || (op & 0xf138) == 0xc108)	/* exg, abcd */
		e->kills |= bit(M68K_A0 + high);
}

static void
effect_move(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	static const uint8_t widths[] = { 0, 1, 4, 2 };
	unsigned width = widths[op >> 12];
	uint16_t dst = (uint16_t)((op >> 3 & 0x38) | upper_reg(op));
	size_t n = OP + m68k_ea_size(code, m68k_mode(op), OP, width);
	bool addr = m68k_mode(dst) == EA_ADDR;

	e->flags = !addr;
	e->src = ea_read(code, op, OP, width);
	e->op = EFFECT_COPY;
	e->sign = addr && width == 2;
	if (is_immediate(op)) {
		e->op = EFFECT_SUM;
		e->src = place_constant(immediate(code, width));
	} else if (e->src.kind == PLACE_NONE) {
		e->op = EFFECT_OTHER;
	}
	m68k_ea_moves(e, op, width);
	m68k_ea_moves(e, dst, width);
	m68k_ea_written(e, code, dst, n, addr ? LONG : width);
	/* src is relative to sp before the instruction, which changed it. */
	if (e->sp && e->src.kind == PLACE_MEM && e->src.reg == M68K_SP &&
	    e->op == EFFECT_COPY && m68k_mode(op) != EA_POST)
		e->op = EFFECT_OTHER;
	if (e->op == EFFECT_SUM && e->dst.kind != PLACE_REG)
		e->op = EFFECT_OTHER;
	if (e->dst.kind == PLACE_REG && e->dst.reg == M68K_SP) {
		e->sp = 0;
		e->dst = nowhere;
		e->op = EFFECT_OTHER;
	}
}

/* movem, either way; the second word is the list of registers. */
static void
effect_movem(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	uint16_t list = m68k_word(code, OP);
	int size = __builtin_popcount(list) * (op & 0x40 ? 4 : 2);
	enum ea_mode mode = m68k_mode(op);
	bool stack = (op & 7) == 7 && (mode == EA_POST || mode == EA_PRE);

	if (op & 0x400)
		e->kills = list;
	else
		e->stores = !stack;
	if (stack)
		e->sp = mode == EA_PRE ? -size : size;
	else if (mode == EA_POST || mode == EA_PRE)
		e->kills |= bit(M68K_A0 + (op & 7));
}

static void
effect_link(struct effect *e, const struct m68k_code *code, uint16_t op,
	    size_t size)
{
	unsigned reg = M68K_A0 + (op & 7);

	e->sp = (int32_t)m68k_signed(code, OP, size) - LONG;
	e->dst = place_reg(reg, LONG);
	e->kills = bit(reg);
	e->op = EFFECT_SUM;
	e->src = place_sum(M68K_SP, REG_NONE, 0, -LONG);
}

static void
effect_extend(struct effect *e, uint16_t op)
{
	unsigned reg = op & 7, from = (op & 0xfff8) == 0x48c0 ? 2 : 1;

	e->flags = true;
	e->op = EFFECT_COPY;
	e->sign = true;
	e->src = place_reg(reg, from);
	e->dst = place_reg(reg, (op & 0xfff8) == 0x4880 ? 2 : 4);
	e->kills = bit(reg);
}

static void
effect_clear(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	unsigned width = width_of(op >> 6);

	e->flags = true;
	m68k_ea_moves(e, op, width);
	m68k_ea_written(e, code, op, OP, width);
	if (e->dst.kind != PLACE_REG)
		return;
	e->op = EFFECT_SUM;
	e->src = place_constant(0);
}

static void
effect_4(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	switch (op & 0xfff8) {
	case 0x4808:
		effect_link(e, code, op, 4);
		return;
	case 0x4e50:
		effect_link(e, code, op, 2);
		return;
	case 0x4e58:			/* unlk */
		e->kills = bit(M68K_SP) | bit(M68K_A0 + (op & 7));
		return;
	case 0x4880:
	case 0x48c0:
	case 0x49c0:
		effect_extend(e, op);
		return;
	case 0x4840:			/* swap */
		e->flags = true;
		e->op = EFFECT_MIX;
		e->dst = place_reg(op & 7, LONG);
		e->kills = bit(op & 7);
		return;
	}
	if (op == 0x4e71)		/* nop */
		return;
	if ((op & 0xf1c0) == 0x41c0) {	/* lea */
		m68k_sum_set(e, M68K_A0 + upper_reg(op),
			     ea_read(code, op, OP, 4));
	} else if ((op & 0xffc0) == 0x4840) {	/* pea */
		e->sp = -LONG;
	} else if ((op & 0xfb80) == 0x4880) {
		effect_movem(e, code, op);
	} else if ((op & 0xff00) == 0x4a00 && (op & 0xc0) != 0xc0) {
		e->flags = e->compares = true;
		e->left = ea_read(code, op, OP, width_of(op >> 6));
		e->compares = m68k_mode(op) != EA_POST &&
			      m68k_mode(op) != EA_PRE;
		m68k_ea_moves(e, op, width_of(op >> 6));
	} else if ((op & 0xff00) == 0x4200 && (op & 0xc0) != 0xc0) {
		effect_clear(e, code, op);
	} else if ((op & 0xf900) == 0x4000 && (op & 0xc0) != 0xc0) {
		m68k_effect_unary(e, code, op);
	} else if ((op & 0xff80) == 0x4c00) {
		m68k_effect_multiply(e, code, op);
	} else {
		m68k_effect_other(e, code, op);
	}
}

static void
effect_shift(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	enum { ARITHMETIC, LOGICAL, ROTATE = 3 };
	unsigned width = width_of(op >> 6), kind = op >> 3 & 3;
	unsigned count = upper_reg(op) ? upper_reg(op) : 8;
	bool left = op & 0x100, fixed = !(op & 0x20);

	if ((op & 0xf8c0) == 0xe8c0) {
		m68k_effect_field(e, code, op);
		return;
	}
	if ((op & 0xc0) == 0xc0) {
		m68k_effect_other(e, code, op);
		return;
	}
	e->flags = true;
	e->dst = place_reg(op & 7, width);
	e->kills = bit(op & 7);
	if (kind == ROTATE) {
		e->op = EFFECT_MIX;
	} else if (fixed && kind == LOGICAL && !left) {
		e->op = EFFECT_SHIFT;
		e->imm = count;
	} else if (fixed && kind <= LOGICAL && left && count <= 4 &&
		   width == LONG) {
		e->op = EFFECT_SUM;
		e->src = place_sum(REG_NONE, op & 7, 1u << count, 0);
	}
}

static enum effect_cond
branch_cond(uint16_t op)
{
	static const uint8_t conds[] = {
		[2] = COND_ABOVE,	   [3] = COND_BELOW_EQUAL,
		[4] = COND_ABOVE_EQUAL,	   [5] = COND_BELOW,
		[6] = COND_NOT_EQUAL,	   [7] = COND_EQUAL,
		[12] = COND_GREATER_EQUAL, [13] = COND_LESS,
		[14] = COND_GREATER,	   [15] = COND_LESS_EQUAL,
	};

	return op >> 12 == 6 ? conds[op >> 8 & 15] : COND_OTHER;
}

static void
effect_control(struct effect *e, const struct m68k_code *code, uint16_t op,
	       enum insn_kind kind)
{
	switch (kind) {
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		e->kills = CALL_KILLS;
		e->spoils = CALL_SPOILS;
		e->stores = true;
		break;
	case INSN_BRANCH:
		e->cond = branch_cond(op);
		if ((op & 0xf0f8) == 0x50c8)
			e->kills = bit(op & 7);
		else if (op >> 12 == 0xf)
			e->kills = bit(op & 7);		/* fdbcc */
		break;
	case INSN_SYSCALL:
		e->kills = bit(M68K_D0);
		e->stores = true;
		break;
	default:
		break;
	}
	if (kind != INSN_CALL_INDIRECT && kind != INSN_JUMP_INDIRECT)
		return;
	e->src = ea_read(code, op, OP, LONG);
	if (m68k_mode(op) == EA_INDIRECT)
		e->src = place_reg(e->src.reg, LONG);
	else if (e->src.kind == PLACE_MEM)
		e->op = EFFECT_SUM;
}

static void
effect_plain(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	switch (op >> 12) {
	case 0:
		m68k_effect_0(e, code, op);
		break;
	case 1:
	case 2:
	case 3:
		effect_move(e, code, op);
		break;
	case 4:
		effect_4(e, code, op);
		break;
	case 5:
		m68k_effect_5(e, code, op);
		break;
	case 7:				/* moveq */
		e->flags = true;
		m68k_sum_set(e, upper_reg(op), place_constant((int8_t)op));
		break;
	case 9:
	case 0xd:
		m68k_effect_add(e, code, op);
		break;
	case 0xb:
		m68k_effect_b(e, code, op);
		break;
	case 8:
	case 0xc:
		m68k_effect_logic(e, code, op);
		break;
	case 0xe:
		effect_shift(e, code, op);
		break;
	case 0xf:
		m68k_effect_float(e, code, op);
		break;
	default:
		m68k_effect_other(e, code, op);
		break;
	}
}

static int
effect_of(const struct m68k_code *code, struct effect *e)
{
	size_t len = m68k_size(code);
	uint64_t target;
	enum insn_kind kind;
	uint16_t op = m68k_word(code, 0);

	if (!len || len > code->size)
		return -1;
	*e = (struct effect){
		.dst = nowhere,
		.src = nowhere,
		.left = nowhere,
		.operand = nowhere,
	};
	kind = m68k_kind(code, &target);
	if (kind != INSN_PLAIN)
		effect_control(e, code, op, kind);
	else
		effect_plain(e, code, op);
	return 0;
}

int
m68000_effect(const uint8_t *p, size_t size, uint64_t addr,
	      struct effect *effect)
{
	struct m68k_code code = m68k_code_of(p, size, addr, false);

	return effect_of(&code, effect);
}

int
m68k_effect(const uint8_t *p, size_t size, uint64_t addr, struct effect *effect)
{
	struct m68k_code code = m68k_code_of(p, size, addr, true);

	return effect_of(&code, effect);
}
