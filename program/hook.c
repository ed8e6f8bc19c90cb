/*
 * Finds where code leaves its stack: a move into the stack pointer that does
 * not take down the function's own frame, followed by a jump or return.
 * Between the place where the old stack can still be walked and that jump, the
 * code only loads registers, so the monitor can compute their new values before
 * anything is lost.  Pure.
 */
#include "program/hook.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum {
	CODE_MAX = SPARSE_REACH,
	DEPTH_UNKNOWN = -1,
	AWAY_MAX = 64,	/* instructions between a switch and its jump */
	NAMELESS_MAX = 128,	/* bytes of a syscall(2); glibc's has 48 */
};

struct step {
	struct insn insn;
	struct effect effect;	/* if stack switches are looked for */
	bool target;		/* of a jump or branch */
	bool reached;		/* the depth is final */
	int32_t depth;		/* bytes pushed since the entry */
};

/* One stretch of code, decoded from its beginning to its end. */
struct stretch {
	const struct arch *arch;
	const struct abi *abi;
	uint64_t func;		/* entry of the function around it */
	uint64_t addr;
	const uint8_t *code;
	size_t size;
	struct step *steps;
	size_t n;
	uint32_t *index;	/* offset -> step + 1, 0: none begins there */
	uint32_t frame;		/* registers to which the stack pointer is
				   copied: 1 << register */
	uint32_t saved;		/* registers loaded from the frame, so perhaps
				   with a saved stack pointer */
};

/* ---- decoding */

/*
 * Whether the step's effect on registers can be computed.  Instructions without
 * an effect on general registers and memory (fldenv, ldmxcsr) need no
 * emulation.
 */
static bool
step_modelled(const struct stretch *piece, const struct step *step)
{
	const struct arch *arch = piece->arch;
	uint64_t at = step->insn.addr - piece->addr;
	struct emul emul;

	if (step->insn.kind != INSN_PLAIN &&
	    step->insn.kind != INSN_JUMP_INDIRECT &&
	    step->insn.kind != INSN_RETURN)
		return false;
	if (!arch->emul_prepare(piece->code + at, piece->size - at,
				step->insn.addr, &emul))
		return true;
	return step->insn.kind == INSN_PLAIN && !step->effect.kills &&
	       !step->effect.stores && !step->effect.sp &&
	       step->effect.dst.kind != PLACE_MEM;
}

static int
step_effect(const struct stretch *piece, const struct insn *insn,
	    struct effect *effect)
{
	uint64_t at = insn->addr - piece->addr;

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
				 piece->addr + at, &step->insn) ||
		    (effects &&
		     step_effect(piece, &step->insn, &step->effect))) {
			piece->n--;
			break;
		}
		piece->index[at] = (uint32_t)piece->n;
		at += step->insn.len;
	}
}

static struct step *
piece_step(const struct stretch *piece, uint64_t addr)
{
	uint64_t offset = addr - piece->addr;

	if (offset >= piece->size || !piece->index[offset])
		return NULL;
	return &piece->steps[piece->index[offset] - 1];
}

static void
piece_look(struct stretch *piece)
{
	uint8_t sp = piece->arch->reg_sp;

	piece->frame = UINT32_C(1) << sp |
		       UINT32_C(1) << piece->arch->reg_fp;
	for (size_t i = 0; i < piece->n; i++) {
		const struct effect *effect = &piece->steps[i].effect;
		const struct insn *insn = &piece->steps[i].insn;
		struct step *to;

		if (insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH) {
			to = piece_step(piece, insn->target);
			if (to)
				to->target = true;
		}
		if ((effect->op == EFFECT_COPY || effect->op == EFFECT_SUM) &&
		    effect->dst.kind == PLACE_REG && effect->src.reg == sp &&
		    (effect->op == EFFECT_SUM || effect->src.kind == PLACE_REG))
			piece->frame |= UINT32_C(1) << effect->dst.reg;
		if (effect->op == EFFECT_COPY &&
		    effect->dst.kind == PLACE_REG &&
		    effect->src.kind == PLACE_MEM &&
		    effect->src.reg != REG_NONE &&
		    piece->frame & UINT32_C(1) << effect->src.reg)
			piece->saved |= UINT32_C(1) << effect->dst.reg;
	}
}

/* ---- how deep the stack is */

struct work {
	struct step **todo, **calls;
	size_t ntodo, ncalls;
};

static void
depth_to(const struct stretch *piece, struct work *work, uint64_t addr,
	 int32_t depth, bool after_call)
{
	struct step *step = piece_step(piece, addr);

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
depth_step(const struct stretch *piece, struct work *work,
	   const struct step *step)
{
	const struct insn *insn = &step->insn;
	uint8_t sp = piece->arch->reg_sp;
	int32_t depth = step->depth;
	bool call = insn->kind == INSN_CALL || insn->kind == INSN_CALL_INDIRECT;

	if (step->effect.kills & UINT32_C(1) << sp)
		return;
	depth -= step->effect.sp;
	if (insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH)
		depth_to(piece, work, insn->target, depth, false);
	if (insn->kind == INSN_PLAIN || insn->kind == INSN_BRANCH ||
	    insn->kind == INSN_SYSCALL || call)
		depth_to(piece, work, insn->addr + insn->len, depth, call);
}

/*
 * Find the depth at each step, as far as possible.  A call may not return, and
 * then the depth behind it may be meaningless: go on from there only where no
 * other way leads.
 */
static void
piece_depths(struct stretch *piece)
{
	struct work work = { 0 };
	struct step *step;

	depth_to(piece, &work, piece->addr, 0, false);
	while (work.ntodo || work.ncalls) {
		if (work.ntodo) {
			step = work.todo[--work.ntodo];
		} else {
			step = work.calls[--work.ncalls];
			if (step->reached)
				continue;
			step->reached = true;
		}
		depth_step(piece, &work, step);
	}
	free(work.todo);
	free(work.calls);
}

/* ---- stack switches */

/* Whether the step may load a value that the function saved in its frame. */
static bool
step_restores(const struct stretch *piece, const struct step *step)
{
	const struct place *src = &step->effect.src;

	return (src->kind == PLACE_REG || step->effect.op == EFFECT_SUM) &&
	       piece->saved & UINT32_C(1) << src->reg;
}

/* Whether the step sets the stack pointer to a place outside the frame. */
static bool
step_switches(const struct stretch *piece, const struct step *step)
{
	const struct effect *effect = &step->effect;
	uint8_t sp = piece->arch->reg_sp;

	if (effect->op != EFFECT_COPY && effect->op != EFFECT_SUM)
		return false;
	if (effect->dst.kind != PLACE_REG || effect->dst.reg != sp ||
	    effect->dst.width != 8)
		return false;
	/* A variable's value is one, a constant is not. */
	if (effect->src.reg == REG_NONE)
		return effect->op == EFFECT_COPY &&
		       effect->src.kind == PLACE_MEM;
	if (effect->op == EFFECT_SUM && step_restores(piece, step))
		return false;
	return !(piece->frame & UINT32_C(1) << effect->src.reg);
}

/* Whether a stack pointer loaded from `first` on still holds at the jump. */
static bool
switch_holds(const struct stretch *piece, size_t first, size_t last)
{
	uint32_t sp = UINT32_C(1) << piece->arch->reg_sp;
	bool holds = false;

	for (size_t i = first; i < last; i++) {
		const struct step *step = &piece->steps[i];

		if (step_switches(piece, step))
			holds = true;
		else if (step->effect.kills & sp)
			holds = false;
	}
	return holds;
}

/* Whether the straight-line code before the jump switches stacks. */
static bool
switch_before(const struct stretch *piece, size_t last)
{
	const struct step *steps = piece->steps;

	for (size_t i = last; i && !steps[i].target &&
	     steps[i - 1].insn.kind == INSN_PLAIN; i--)
		if (step_switches(piece, &steps[i - 1]))
			return true;
	return false;
}

/* Preserved registers that steps before `first` and after `last` change. */
static uint32_t
piece_changes(const struct stretch *piece, size_t first, size_t last)
{
	uint32_t changed = 0;

	for (size_t i = 0; i < piece->n; i++)
		if (i < first || i > last)
			changed |= piece->steps[i].effect.kills;
	return changed & piece->abi->preserved;
}

static void
entry_add(const struct stretch *piece, struct hook **hooks, size_t *n)
{
	for (size_t k = *n; k && (*hooks)[k - 1].func == piece->func; k--)
		if ((*hooks)[k - 1].kind == HOOK_ENTRY)
			return;
	*vec_push(*hooks, *n) = (struct hook){
		.kind = HOOK_ENTRY,
		.addr = piece->func,
		.end = piece->func,
		.func = piece->func,
	};
}

static void
stack_switch_look(const struct stretch *piece, size_t last, struct hook **hooks,
		  size_t *n)
{
	const struct step *steps = piece->steps;
	struct hook hook = { .kind = HOOK_STACK_SWITCH, .func = piece->func };
	size_t first = last;

	if (!switch_before(piece, last) || !step_modelled(piece, &steps[last]))
		return;
	while (first && !steps[first].target &&
	       steps[first - 1].insn.kind == INSN_PLAIN &&
	       step_modelled(piece, &steps[first - 1]))
		first--;
	if (!switch_holds(piece, first, last))
		return;
	hook.addr = steps[first].insn.addr;
	hook.end = steps[last].insn.addr;
	hook.depth = steps[first].depth;
	hook.changed = piece_changes(piece, first, last);
	if (hook.depth)
		entry_add(piece, hooks, n);
	*vec_push(*hooks, *n) = hook;
}

/* ---- system calls */

/* Instead of a constant, which is not negative. */
enum {
	NUMBER_UNKNOWN = -1,
	NUMBER_COPIED = -2,	/* from elsewhere */
	NUMBER_ARGUMENT = -3,	/* from the register of the first argument */
};

/*
 * The constant in a register before step *at, which becomes the step that sets
 * the register; or NUMBER_UNKNOWN and its like.
 */
static int64_t
number_before(const struct stretch *piece, size_t *at, uint8_t reg)
{
	struct effect effect;
	size_t i;

	while (*at) {
		i = --*at;
		if (step_effect(piece, &piece->steps[i].insn, &effect))
			return NUMBER_UNKNOWN;
		if (!(effect.kills & UINT32_C(1) << reg)) {
			if (piece->steps[i].insn.kind == INSN_PLAIN ||
			    piece->steps[i].insn.kind == INSN_BRANCH)
				continue;
			return NUMBER_UNKNOWN;
		}
		if (effect.op == EFFECT_SUM && effect.src.reg == REG_NONE &&
		    effect.src.index == REG_NONE)
			return effect.src.disp < 0 ? NUMBER_UNKNOWN :
			       effect.src.disp;
		if (effect.op != EFFECT_COPY)
			return NUMBER_UNKNOWN;
		return effect.src.kind == PLACE_REG &&
		       effect.src.reg == piece->abi->reg_arg[0] ?
		       NUMBER_ARGUMENT : NUMBER_COPIED;
	}
	return NUMBER_UNKNOWN;
}

/* Whether a branch leads between step first and step last, or to `last`. */
static bool
led_between(const struct stretch *piece, size_t first, size_t last)
{
	uint64_t lo = piece->steps[first].insn.addr;
	uint64_t hi = piece->steps[last].insn.addr;

	for (size_t i = 0; i < piece->n; i++) {
		const struct insn *insn = &piece->steps[i].insn;

		if ((insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH) &&
		    insn->target > lo && insn->target <= hi)
			return true;
	}
	return false;
}

/*
 * Whether the clone at a step always makes children that can be traced.  Then
 * it needs no hook, as in glibc's fork.
 */
static bool
clone_traced(const struct stretch *piece, size_t i, int64_t nr)
{
	size_t first = i;
	int64_t flags;

	if (nr != piece->abi->nr_clone)
		return false;
	flags = number_before(piece, &first, piece->abi->reg_arg[0]);
	return flags >= 0 && !(flags & CLONE_UNTRACED) &&
	       !led_between(piece, first, i);
}

/* Whether the function may be syscall(2): what is stripped has no name. */
static bool
func_computes(const struct func *func)
{
	if (func && func->origin == FUNC_EH_FRAME)
		return func->size <= NAMELESS_MAX;
	return func && !strcmp(func->name, "syscall");
}

/* Whether the function makes the system call that its caller names. */
static bool
number_computed(const struct func *func, int64_t nr)
{
	return func_computes(func) &&
	       (nr == NUMBER_ARGUMENT ||
		(nr == NUMBER_COPIED && func->origin != FUNC_EH_FRAME));
}

static void
call_look(const struct stretch *piece, const struct func *func, size_t i,
	  unsigned wanted, struct hook **hooks, size_t *n)
{
	size_t first = i;
	int64_t nr = number_before(piece, &first, piece->abi->reg_nr);
	struct hook hook = {
		.kind = HOOK_EXEC,
		.addr = piece->steps[i].insn.addr,
		.end = piece->steps[i].insn.addr,
		.func = piece->func,
	};

	if (number_computed(func, nr))
		hook.kind = HOOK_CALL;
	else if (nr > 0 && nr == piece->abi->nr_sigaction)
		hook.kind = HOOK_SIGACTION;
	else if (nr >= 0 && (nr == piece->abi->nr_clone ||
			     nr == piece->abi->nr_clone3))
		hook.kind = HOOK_CLONE;
	else if (nr != piece->abi->nr_exec && nr != piece->abi->nr_execat)
		return;
	if (!(wanted & (hook.kind == HOOK_EXEC ? HOOKS_STACKS : HOOKS_CALLS)) ||
	    (hook.kind == HOOK_CLONE && clone_traced(piece, i, nr)))
		return;
	*vec_push(*hooks, *n) = hook;
}

/*
 * Whether the code at addr leads to an indirect jump or return without a call
 * and without changing the stack pointer.  *budget is how many more
 * instructions to look at.
 */
static bool
leads_away(const struct image *image, uint64_t addr,
	   const struct range *range, unsigned *budget)
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
		if (insn.kind == INSN_JUMP_INDIRECT ||
		    insn.kind == INSN_RETURN)
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

/* The same behind a hint, which may load the stack pointer. */
static bool
hint_leads(const struct image *image, uint64_t addr, const struct range *range)
{
	unsigned budget = AWAY_MAX;
	const uint8_t *text;
	struct insn insn;
	size_t avail;

	text = image_text(image, addr, &avail);
	return text && !image->arch->decode(text, avail, addr, &insn) &&
	       insn.kind == INSN_PLAIN &&
	       leads_away(image, addr + insn.len, range, &budget);
}

/*
 * Add a hook for a switch that no hook covers and that cannot be computed: it
 * tells only that control came there.
 */
static void
switch_look(const struct image *image, const struct stretch *piece,
	    const struct range *range, size_t i, struct hook **hooks,
	    size_t *n)
{
	uint64_t addr = piece->steps[i].insn.addr;

	if (!step_switches(piece, &piece->steps[i]) ||
	    step_restores(piece, &piece->steps[i]) ||
	    !hint_leads(image, addr, range))
		return;
	for (size_t k = *n; k && (*hooks)[k - 1].func == piece->func; k--)
		if ((*hooks)[k - 1].kind == HOOK_STACK_SWITCH &&
		    addr >= (*hooks)[k - 1].addr && addr <= (*hooks)[k - 1].end)
			return;
	*vec_push(*hooks, *n) = (struct hook){
		.kind = HOOK_STACK_SWITCH, .func = piece->func,
		.addr = addr, .end = addr, .depth = DEPTH_UNKNOWN,
	};
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
			*switches = hint_leads(image, hint->addr, range);
	}
}

/* Whether the code contains the number of a system call of interest. */
static bool
piece_calls(const struct stretch *piece, const struct func *func)
{
	const struct abi *abi = piece->abi;
	const int wanted[] = {
		abi->nr_exec, abi->nr_execat, abi->nr_clone, abi->nr_clone3,
		abi->nr_sigaction,
	};

	if (func_computes(func))
		return true;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (piece->arch->has_number(piece->code, piece->size,
					    (uint32_t)wanted[i]))
			return true;
	return false;
}

/* ---- the whole */

void
hook_find_in(const struct image *image, const struct func *func,
	     const struct range *range, unsigned wanted, struct hook **hooks,
	     size_t *n)
{
	const struct arch *arch = image->arch;
	bool switches, calls;
	struct stretch piece = {
		.arch = arch, .abi = abi_find(arch),
		.func = arch->first(func ? func->addr : range->lo),
		.addr = range->lo,
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
	if (!switches && !piece_calls(&piece, func))
		return;
	piece.index = mem_alloc(piece.size * sizeof(*piece.index));
	piece_decode(&piece, switches);
	if (switches)
		piece_look(&piece);
	if (switches && func && range->lo == func->addr)
		piece_depths(&piece);
	for (size_t i = 0; i < piece.n; i++) {
		uint8_t kind = piece.steps[i].insn.kind;

		if (switches &&
		    (kind == INSN_JUMP_INDIRECT || kind == INSN_RETURN))
			stack_switch_look(&piece, i, hooks, n);
		if (kind == INSN_SYSCALL)
			call_look(&piece, func, i, wanted, hooks, n);
	}
	for (size_t i = 0; switches && i < piece.n; i++)
		switch_look(image, &piece, range, i, hooks, n);
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
