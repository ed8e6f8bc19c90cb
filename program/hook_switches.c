/*
 * Finds where code leaves its stack: a move into the stack pointer that does
 * not take down the function's own frame, followed by a jump or return.
 * Between the place where the old stack can still be walked and that jump, the
 * code only loads registers, so the monitor can compute their new values before
 * anything is lost.  Pure.
 */
#include <stdlib.h>

#include "program/stretch.h"
#include "util/mem.h"

enum { AWAY_MAX = 64 };	/* instructions between a switch and its jump */

/* ---- the frame's registers */

static struct step *
stretch_step(const struct stretch *stretch, uint64_t addr)
{
	uint64_t offset = addr - stretch->range->lo;

	if (offset >= stretch->size || !stretch->index[offset])
		return NULL;
	return &stretch->steps[stretch->index[offset] - 1];
}

/* Whether the instruction adds a register to the stack pointer. */
static bool
effect_shifts(const struct effect *effect, uint8_t sp)
{
	return effect->op == EFFECT_SUM && effect->dst.kind == PLACE_REG &&
	       effect->dst.reg == sp && effect->dst.width == 8 &&
	       effect->src.reg == sp && effect->src.index != REG_NONE;
}

/* Whether the instruction takes room of a size that is computed (alloca). */
static bool
effect_takes(const struct effect *effect, uint8_t sp)
{
	return effect->op == EFFECT_OTHER && effect->flags &&
	       effect->dst.kind == PLACE_REG && effect->dst.reg == sp;
}

static void
stretch_look(struct stretch *stretch)
{
	uint8_t sp = stretch->arch->reg_sp;

	stretch->frame = UINT32_C(1) << sp | UINT32_C(1)
						     << stretch->arch->reg_fp;
	for (size_t i = 0; i < stretch->n; i++) {
		const struct effect *effect = &stretch->steps[i].effect;
		const struct insn *insn = &stretch->steps[i].insn;
		struct step *to;

		if (insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH) {
			to = stretch_step(stretch, insn->target);
			if (to)
				to->target = true;
		}
		if ((effect->op == EFFECT_COPY || effect->op == EFFECT_SUM) &&
		    effect->dst.kind == PLACE_REG && effect->src.reg == sp &&
		    (effect->op == EFFECT_SUM || effect->src.kind == PLACE_REG))
			stretch->frame |= UINT32_C(1) << effect->dst.reg;
		if (effect->op == EFFECT_COPY &&
		    effect->dst.kind == PLACE_REG &&
		    effect->src.kind == PLACE_MEM &&
		    effect->src.reg != REG_NONE &&
		    stretch->frame & UINT32_C(1) << effect->src.reg)
			stretch->saved |= UINT32_C(1) << effect->dst.reg;
		if (effect_takes(effect, sp))
			stretch->takes = true;
	}
}

/* ---- how deep the stack is */

struct work {
	struct step **todo, **calls;
	size_t ntodo, ncalls;
};

static void
depth_to(const struct stretch *stretch, struct work *work, uint64_t addr,
	 int32_t depth, bool after_call)
{
	struct step *step = stretch_step(stretch, addr);

	if (!step || step->reached)
		return;
	if (after_call) {
		if (step->depth == DEPTH_UNKNOWN)
			step->depth = depth;
		*vec_push(work->calls, work->ncalls) = step;
		return;
	}
	step->reached = true;
	step->depth = depth;
	*vec_push(work->todo, work->ntodo) = step;
}

static void
depth_step(const struct stretch *stretch, struct work *work,
	   const struct step *step)
{
	const struct insn *insn = &step->insn;
	uint8_t sp = stretch->arch->reg_sp;
	int32_t depth = step->depth;
	bool call = insn->kind == INSN_CALL || insn->kind == INSN_CALL_INDIRECT;

	if (step->effect.kills & UINT32_C(1) << sp)
		return;
	depth -= step->effect.sp;
	if (insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH)
		depth_to(stretch, work, insn->target, depth, false);
	if (insn->kind == INSN_PLAIN || insn->kind == INSN_BRANCH ||
	    insn->kind == INSN_SYSCALL || call)
		depth_to(stretch, work, insn->addr + insn->len, depth, call);
}

/*
 * Find the depth at each step, as far as possible.  A call may not return, and
 * then the depth behind it may be meaningless: go on from there only where no
 * other way leads.
 */
static void
stretch_depths(struct stretch *stretch)
{
	struct work work = { 0 };
	struct step *step;

	depth_to(stretch, &work, stretch->range->lo, 0, false);
	while (work.ntodo || work.ncalls) {
		if (work.ntodo) {
			step = work.todo[--work.ntodo];
		} else {
			step = work.calls[--work.ncalls];
			if (step->reached)
				continue;
			step->reached = true;
		}
		depth_step(stretch, &work, step);
	}
	free(work.todo);
	free(work.calls);
}

/* ---- from the switch to the jump */

/*
 * Whether the step's effect on registers can be computed.  Instructions without
 * an effect on general registers and memory (fldenv, ldmxcsr) need no
 * emulation.
 */
static bool
step_modelled(const struct stretch *stretch, const struct step *step)
{
	const struct arch *arch = stretch->arch;
	uint64_t at = step->insn.addr - stretch->range->lo;
	struct emul emul;

	if (step->insn.kind != INSN_PLAIN &&
	    step->insn.kind != INSN_JUMP_INDIRECT &&
	    step->insn.kind != INSN_RETURN)
		return false;
	if (!arch->emul_prepare(stretch->code + at, stretch->size - at,
				step->insn.addr, &emul))
		return true;
	return step->insn.kind == INSN_PLAIN && !step->effect.kills &&
	       !step->effect.stores && !step->effect.sp &&
	       step->effect.dst.kind != PLACE_MEM;
}

/* Whether the step may load a value that the function saved in its frame. */
static bool
step_restores(const struct stretch *stretch, const struct step *step)
{
	const struct place *src = &step->effect.src;

	return (src->kind == PLACE_REG || step->effect.op == EFFECT_SUM) &&
	       stretch->saved & UINT32_C(1) << src->reg;
}

/* Whether the step sets the stack pointer to a place outside the frame. */
static bool
step_switches(const struct stretch *stretch, const struct step *step)
{
	const struct effect *effect = &step->effect;
	uint8_t sp = stretch->arch->reg_sp;

	if (effect->op != EFFECT_COPY && effect->op != EFFECT_SUM)
		return false;
	if (effect->dst.kind != PLACE_REG || effect->dst.reg != sp ||
	    effect->dst.width != 8)
		return false;
	/* A variable's value is one, a constant is not. */
	if (effect->src.reg == REG_NONE)
		return effect->op == EFFECT_COPY &&
		       effect->src.kind == PLACE_MEM;
	if (effect->op == EFFECT_SUM && step_restores(stretch, step))
		return false;
	return !(stretch->frame & UINT32_C(1) << effect->src.reg);
}

/* Whether a stack pointer loaded from `first` on still holds at the jump. */
static bool
switch_holds(const struct stretch *stretch, size_t first, size_t last)
{
	uint32_t sp = UINT32_C(1) << stretch->arch->reg_sp;
	bool holds = false;

	for (size_t i = first; i < last; i++) {
		const struct step *step = &stretch->steps[i];

		if (step_switches(stretch, step))
			holds = true;
		else if (step->effect.kills & sp)
			holds = false;
	}
	return holds;
}

/* Whether the straight-line code before the jump switches stacks. */
static bool
switch_before(const struct stretch *stretch, size_t last)
{
	const struct step *steps = stretch->steps;

	for (size_t i = last;
	     i && !steps[i].target && steps[i - 1].insn.kind == INSN_PLAIN; i--)
		if (step_switches(stretch, &steps[i - 1]))
			return true;
	return false;
}

/* Preserved registers that steps before `first` and after `last` change. */
static uint32_t
stretch_changes(const struct stretch *stretch, size_t first, size_t last)
{
	uint32_t changed = 0;

	for (size_t i = 0; i < stretch->n; i++)
		if (i < first || i > last)
			changed |= stretch->steps[i].effect.kills;
	return changed & stretch->abi->preserved;
}

static void
entry_add(const struct stretch *stretch, struct hook **hooks, size_t *n)
{
	for (size_t k = *n; k && (*hooks)[k - 1].func == stretch->entry; k--)
		if ((*hooks)[k - 1].kind == HOOK_ENTRY)
			return;
	*vec_push(*hooks, *n) = (struct hook){
		.kind = HOOK_ENTRY,
		.addr = stretch->entry,
		.end = stretch->entry,
		.func = stretch->entry,
	};
}

static void
stack_switch_look(const struct stretch *stretch, size_t last,
		  struct hook **hooks, size_t *n)
{
	const struct step *steps = stretch->steps;
	struct hook hook = { .kind = HOOK_STACK_SWITCH,
			     .func = stretch->entry };
	size_t first = last;

	if (!switch_before(stretch, last) ||
	    !step_modelled(stretch, &steps[last]))
		return;
	while (first && !steps[first].target &&
	       steps[first - 1].insn.kind == INSN_PLAIN &&
	       step_modelled(stretch, &steps[first - 1]))
		first--;
	if (!switch_holds(stretch, first, last))
		return;
	hook.addr = steps[first].insn.addr;
	hook.end = steps[last].insn.addr;
	hook.depth = steps[first].depth;
	hook.changed = stretch_changes(stretch, first, last);
	if (hook.depth)
		entry_add(stretch, hooks, n);
	*vec_push(*hooks, *n) = hook;
}

/* ---- where no hook can compute it */

/*
 * Whether the code at addr leads to an indirect jump or return without a call
 * and without changing the stack pointer.  *budget is how many more
 * instructions to look at.
 */
static bool
leads_away(const struct image *image, uint64_t addr, const struct range *range,
	   unsigned *budget)
{
	const struct arch *arch = image->arch;
	struct effect effect;
	struct insn insn;
	size_t avail;

	while (addr - range->lo < range->hi - range->lo && *budget) {
		const uint8_t *text = image_text(image, addr, &avail);

		--*budget;
		if (!text || arch->decode(text, avail, addr, &insn) ||
		    arch->effect(text, avail, addr, &effect))
			return false;
		if (insn.kind == INSN_JUMP_INDIRECT || insn.kind == INSN_RETURN)
			return true;
		if (effect.kills & UINT32_C(1) << arch->reg_sp)
			return false;
		if (insn.kind == INSN_BRANCH &&
		    leads_away(image, insn.target, range, budget))
			return true;
		if (insn.kind == INSN_JUMP)
			addr = insn.target;
		else if (insn.kind == INSN_PLAIN || insn.kind == INSN_BRANCH)
			addr += insn.len;
		else
			return false;
	}
	return false;
}

bool
hint_switches(const struct image *image, uint64_t addr,
	      const struct range *range)
{
	const struct arch *arch = image->arch;
	unsigned budget = AWAY_MAX;
	struct effect effect;
	const uint8_t *text;
	struct insn insn;
	size_t avail;

	text = image_text(image, addr, &avail);
	if (!text || arch->decode(text, avail, addr, &insn) ||
	    arch->effect(text, avail, addr, &effect) || insn.kind != INSN_PLAIN)
		return false;
	return effect_shifts(&effect, arch->reg_sp) ||
	       leads_away(image, addr + insn.len, range, &budget);
}

/* Whether the step may switch stacks, for all that its operands tell. */
static bool
step_leaves(const struct stretch *stretch, const struct step *step)
{
	if (effect_shifts(&step->effect, stretch->arch->reg_sp))
		return !stretch->takes;
	return step_switches(stretch, step) && !step_restores(stretch, step);
}

/*
 * Add a hook for a switch that no hook covers and that cannot be computed: it
 * tells only that control came there.
 */
static void
switch_look(const struct stretch *stretch, size_t i, struct hook **hooks,
	    size_t *n)
{
	uint64_t addr = stretch->steps[i].insn.addr;

	if (!step_leaves(stretch, &stretch->steps[i]) ||
	    !hint_switches(stretch->image, addr, stretch->range))
		return;
	for (size_t k = *n; k && (*hooks)[k - 1].func == stretch->entry; k--)
		if ((*hooks)[k - 1].kind == HOOK_STACK_SWITCH &&
		    addr >= (*hooks)[k - 1].addr && addr <= (*hooks)[k - 1].end)
			return;
	*vec_push(*hooks, *n) = (struct hook){
		.kind = HOOK_STACK_SWITCH,
		.func = stretch->entry,
		.addr = addr,
		.end = addr,
		.depth = DEPTH_UNKNOWN,
	};
}

/* ---- the whole */

void
stretch_switches(struct stretch *stretch, struct hook **hooks, size_t *n)
{
	stretch_look(stretch);
	if (stretch->func && stretch->range->lo == stretch->func->addr)
		stretch_depths(stretch);
	for (size_t i = 0; i < stretch->n; i++) {
		uint8_t kind = stretch->steps[i].insn.kind;

		if (kind == INSN_JUMP_INDIRECT || kind == INSN_RETURN)
			stack_switch_look(stretch, i, hooks, n);
	}
	for (size_t i = 0; i < stretch->n; i++)
		switch_look(stretch, i, hooks, n);
}
