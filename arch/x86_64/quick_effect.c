/*
 * The effects of moves, loads, stores and addresses, which are most of what
 * values are followed through, without decoding these in full.  Leaves all
 * other instructions to effect.c.
 */
#include <string.h>

#include "arch/x86_64/quick.h"
#include "arch/x86_64/x86.h"

enum {
	REX_R = 1 << 2,
	REX_X = 1 << 1,
	REX_B = 1 << 0,
	SIB = 4,		/* in ModRM.rm; as the index: none */
	NO_BASE = 5,		/* in ModRM.rm or SIB.base, if there is no
				   displacement otherwise */
};

/* A register's number in instructions (Intel SDM 2A, table 2-2). */
static uint8_t
number_of(uint8_t low, uint8_t rex, uint8_t bit)
{
	return (low & 7) | (rex & bit ? 8 : 0);
}

static uint8_t
reg_of(uint8_t low, uint8_t rex, uint8_t bit)
{
	return x86_gprs[number_of(low, rex, bit)];
}

static int64_t
disp_read(const uint8_t *code, const struct quick *parts)
{
	int32_t disp = 0;

	if (parts->disp_len == 1)
		return (int8_t)code[parts->disp];
	if (parts->disp_len)
		memcpy(&disp, code + parts->disp, sizeof(disp));
	return disp;
}

/* The operand in ModRM.rm: a register, or memory. */
static struct place
place_rm(const uint8_t *code, uint64_t addr, const struct quick *parts,
	 uint8_t width)
{
	uint8_t mod = parts->modrm >> 6, base = parts->modrm & 7;
	struct place place = x86_place_reg(reg_of(base, parts->rex, REX_B),
					   width);
	uint8_t sib;

	if (mod == 3)
		return place;
	place.kind = PLACE_MEM;
	place.disp = disp_read(code, parts);
	if (base == SIB) {
		sib = code[parts->disp - 1];
		base = sib & 7;
		place.reg = reg_of(base, parts->rex, REX_B);
		if (number_of(sib >> 3, parts->rex, REX_X) != SIB) {
			place.index = reg_of(sib >> 3, parts->rex, REX_X);
			place.scale = (uint8_t)(1 << (sib >> 6));
		}
	}
	if (mod == 0 && base == NO_BASE)
		place.reg = REG_NONE;
	if (parts->relative)
		place.disp += (int64_t)(addr + parts->len);
	return place;
}

static void
effect_set(struct effect *effect, enum effect_op op, struct place dst,
	   struct place src)
{
	*effect = (struct effect){ .op = op, .dst = dst, .src = src };
	if (dst.kind == PLACE_REG)
		effect->kills = UINT32_C(1) << dst.reg;
}

/* mov of a constant to a register. */
static void
effect_constant(const uint8_t *code, const struct quick *parts, uint8_t reg,
		struct effect *effect)
{
	uint64_t value = quick_constant(code, parts);
	uint8_t width = quick_width(parts);

	if (width == 4)
		value = (uint32_t)value;
	effect_set(effect, EFFECT_SUM, x86_place_reg(reg, width),
		   x86_place_sum(REG_NONE, REG_NONE, 0, (int64_t)value));
}

bool
x86_quick_effect(const uint8_t *code, size_t size, uint64_t addr,
		 struct effect *effect)
{
	struct place reg, rm;
	struct quick parts;
	uint8_t width;

	if (!x86_parts(code, size, &parts) || parts.escaped || parts.prefixes)
		return false;
	width = quick_width(&parts);
	reg = x86_place_reg(reg_of(parts.modrm >> 3, parts.rex, REX_R), width);
	switch (parts.opcode) {
	case 0x89:
		rm = place_rm(code, addr, &parts, width);
		effect_set(effect, EFFECT_COPY, rm, reg);
		return true;
	case 0x8b:
		rm = place_rm(code, addr, &parts, width);
		effect_set(effect, EFFECT_COPY, reg, rm);
		return true;
	case 0x8d:
		/* What is added to rsp is no sum: see effect_lea. */
		if (reg.reg == X86_RSP)
			return false;
		rm = place_rm(code, addr, &parts, 8);
		effect_set(effect, EFFECT_SUM, reg, rm);
		return true;
	case 0xb8 ... 0xbf:
		effect_constant(code, &parts,
				reg_of(parts.opcode, parts.rex, REX_B), effect);
		return true;
	case 0xc7:
		if (parts.modrm >> 6 != 3)
			return false;
		effect_constant(code, &parts,
				reg_of(parts.modrm, parts.rex, REX_B), effect);
		return true;
	default:
		return false;
	}
}
