/*
 * Tells calls that are jumps, and calls that go on behind their return point,
 * from others.  Looks only at the first instructions of the target.
 */
#include "flow/call_fate.h"

#include <elf.h>

enum {
	IDLE_MAX = 4,		/* instructions that do nothing */
	REENTER_MAX = 64,	/* instructions of a callee to look at */
};

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

/* Whether the instruction does anything that its effect tells. */
static bool
effect_any(const struct effect *e)
{
	return e->sp || e->stores || e->kills || e->dst.kind != PLACE_NONE;
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
		if (effect_any(&effect) ||
		    arch->motion(code, avail, addr, &motion) || !motion.idle)
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

/* Decode the instruction at addr, with its effect; -1 if there is none. */
static int
insn_read(const struct arch *arch, cfg_text *text, void *ctx, uint64_t addr,
	  struct insn *insn, struct effect *effect)
{
	size_t avail;
	const uint8_t *code = text(ctx, addr, &avail);

	if (!code || arch->decode(code, avail, addr, insn))
		return -1;
	return arch->effect(code, avail, addr, effect);
}

/* Where a callee's stack and frame pointers are, above its return address. */
struct pointers {
	int64_t sp, fp;
	bool framed;
};

/* The register that the instruction loads with the return address. */
static uint8_t
insn_loads(const struct arch *arch, const struct pointers *at,
	   const struct effect *e)
{
	const struct place *src = &e->src;

	if (e->op != EFFECT_COPY || e->dst.kind != PLACE_REG ||
	    src->kind != PLACE_MEM || src->index != REG_NONE)
		return REG_NONE;
	if ((src->reg == arch->reg_sp && !(at->sp + src->disp)) ||
	    (src->reg == arch->reg_fp && at->framed && !(at->fp + src->disp)))
		return e->dst.reg;
	return REG_NONE;
}

/* Whether the code adds 1 to its return address, before its first return. */
static bool
code_skips(const struct arch *arch, cfg_text *text, void *ctx, uint64_t addr)
{
	struct pointers at = { 0 };
	uint8_t loaded = REG_NONE;

	for (int i = 0; i < REENTER_MAX; i++) {
		struct effect e;
		struct insn insn;

		if (insn_read(arch, text, ctx, addr, &insn, &e) ||
		    insn.kind == INSN_RETURN)
			return false;
		if (loaded != REG_NONE && e.op == EFFECT_SUM &&
		    e.dst.kind == PLACE_REG && e.dst.reg == loaded &&
		    e.src.reg == loaded && e.src.index == REG_NONE &&
		    e.src.disp == 1)
			return true;
		loaded = insn_loads(arch, &at, &e);
		at.sp += e.sp;
		if (e.op == EFFECT_COPY && e.dst.kind == PLACE_REG &&
		    e.dst.reg == arch->reg_fp && e.src.kind == PLACE_REG &&
		    e.src.reg == arch->reg_sp) {
			at.fp = at.sp;
			at.framed = true;
		}
		addr += insn.len;
	}
	return false;
}

bool
call_reenters(const struct arch *arch, cfg_text *text, void *ctx,
	      const struct insn *call)
{
	uint64_t behind = call->addr + call->len;
	struct insn insn;
	const uint8_t *code;
	size_t avail;

	if (call->kind != INSN_CALL || !arch->motion || !arch->effect)
		return false;
	code = text(ctx, behind, &avail);
	return code && !arch->decode(code, avail, behind, &insn) &&
	       insn.kind == INSN_RETURN && insn.len == 1 &&
	       code_skips(arch, text, ctx, call->target);
}
