/*
 * What 68000 arithmetic does to registers and memory, for following values
 * backwards through code: sums, compares, masks.
 */
#include "arch/m68k/effect.h"

/* dst +- an immediate; what it compares. */
static void
effect_add_immediate(struct effect *e, const struct m68k_code *code,
		     uint16_t op, size_t offset, unsigned width,
		     int64_t value)
{
	bool addr = m68k_mode(op) == EA_ADDR;
	struct place dst = ea_read(code, op, offset, width);

	e->flags = !addr;
	if (value < 0 && !addr) {
		e->compares = true;
		e->left = dst;
		e->right = -value;
	}
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

/* add, sub, adda, suba. */
void
m68k_effect_add(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	bool sub = op >> 12 == 9, addr = (op & 0xc0) == 0xc0;
	bool to_ea = !addr && op & 0x100;
	unsigned width = addr ? (op & 0x100 ? 4 : 2) : width_of(op >> 6);
	unsigned reg = upper_reg(op) + (addr ? M68K_A0 : M68K_D0);
	struct place src;
	int64_t value;

	if (to_ea) {		/* addx too, whose kills are the same */
		e->flags = true;
		m68k_ea_moves(e, op, width);
		m68k_ea_written(e, code, op, OP, width);
		if (m68k_mode(op) <= EA_ADDR) {
			e->kills |= bit(upper_reg(op)) |
				    bit(M68K_A0 + (op & 7)) |
				    bit(M68K_A0 + upper_reg(op));
			e->stores = true;
		}
		return;
	}
	if (is_immediate(op)) {
		value = immediate(code, width);
		effect_add_immediate(e, code, (uint16_t)(addr << 3 |
				     upper_reg(op)), OP, addr ? LONG : width,
				     sub ? -value : value);
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

/* and Dn with something. */
void
m68k_effect_and(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	unsigned width = width_of(op >> 6);

	if ((op & 0xc0) == 0xc0 || op & 0x100) {
		m68k_effect_other(e, code, op);	/* mul, exg, abcd, to memory */
		return;
	}
	e->flags = true;
	m68k_ea_moves(e, op, width);
	e->dst = place_reg(upper_reg(op), width);
	e->kills |= bit(upper_reg(op));
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

/* ori, andi, subi, addi, eori, cmpi; whatever else begins with 0. */
void
m68k_effect_0(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	enum { ANDI = 1, SUBI = 2, ADDI = 3, CMPI = 6 };
	unsigned width = width_of(op >> 6);
	size_t offset = OP + (width == LONG ? 4 : 2);
	unsigned what = op >> 9;

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
	} else {
		effect_add_immediate(e, code, op, offset, width,
				     what == SUBI ? -immediate(code, width) :
				     immediate(code, width));
	}
}

/* addq, subq; Scc. */
void
m68k_effect_5(struct effect *e, const struct m68k_code *code, uint16_t op)
{
	int64_t value = upper_reg(op) ? upper_reg(op) : 8;

	if ((op & 0xc0) == 0xc0) {
		m68k_ea_moves(e, op, 1);
		m68k_ea_written(e, code, op, OP, 1);
		return;
	}
	effect_add_immediate(e, code, op, OP, m68k_mode(op) == EA_ADDR ?
			     LONG : width_of(op >> 6),
			     op & 0x100 ? -value : value);
}
