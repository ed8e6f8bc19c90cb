/*
 * Reads what the code of a function says of its frames: the stack pointer that
 * it sets, the frame pointer that it keeps.  Never reads the stack.
 */
#include "monitor/unwind/stack_text.h"

static int
text_effect(const struct text *text, uint64_t va, struct insn *insn,
	    struct effect *effect)
{
	const struct arch *arch = text->arch;
	uint8_t code[INSN_MAX];
	size_t n = sizeof(code);

	while (n && files_text(text->files, text->tid, va, code, n))
		n--;
	if (!arch->effect || arch->decode(code, n, va, insn))
		return -1;
	return arch->effect(code, n, va, effect);
}

static bool
effect_copies(const struct effect *effect, uint8_t dst, uint8_t src)
{
	return effect->op == EFFECT_COPY && effect->dst.kind == PLACE_REG &&
	       effect->dst.reg == dst &&
	       (src == REG_NONE ||
		(effect->src.kind == PLACE_REG && effect->src.reg == src));
}

bool
text_sets_stack(const struct text *text, uint64_t function)
{
	struct effect effect;
	struct insn insn;

	return !text_effect(text, function, &insn, &effect) &&
	       effect_copies(&effect, text->arch->reg_sp, REG_NONE);
}

bool
text_points(const struct text *text, uint64_t function, uint64_t pc, bool exact)
{
	const struct arch *arch = text->arch;
	struct effect effect, pushed = { 0 };
	uint64_t va = function;
	struct insn insn;

	for (int i = 0; i < 3; i++, va += insn.len) {
		if (text_effect(text, va, &insn, &effect))
			return false;
		if (effect_copies(&effect, arch->reg_fp, arch->reg_sp))
			break;
		pushed = effect;
	}
	if (!effect_copies(&effect, arch->reg_fp, arch->reg_sp) ||
	    pushed.sp >= 0 || pc < va + insn.len)
		return false;
	return !exact || (!text_effect(text, pc, &insn, &effect) &&
			  insn.kind != INSN_RETURN && insn.kind != INSN_JUMP &&
			  insn.kind != INSN_JUMP_INDIRECT);
}
