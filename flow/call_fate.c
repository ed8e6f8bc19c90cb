/*
 * Tells calls that are jumps from others.  Looks only at the first instruction
 * of the target that does anything.
 */
#include "flow/call_fate.h"

#include <elf.h>

enum { IDLE_MAX = 4 };		/* instructions that do nothing */

unsigned
call_width(const struct arch *arch)
{
	return arch->elf_class == ELFCLASS32 ? 4 : 8;
}

/* What the instruction does with the word on top of the stack. */
static enum call_fate
insn_fate(const struct arch *arch, const struct effect *e)
{
	const struct place *dst = &e->dst;

	/* A pop reads the word, and has a destination. */
	if (e->sp > 0)
		return dst->kind == PLACE_NONE && !e->kills && !e->stores ?
			       CALL_DROPS :
			       CALL_KEEPS;
	return e->op == EFFECT_COPY && e->src.kind == PLACE_REG &&
			       dst->kind == PLACE_MEM && !dst->disp &&
			       dst->reg == arch->reg_sp &&
			       dst->index == REG_NONE &&
			       dst->width == call_width(arch) ?
		       CALL_REPLACES :
		       CALL_KEEPS;
}

enum call_fate
call_fate(const struct arch *arch, cfg_text *text, void *ctx,
	  const struct insn *call)
{
	uint64_t addr = call->target;

	/* Elsewhere the return address may not be on the stack. */
	if (call->kind != INSN_CALL || !arch->motion || !arch->effect)
		return CALL_KEEPS;
	for (int i = 0; i < IDLE_MAX; i++) {
		struct motion motion;
		struct effect effect;
		struct insn insn;
		size_t avail;
		const uint8_t *code = text(ctx, addr, &avail);

		if (!code || arch->decode(code, avail, addr, &insn) ||
		    insn.kind != INSN_PLAIN ||
		    arch->effect(code, avail, addr, &effect))
			return CALL_KEEPS;
		if (arch->motion(code, avail, addr, &motion) || !motion.idle)
			return insn_fate(arch, &effect);
		addr += insn.len;
	}
	return CALL_KEEPS;
}

bool
call_thunk(const struct arch *arch, cfg_text *text, void *ctx, uint64_t addr)
{
	struct insn insn;
	size_t avail;
	const uint8_t *code = text(ctx, addr, &avail);

	return code && !arch->decode(code, avail, addr, &insn) &&
	       call_fate(arch, text, ctx, &insn) == CALL_REPLACES;
}
