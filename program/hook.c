/*
 * Decodes the code that may have hooks, as far as hints tell.  Never decides
 * what is a hook: hook_switches.c does for stack switches, hook_calls.c for
 * system calls.  Pure.
 */
#include "program/hook.h"

#include <stdlib.h>

#include "program/stretch.h"
#include "util/mem.h"

enum { CODE_MAX = SPARSE_REACH };

int
stretch_effect(const struct stretch *piece, const struct insn *insn,
	       struct effect *effect)
{
	uint64_t at = insn->addr - piece->range->lo;

	return piece->arch->effect(piece->code + at, piece->size - at,
				   insn->addr, effect);
}

static void
piece_decode(struct stretch *piece, bool effects)
{
	const struct arch *arch = piece->arch;
	const uint8_t *code = piece->code;
	struct step *step;
	size_t at = 0;

	while (at < piece->size) {
		step = vec_push(piece->steps, piece->n);
		*step = (struct step){ .depth = DEPTH_UNKNOWN };
		if (arch->decode(code + at, piece->size - at,
				 piece->range->lo + at, &step->insn) ||
		    (effects &&
		     stretch_effect(piece, &step->insn, &step->effect))) {
			piece->n--;
			break;
		}
		piece->index[at] = (uint32_t)piece->n;
		at += step->insn.len;
	}
}

/*
 * Whether the range may have stack switches and system calls, from its hints
 * alone: few hints are instructions, and most of those are followed by other
 * code.
 */
static void
range_look(const struct image *image, const struct range *range,
	   bool *switches, bool *calls)
{
	size_t i = image_hint(image, range->lo);

	*switches = *calls = false;
	for (; i < image->nhints && image->hints[i].addr < range->hi; i++) {
		const struct hint *hint = &image->hints[i];

		if (hint->kind == HINT_SYSCALL)
			*calls = true;
		else if (hint->kind == HINT_SWITCH && !*switches)
			*switches = hint_switches(image, hint->addr, range);
	}
}

void
hook_find_in(const struct image *image, const struct func *func,
	     const struct range *range, unsigned wanted, struct hook **hooks,
	     size_t *n)
{
	const struct arch *arch = image->arch;
	bool switches, calls;
	struct stretch piece = {
		.image = image, .arch = arch, .abi = abi_find(arch),
		.func = func, .range = range,
		.entry = arch->first(func ? func->addr : range->lo),
	};

	if (!arch->effect || !piece.abi || range->hi - range->lo > CODE_MAX)
		return;
	range_look(image, range, &switches, &calls);
	switches = switches && wanted & HOOKS_STACKS;
	if (!switches && !calls)
		return;
	piece.code = image_text_range(image, range->lo, range->hi,
				      &piece.size);
	if (!piece.code)
		return;
	if (piece.size > range->hi - range->lo)
		piece.size = range->hi - range->lo;
	if (!switches && !stretch_may_call(&piece))
		return;
	piece.index = mem_alloc(piece.size * sizeof(*piece.index));
	piece_decode(&piece, switches);
	if (switches)
		stretch_switches(&piece, hooks, n);
	if (calls)
		stretch_calls(&piece, wanted, hooks, n);
	free(piece.steps);
	free(piece.index);
}

void
hook_find(const struct image *image, const struct func *func, unsigned wanted,
	  struct hook **hooks, size_t *n)
{
	for (size_t i = 0; i < func->nranges; i++)
		hook_find_in(image, func, &func->ranges[i], wanted, hooks, n);
}
