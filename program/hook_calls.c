/*
 * Finds the system calls that matter to the monitor, by their numbers: those
 * that begin programs and threads, that set signal handlers, that map code, or
 * whose number a caller gives.  Pure.
 */
#include <sched.h>
#include <string.h>

#include "program/stretch.h"
#include "util/mem.h"

enum { NAMELESS_MAX = 128 };	/* bytes of a syscall(2); glibc's has 48 */

/* Instead of a constant, which is not negative. */
enum {
	NUMBER_UNKNOWN = -1,
	NUMBER_COPIED = -2,	/* from elsewhere */
	NUMBER_ARGUMENT = -3,	/* from the register of the first argument */
};

/*
 * The constant that step *at pops, which becomes the step that pushes it; or
 * NUMBER_UNKNOWN.
 */
static int64_t
number_pushed(const struct stretch *stretch, size_t *at)
{
	uint32_t sp = UINT32_C(1) << stretch->arch->reg_sp;
	struct effect effect;
	int32_t above = 0;	/* how far the value is above the stack
				   pointer */

	while (*at) {
		const struct insn *insn = &stretch->steps[--*at].insn;

		if (stretch_effect(stretch, insn, &effect) ||
		    insn->kind != INSN_PLAIN || effect.kills & sp ||
		    effect.stores || effect.dst.kind == PLACE_MEM)
			return NUMBER_UNKNOWN;
		above += effect.sp;
		if (above >= 0)
			continue;
		return effect.op == EFFECT_PUSH && above == effect.sp &&
				       effect.imm <= INT32_MAX ?
			       (int64_t)effect.imm :
			       NUMBER_UNKNOWN;
	}
	return NUMBER_UNKNOWN;
}

/* Whether the effect sets the register to a constant. */
static bool
sets_constant(const struct effect *effect, uint8_t reg)
{
	return effect->kills & UINT32_C(1) << reg && effect->op == EFFECT_SUM &&
	       effect->src.reg == REG_NONE && effect->src.index == REG_NONE &&
	       effect->src.disp >= 0;
}

/*
 * The constant in a register before step *at, which becomes the step that sets
 * the register; or NUMBER_UNKNOWN and its like.
 */
static int64_t
number_before(const struct stretch *stretch, size_t *at, uint8_t reg)
{
	struct effect effect;
	size_t i;

	while (*at) {
		i = --*at;
		if (stretch_effect(stretch, &stretch->steps[i].insn, &effect))
			return NUMBER_UNKNOWN;
		if (!(effect.kills & UINT32_C(1) << reg)) {
			if (stretch->steps[i].insn.kind == INSN_PLAIN ||
			    stretch->steps[i].insn.kind == INSN_BRANCH)
				continue;
			return NUMBER_UNKNOWN;
		}
		if (sets_constant(&effect, reg))
			return effect.src.disp;
		if (effect.op == EFFECT_OTHER && effect.sp > 0 &&
		    effect.dst.kind == PLACE_REG && effect.dst.reg == reg &&
		    effect.sp == effect.dst.width)
			return number_pushed(stretch, at);
		if (effect.op != EFFECT_COPY)
			return NUMBER_UNKNOWN;
		return effect.src.kind == PLACE_REG &&
				       effect.src.reg ==
					       stretch->abi->reg_arg[0] ?
			       NUMBER_ARGUMENT :
			       NUMBER_COPIED;
	}
	return NUMBER_UNKNOWN;
}

/* Whether a branch leads between step first and step last, or to `last`. */
static bool
led_between(const struct stretch *stretch, size_t first, size_t last)
{
	uint64_t lo = stretch->steps[first].insn.addr;
	uint64_t hi = stretch->steps[last].insn.addr;

	for (size_t i = 0; i < stretch->n; i++) {
		const struct insn *insn = &stretch->steps[i].insn;

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
clone_traced(const struct stretch *stretch, size_t i, int64_t nr)
{
	size_t first = i;
	int64_t flags;

	if (nr != stretch->abi->nr_clone)
		return false;
	flags = number_before(stretch, &first, stretch->abi->reg_arg[0]);
	return flags >= 0 && !(flags & CLONE_UNTRACED) &&
	       !led_between(stretch, first, i);
}

/*
 * The functions of C libraries (glibc, musl) through which all calls go at
 * which a thread may be cancelled.  These make no threads or processes and set
 * no handlers, and a hook at each would cost too much.
 */
static bool
func_cancels(const struct func *func)
{
	static const char *const names[] = {
		"__syscall_cancel",
		"__syscall_cancel_arch",
		"__internal_syscall_cancel",
		"__syscall_cp_asm",
		"__syscall_cp_c",
		"sccp",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(func->name, names[i]))
			return true;
	return false;
}

/*
 * Whether the function may make a system call that its caller names.  What is
 * stripped has no name: there only what may be syscall(2) is taken for one.
 */
static bool
func_computes(const struct func *func)
{
	if (func && func->origin == FUNC_EH_FRAME)
		return func->size <= NAMELESS_MAX;
	return func && !func_cancels(func);
}

/*
 * Whether the number at step i comes from a register in which the function has
 * a constant, as where it makes the same call more than once.
 */
static bool
copies_constant(const struct stretch *stretch, size_t i)
{
	struct effect effect;
	uint8_t reg;

	number_before(stretch, &i, stretch->abi->reg_nr);
	if (stretch_effect(stretch, &stretch->steps[i].insn, &effect) ||
	    effect.src.kind != PLACE_REG)
		return false;
	reg = effect.src.reg;
	while (i--)
		if (!stretch_effect(stretch, &stretch->steps[i].insn,
				    &effect) &&
		    sets_constant(&effect, reg))
			return true;
	return false;
}

/* Whether the call at a step is the one that the function's caller names. */
static bool
number_computed(const struct stretch *stretch, size_t i, int64_t nr)
{
	const struct func *func = stretch->func;

	if (!func_computes(func))
		return false;
	return nr == NUMBER_ARGUMENT ||
	       (nr == NUMBER_COPIED && func->origin != FUNC_EH_FRAME &&
		!copies_constant(stretch, i));
}

static enum hook_kind
call_kind(const struct stretch *stretch, size_t i, int64_t nr)
{
	const struct abi *abi = stretch->abi;

	if (number_computed(stretch, i, nr))
		return HOOK_CALL;
	if (nr > 0 && nr == abi->nr_sigaction)
		return HOOK_SIGACTION;
	if (nr > 0 && nr == abi->nr_sigprocmask)
		return HOOK_SIGPROCMASK;
	if (nr >= 0 && (nr == abi->nr_clone || nr == abi->nr_clone3))
		return HOOK_CLONE;
	if (nr == abi->nr_exec || nr == abi->nr_execat)
		return HOOK_EXEC;
	return abi_maps(abi, nr) ? HOOK_MAP : HOOK_OTHER_CALL;
}

static bool
kind_wanted(enum hook_kind kind, unsigned wanted)
{
	if (kind == HOOK_EXEC)
		return wanted & HOOKS_EXECS;
	if (kind == HOOK_MAP || kind == HOOK_OTHER_CALL)
		return wanted & HOOKS_MAPS;
	return wanted & HOOKS_CALLS ||
	       (kind == HOOK_CALL && wanted & HOOKS_MAPS);
}

/* Whether the step sets some bytes of the number only. */
static bool
sets_part(const struct stretch *stretch, size_t i)
{
	struct effect effect;

	return stretch_effect(stretch, &stretch->steps[i].insn, &effect) ||
	       (effect.dst.kind == PLACE_REG && effect.dst.width < 4);
}

static void
call_look(const struct stretch *stretch, size_t i, unsigned wanted,
	  struct hook **hooks, size_t *n)
{
	size_t first = i;
	int64_t nr = number_before(stretch, &first, stretch->abi->reg_nr);
	struct hook hook = {
		.kind = call_kind(stretch, i, nr),
		.addr = stretch->steps[i].insn.addr,
		.end = stretch->steps[i].insn.addr,
		.func = stretch->entry,
	};

	if (wanted & HOOKS_MAPS && (nr < 0 || sets_part(stretch, first)))
		hook.kind = HOOK_CALL;
	else if (wanted & HOOKS_MAPS)
		hook.from = stretch->steps[first].insn.addr;
	if (hook.kind == HOOK_CLONE && clone_traced(stretch, i, nr))
		hook.kind = HOOK_OTHER_CALL;
	/* It is one of those wanted now, or no HOOK_MAP. */
	if (wanted & HOOKS_MAPS && !kind_wanted(hook.kind, wanted))
		hook.kind = HOOK_OTHER_CALL;
	if (kind_wanted(hook.kind, wanted))
		*vec_push(*hooks, *n) = hook;
}

bool
stretch_may_call(const struct stretch *stretch, unsigned wanted)
{
	const struct abi *abi = stretch->abi;
	const int numbers[] = {
		abi->nr_exec,	abi->nr_execat,	   abi->nr_clone,
		abi->nr_clone3, abi->nr_sigaction, abi->nr_sigprocmask,
	};

	/* A number that is not known matters. */
	if (func_computes(stretch->func) || wanted & HOOKS_MAPS)
		return true;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (stretch->arch->has_number(stretch->code, stretch->size,
					      (uint32_t)numbers[i]))
			return true;
	return false;
}

void
stretch_calls(const struct stretch *stretch, unsigned wanted,
	      struct hook **hooks, size_t *n)
{
	for (size_t i = 0; i < stretch->n; i++)
		if (stretch->steps[i].insn.kind == INSN_SYSCALL)
			call_look(stretch, i, wanted, hooks, n);
}
