/*
 * Describes what 68000 arithmetic does to registers and memory, for following
 * values backwards through code: sums, compares, masks, and the floating point
 * instructions that change registers or memory.  Part of effect.c's work, and
 * like it never says too little.
 */
#include "arch/m68k/effect.h"

/* dst = dst + value. */
static void
effect_add_immediate(struct effect *e, const struct m68k_code *code,
		     uint16_t op, size_t offset, unsigned width, int64_t value)
{
	bool addr = m68k_mode(op) == EA_ADDR;
	struct place dst = ea_read(code, op, offset, width);

	e->flags = !addr;
	if (addr) {
		m68k_sum_set(e, dst.reg,
			     place_sum(dst.reg, REG_NONE, 0, value));
		return;
	}
	m68k_ea_moves(e, op, width);
	m68k_ea_written(e, code, op, offset, width);
	if (e->dst.kind != PLACE_REG)
		return;
	e->op = EFFECT_SUM;
	e->src = place_sum(dst.reg, REG_NONE, 0, value);
}

/*
 * dst = dst - value.  If value is positive this compares dst with value, too;
 * add sets the carry the other way round than a compare does.
 */
static void
effect_sub_immediate(struct effect *e, const struct m68k_code *code,
		     uint16_t op, size_t offset, unsigned width, int64_t value)
{
	if (value > 0 && m68k_mode(op) != EA_ADDR) {
		e->compares = true;
		e->left = ea_read(code, op, offset, width);
		e->right = value;
	}
	effect_add_immediate(e, code, op, offset, width, -value);
}

/*
 * addx, subx: Dy to Dx, or -(Ay) to -(Ax).  What they write depends on the flag
 * X, so no value is said.
 */
static void
effect_add_extended(struct effect *e, uint16_t op)
{
	const uint16_t pre = EA_PRE << 3;
	unsigned width = width_of(op >> 6);

	e->flags = true;
	if (m68k_mode(op) == EA_DATA) {
		e->dst = place_reg(upper_reg(op), width);
		e->kills = bit(upper_reg(op));
		return;
	}
	m68k_ea_moves(e, pre | (op & 7), width);
	m68k_ea_moves(e, (uint16_t)(pre | upper_reg(op)), width);
	e->stores = true;
}

/* add, sub, adda, suba, addx, subx. */
void
m68k_effect_add(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	bool sub = op >> 12 == 9, addr = (op & 0xc0) == 0xc0;
	bool to_ea = !addr && op & 0x100;
	unsigned width = addr ? (op & 0x100 ? 4 : 2) : width_of(op >> 6);
	unsigned reg = upper_reg(op) + (addr ? M68K_A0 : M68K_D0);
	struct place src;

	if (to_ea && m68k_mode(op) <= EA_ADDR) {
		effect_add_extended(e, op);
		return;
	}
	if (to_ea) {
		e->flags = true;
		m68k_ea_moves(e, op, width);
		m68k_ea_written(e, code, op, OP, width);
		return;
	}
	if (is_immediate(op)) {
		(sub ? effect_sub_immediate : effect_add_immediate)(
			e, code, (uint16_t)(addr << 3 | upper_reg(op)), OP,
			addr ? LONG : width, immediate(code, width));
		return;
	}
	e->flags = !addr;
	m68k_ea_moves(e, op, width);
	src = ea_read(code, op, OP, width);
	e->dst = place_reg(reg, addr ? LONG : width);
	e->kills |= bit(reg);
	if (sub || src.kind != PLACE_REG || (!addr && width != LONG))
		return;
	e->op = EFFECT_SUM;
	e->src = src.reg == reg ? place_sum(REG_NONE, reg, 2, 0) :
				  place_sum(reg, src.reg, 1, 0);
	if (addr && width == 2) {
		e->src.index_width = 2;
		e->src.index_sign = true;
	}
}

static void
effect_compare(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	bool addr = (op & 0xc0) == 0xc0;
	unsigned width = addr ? (op & 0x100 ? 4 : 2) : width_of(op >> 6);
	unsigned reg = upper_reg(op) + (addr ? M68K_A0 : M68K_D0);

	e->flags = true;
	m68k_ea_moves(e, op, width);
	e->compares = true;
	e->left = place_reg(reg, addr ? LONG : width);
	if (is_immediate(op)) {
		e->right = immediate(code, width);
		return;
	}
	e->operand = ea_read(code, op, OP, width);
	if (e->operand.kind == PLACE_NONE || m68k_mode(op) == EA_POST ||
	    m68k_mode(op) == EA_PRE)
		e->compares = false;
}

/* cmp, cmpa; eor and cmpm. */
void
m68k_effect_b(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	unsigned width = width_of(op >> 6);

	if ((op & 0xc0) == 0xc0 || !(op & 0x100)) {
		effect_compare(e, code, op);
		return;
	}
	e->flags = true;
	if (m68k_mode(op) == EA_ADDR) {	/* cmpm (An)+,(An)+ */
		e->kills = bit(M68K_A0 + (op & 7)) |
			   bit(M68K_A0 + upper_reg(op));
		return;
	}
	m68k_ea_moves(e, op, width);
	m68k_ea_written(e, code, op, OP, width);
	e->op = EFFECT_MIX;
}

/* negx, neg, not and others that change their operand. */
void
m68k_effect_unary(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	unsigned width = width_of(op >> 6);

	e->flags = true;
	m68k_ea_moves(e, op, width);
	m68k_ea_written(e, code, op, OP, width);
}

/* mul.l, div.l: change one or two registers, which the second word names. */
void
m68k_effect_multiply(struct effect *e, const struct m68k_code *code,
		     uint16_t op)
{
	uint16_t word = m68k_word(code, OP);
	bool divides = op & 0x40;

	e->flags = true;
	m68k_ea_moves(e, op, LONG);
	e->kills |= bit(word >> 12 & 7);
	if (divides || word & 0x400)
		e->kills |= bit(word & 7);
}

/* and, or, mul.w, div.w, into Dn or from Dn into memory; abcd, exg. */
void
m68k_effect_logic(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	bool word = (op & 0xc0) == 0xc0;
	unsigned width = word ? 2 : width_of(op >> 6);

	if (!word && op & 0x100) {
		if (m68k_mode(op) <= EA_ADDR)
			m68k_effect_other(e, code, op);
		else
			m68k_effect_unary(e, code, op);
		return;
	}
	e->flags = true;
	m68k_ea_moves(e, op, width);
	e->dst = place_reg(upper_reg(op), word ? LONG : width);
	e->kills |= bit(upper_reg(op));
	if (word || op >> 12 != 0xc)
		return;
	e->op = EFFECT_MASK;
	if (is_immediate(op))
		e->imm = (uint64_t)immediate(code, width) &
			 (UINT32_MAX >> (32 - 8 * width));
	else
		e->operand = ea_read(code, op, OP, width);
	if (!is_immediate(op) && e->operand.kind != PLACE_REG) {
		e->operand = nowhere;
		e->op = EFFECT_OTHER;
	}
}

/* Bit fields: bfextu, bfexts, bfffo write a register, others the field. */
void
m68k_effect_field(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	enum { TEST = 0 };
	unsigned what = op >> 8 & 7;
	bool gets = what & 1 && what != 7;

	e->flags = true;
	if (gets)
		e->kills = bit(m68k_word(code, OP) >> 12 & 7);
	else if (what != TEST && m68k_mode(op) == EA_DATA)
		e->kills = bit(op & 7);
	else
		e->stores = what != TEST;
}

/* btst, bchg, bclr, bset of a bit in a register or in a byte of memory. */
static void
effect_bit(struct effect *e, const struct m68k_code *code, uint16_t op,
	   size_t offset)
{
	unsigned width = m68k_mode(op) == EA_DATA ? LONG : 1;
	bool test = !(op & 0xc0);

	e->flags = true;
	m68k_ea_moves(e, op, width);
	if (!test)
		m68k_ea_written(e, code, op, offset, width);
}

/* ori, andi, subi, addi, eori, cmpi, and all else that begins with 0. */
void
m68k_effect_0(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	enum { ANDI = 1, SUBI = 2, ADDI = 3, CMPI = 6 };
	unsigned width = width_of(op >> 6);
	size_t offset = OP + (width == LONG ? 4 : 2);
	unsigned what = op >> 9;
	bool dynamic = op & 0x100 && m68k_mode(op) != EA_ADDR;	/* movep */

	if (dynamic || (op & 0xff00) == 0x0800) {
		effect_bit(e, code, op, dynamic ? OP : 2 * OP);
		return;
	}
	if (op & 0x100 || width > LONG ||
	    (what != ANDI && what != SUBI && what != ADDI && what != CMPI) ||
	    is_immediate(op)) {
		m68k_effect_other(e, code, op);
		return;
	}
	e->flags = true;
	if (what == CMPI) {
		e->left = ea_read(code, op, offset, width);
		e->right = immediate(code, width);
		e->compares = m68k_mode(op) != EA_POST &&
			      m68k_mode(op) != EA_PRE;
		m68k_ea_moves(e, op, width);
	} else if (what == ANDI) {
		m68k_ea_moves(e, op, width);
		m68k_ea_written(e, code, op, offset, width);
		e->op = EFFECT_MASK;
		e->imm = (uint64_t)immediate(code, width) &
			 (UINT32_MAX >> (32 - 8 * width));
		/* The usual way to extend a byte or a word. */
		if (width == LONG && e->dst.kind == PLACE_REG &&
		    (e->imm == UINT8_MAX || e->imm == UINT16_MAX)) {
			e->src = e->dst;
			e->src.width = e->imm == UINT8_MAX ? 1 : 2;
		}
	} else if (what == SUBI) {
		effect_sub_immediate(e, code, op, offset, width,
				     immediate(code, width));
	} else {
		effect_add_immediate(e, code, op, offset, width,
				     immediate(code, width));
	}
}

/* addq, subq; Scc. */
void
m68k_effect_5(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	int64_t value = upper_reg(op) ? upper_reg(op) : 8;
	unsigned width = m68k_mode(op) == EA_ADDR ? LONG : width_of(op >> 6);

	if ((op & 0xc0) == 0xc0) {
		m68k_ea_moves(e, op, 1);
		m68k_ea_written(e, code, op, OP, 1);
	} else if (op & 0x100) {
		effect_sub_immediate(e, code, op, OP, width, value);
	} else {
		effect_add_immediate(e, code, op, OP, width, value);
	}
}

/* fmovem of floating point or control registers. */
static void
effect_float_list(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	uint16_t command = m68k_word(code, OP);
	bool control = !(command & 0x4000);
	unsigned n = (unsigned)__builtin_popcount(control ? command & 0x1c00 :
							    command & 0xff);
	enum ea_mode mode = m68k_mode(op);

	if (!control && command & 0x800 && mode >= EA_POST && mode <= EA_PRE)
		e->kills |= bit(M68K_A0 + (op & 7));	/* list is in Dn */
	else
		m68k_ea_moves(e, op, (control ? 4 : 12) * n);
	if (!(command & 0x2000))
		return;
	if (mode <= EA_ADDR)
		e->kills |= bit((mode == EA_ADDR ? M68K_A0 : 0) + (op & 7));
	else
		e->stores = op != 0xf227;	/* not a push */
}

/*
 * The floating point unit.  Its registers are not followed, and its compares
 * do not change the CPU's flags.
 */
void
m68k_effect_float(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	enum { FROM_MEMORY = 2, TO_MEMORY = 3 };
	static const uint8_t widths[] = { 4, 4, 12, 12, 2, 8, 1, 12 };
	uint16_t command = m68k_word(code, OP);
	unsigned width = widths[command >> 10 & 7];

	if ((op & 0xffc0) == 0xf240 && (op & 0x3f) < 0x3a) {	/* fscc */
		m68k_ea_moves(e, op, 1);
		m68k_ea_written(e, code, op, 2 * OP, 1);
		return;
	}
	if ((op & 0xffc0) != 0xf200) {
		m68k_effect_other(e, code, op);
		return;
	}
	switch (command >> 13) {
	case 0:
		break;
	case FROM_MEMORY:
		if ((command & 0xfc00) != 0x5c00)	/* fmovecr */
			m68k_ea_moves(e, op, width);
		break;
	case TO_MEMORY:
		m68k_ea_moves(e, op, width);
		m68k_ea_written(e, code, op, 2 * OP, width);
		break;
	default:
		effect_float_list(e, code, op);
		break;
	}
}
