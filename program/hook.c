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
stretch_effect(const struct stretch *stretch, const struct insn *insn,
	       struct effect *effect)
{
	uint64_t at = insn->addr - stretch->range->lo;

	return stretch->arch->effect(stretch->code + at, stretch->size - at,
				     insn->addr, effect);
}

static void
stretch_decode(struct stretch *stretch, bool effects)
{
	const struct arch *arch = stretch->arch;
	const uint8_t *code = stretch->code;
	struct step *step;
	size_t at = 0;

	while (at < stretch->size) {
		step = vec_push(stretch->steps, stretch->n);
		*step = (struct step){ .depth = DEPTH_UNKNOWN };
		if (arch->decode(code + at, stretch->size - at,
				 stretch->range->lo + at, &step->insn) ||
		    (effects &&
		     stretch_effect(stretch, &step->insn, &step->effect))) {
			stretch->n--;
			break;
		}
		stretch->index[at] = (uint32_t)stretch->n;
		at += step->insn.len;
	}
}

/*
 * Whether the range may have stack switches and system calls, from its hints
 * alone: few hints are instructions, and most of those are followed by other
 * code.
 */
static void
range_look(const struct image *image, const struct range *range, bool *switches,
	   bool *calls)
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
	struct stretch stretch = {
		.image = image,
		.arch = arch,
		.abi = abi_find(arch),
		.func = func,
		.range = range,
		.entry = arch->first(func ? func->addr : range->lo),
	};

	if (!arch->effect || !stretch.abi || range->hi - range->lo > CODE_MAX)
		return;
	range_look(image, range, &switches, &calls);
	switches = switches && wanted & HOOKS_SWITCHES;
	if (!switches && !calls)
		return;
	stretch.code = image_text_range(image, range->lo, range->hi,
					&stretch.size);
	if (!stretch.code)
		return;
	if (stretch.size > range->hi - range->lo)
		stretch.size = range->hi - range->lo;
	if (!switches && !stretch_may_call(&stretch, wanted))
		return;
	stretch.index = mem_alloc(stretch.size * sizeof(*stretch.index));
	stretch_decode(&stretch, switches);
	if (switches)
		stretch_switches(&stretch, hooks, n);
	if (calls)
		stretch_calls(&stretch, wanted, hooks, n);
	free(stretch.steps);
	free(stretch.index);
}

void
hook_find(const struct image *image, const struct func *func, unsigned wanted,
	  struct hook **hooks, size_t *n)
{
	for (size_t i = 0; i < func->nranges; i++)
		hook_find_in(image, func, &func->ranges[i], wanted, hooks, n);
}
