/*
 * The hooks of a plan: those found in proven code, and those that the monitor
 * adds.  Makes graphs only for the few functions that may have hooks.
 */
#include <stdlib.h>

#include "arch/abi.h"
#include "probe/build.h"
#include "util/addrs.h"
#include "util/mem.h"

/* Whether control comes to an instruction only from one before it. */
static bool
cfg_straight(const struct cfg *cfg, uint64_t from, size_t to)
{
	long first = cfg_insn(cfg, from);
	uint32_t last = cfg_block_of(cfg, (uint32_t)to);

	if (first < 0 || !cfg_proven(cfg, (size_t)first))
		return false;
	for (uint32_t b = cfg_block_of(cfg, (uint32_t)first) + 1; b <= last;
	     b++)
		if (cfg->blocks[b].external || cfg->in[b + 1] - cfg->in[b] > 1)
			return false;
	return true;
}

/*
 * Whether the effect is only to set a register, such that the instruction may be
 * repeated: from nothing that it or an instruction in front of the call, which
 * are known to change `kills`, changes.
 */
static bool
effect_repeats(const struct effect *effect, uint32_t kills)
{
	const struct place *src = &effect->src;
	uint32_t reads = 0;

	if ((effect->op != EFFECT_COPY && effect->op != EFFECT_SUM) ||
	    effect->dst.kind != PLACE_REG || effect->dst.width < 4 ||
	    effect->stores || effect->flags || effect->sp)
		return false;
	if (src->reg != REG_NONE)
		reads |= UINT32_C(1) << src->reg;
	if (src->kind != PLACE_REG && src->index != REG_NONE)
		reads |= UINT32_C(1) << src->index;
	return !(reads & kills);
}

/*
 * Where the instructions begin that a jump may replace before the system call
 * at instruction `at`: struct hook.filter.  The last ones that have room.
 */
static uint64_t
call_filter(const struct build *build, const struct cfg *cfg, size_t at)
{
	const struct image *image = build->image;
	const struct arch *arch = image->arch;
	uint64_t call = cfg->insns[at].addr;
	uint32_t kills = 0;
	struct effect effect;
	const uint8_t *code;
	size_t avail, first = cfg->blocks[cfg_block_of(cfg, at)].first;

	if (cfg->unresolved || !arch->filter_make)
		return 0;
	for (size_t i = at; i-- > first;) {
		const struct insn *insn = &cfg->insns[i];

		code = image_text(image, insn->addr, &avail);
		if (insn->kind != INSN_PLAIN || !code ||
		    insn->addr + insn->len != insn[1].addr ||
		    arch->effect(code, avail, insn->addr, &effect))
			return 0;
		kills |= effect.kills;
		if (!effect_repeats(&effect, kills))
			return 0;
		if (call - insn->addr >= arch->emit.jump_len)
			return insn->addr;
	}
	return 0;
}

/*
 * Whether the instructions from `at` on that a jump would replace are in one
 * block, and the jump is not longer than what there is up to `end`.
 */
static bool
jump_fits(const struct arch *arch, const struct cfg *cfg, size_t at, size_t end)
{
	uint32_t block = cfg_block_of(cfg, (uint32_t)at);

	for (size_t i = at; i < end; i++) {
		const struct insn *insn = &cfg->insns[i];

		if (insn->kind != INSN_PLAIN ||
		    cfg_block_of(cfg, (uint32_t)i) != block ||
		    insn->addr + insn->len != insn[1].addr)
			return false;
		if (insn[1].addr - cfg->insns[at].addr >= arch->emit.jump_len)
			return true;
	}
	return false;
}

/*
 * Whether the code of a stack switch, instructions at to end, can run elsewhere
 * up to the jump, for a trial: struct hook.filter.
 */
static bool
switch_filters(const struct build *build, const struct cfg *cfg, size_t at,
	       size_t end)
{
	const struct arch *arch = build->image->arch;
	struct effect effect;
	size_t avail;

	for (size_t i = at; i < end; i++) {
		const struct insn *insn = &cfg->insns[i];
		const uint8_t *code = image_text(build->image, insn->addr,
						 &avail);

		if (!code || insn->kind != INSN_PLAIN ||
		    insn->addr + insn->len != insn[1].addr ||
		    arch->effect(code, avail, insn->addr, &effect) ||
		    effect.stores)
			return false;
	}
	return arch->switch_make && jump_fits(arch, cfg, at, end);
}

/*
 * Whether the first instructions of a function can run elsewhere.  The jump by
 * which it switches stacks has no known target, but leads out of it.
 */
static bool
entry_filters(const struct build *build, const struct cfg *cfg, size_t at)
{
	const struct arch *arch = build->image->arch;

	return arch->entry_make && jump_fits(arch, cfg, at, cfg->ninsns - 1);
}

static uint64_t
hook_filters(const struct build *build, const struct cfg *cfg,
	     const struct hook *hook, size_t at, size_t end)
{
	switch (hook->kind) {
	case HOOK_CALL:
	case HOOK_SIGACTION:
		return call_filter(build, cfg, at);
	case HOOK_STACK_SWITCH:
		return hook->depth >= 0 && switch_filters(build, cfg, at, end) ?
			       hook->addr :
			       0;
	case HOOK_ENTRY:
		return entry_filters(build, cfg, at) ? hook->addr : 0;
	default:
		return 0;
	}
}

/*
 * Whether the system call at an instruction has always the same number, and
 * does not matter: its number may come from a register that was set before a
 * loop, as that of glibc's calls of futex.
 */
static bool
call_is_other(const struct build *build, struct graphs *graphs,
	      const struct cfg *cfg, size_t insn)
{
	const struct abi *abi = abi_find(build->image->arch);
	int numbers[ABI_MATTER];
	size_t n = abi_matter(abi, numbers);
	uint64_t value;

	if (!graph_constant(graphs, cfg, insn, abi->reg_nr, &value))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((uint32_t)value == (uint32_t)numbers[i])
			return false;
	return true;
}

/*
 * Drop hooks from number `first` on where no instruction is proven, and system
 * calls that need none.
 */
static void
hooks_prove(struct build *build, struct graphs *graphs, size_t first,
	    const struct cfg *cfg)
{
	struct plan *plan = build->plan;
	size_t n = first;

	for (size_t i = first; i < plan->nhooks; i++) {
		struct hook *hook = &plan->hooks[i];
		long at = cfg_insn(cfg, hook->addr);
		long end = cfg_insn(cfg, hook->end);

		if (at < 0 || end < 0 || !cfg_proven(cfg, (size_t)at) ||
		    !cfg_proven(cfg, (size_t)end))
			continue;
		if (hook->from && !cfg_straight(cfg, hook->from, (size_t)at))
			hook->kind = HOOK_CALL;
		if (hook->kind == HOOK_CALL &&
		    call_is_other(build, graphs, cfg, (size_t)at))
			hook->kind = HOOK_OTHER_CALL;
		hook->filter = hook_filters(build, cfg, hook, (size_t)at,
					    (size_t)end);
		if (cfg->insns[at].kind == INSN_SYSCALL)
			*vec_push(build->calls, build->ncalls) = hook->addr;
		if (hook->kind != HOOK_OTHER_CALL)
			plan->hooks[n++] = *hook;
	}
	plan->nhooks = n;
}

void
image_hooks(struct build *build, unsigned wanted)
{
	const struct image *image = build->image;
	struct plan *plan = build->plan;
	struct graphs *graphs = graphs_open(image);

	for (size_t i = 0; i < image->nfuncs; i++) {
		const struct func *func = &image->funcs[i];
		size_t first = plan->nhooks;
		struct cfg *cfg;

		hook_find(image, func, wanted, &plan->hooks, &plan->nhooks);
		if (plan->nhooks == first)
			continue;
		cfg = graph_make(graphs, &(struct graph_input){
						 .ranges = func->ranges,
						 .n = func->nranges,
						 .entry = true,
					 });
		hooks_prove(build, graphs, first, cfg);
		cfg_free(cfg);
	}
	graphs_close(graphs);
}

unsigned
hooks_wanted(const struct plan *plan)
{
	/* Without traps only stack switches matter (see fplan_stays). */
	return (plan->options.no_traps ? 0 : HOOKS_CALLS) |
	       (plan->options.maps ? HOOKS_MAPS : 0) | plan_follows(plan);
}

void
fplan_hooks(struct build *build, const struct func_plan *fplan, unsigned wanted)
{
	const struct image *image = build->image;
	struct plan *plan = build->plan;
	size_t first = plan->nhooks;
	struct cfg *cfg;
	const struct func *func = fplan_func(fplan, image);

	for (size_t i = 0; i < fplan->nranges; i++)
		hook_find_in(image, func, &fplan->ranges[i], wanted,
			     &plan->hooks, &plan->nhooks);
	if (plan->nhooks == first)
		return;
	cfg = fplan->cfg ? NULL : fplan_cfg(build, fplan, true);
	hooks_prove(build, build->graphs, first, cfg ? cfg : fplan->cfg);
	cfg_free(cfg);
}

bool
plan_hooks_wait(const struct plan *plan, uint32_t index)
{
	const struct func_plan *fplan = &plan->fplans[index];
	const struct func *func = fplan_func(fplan, plan->image);
	struct hook *hooks = NULL;
	size_t n = 0;

	if (fplan->state != FPLAN_WAITING || !(fplan->units & UNITS_GRAPH))
		return false;
	for (size_t i = 0; i < fplan->nranges; i++)
		hook_find_in(plan->image, func, &fplan->ranges[i],
			     plan_follows(plan), &hooks, &n);
	free(hooks);
	return n;
}

void
plan_know_hooks(struct plan *plan, struct hook *hooks, size_t n,
		bool maps_unseen)
{
	must(plan->image->unsearched && !plan->hooked && !plan->options.sel);
	plan->known = hooks;
	plan->nknown = n;
	plan->maps_unseen = maps_unseen;
}

/* By which searches a hook of this kind is found. */
static unsigned
kind_searches(enum hook_kind kind)
{
	switch (kind) {
	case HOOK_STACK_SWITCH:
	case HOOK_ENTRY:
		return HOOKS_SWITCHES;
	case HOOK_EXEC:
		return HOOKS_EXECS;
	case HOOK_MAP:
		return HOOKS_MAPS;
	default:
		return HOOKS_CALLS;
	}
}

/* Take the wanted ones of those that are known. */
static void
hooks_take(struct plan *plan, unsigned wanted)
{
	for (size_t i = 0; i < plan->nknown; i++)
		if (kind_searches(plan->known[i].kind) & wanted)
			*vec_push(plan->hooks, plan->nhooks) = plan->known[i];
}

bool
plan_hooks(struct plan *plan, unsigned follows)
{
	unsigned wanted = HOOKS_CALLS | follows |
			  (plan->options.maps ? HOOKS_MAPS : 0);
	size_t first = plan->nhooks;

	wanted &= ~plan->hooked;
	if (plan->options.sel || plan->options.no_traps || !wanted)
		return false;
	plan->hooked |= wanted;
	if (plan->image->unsearched)
		hooks_take(plan, wanted);
	else
		image_hooks(plan->build, wanted);
	hooks_place(plan->build, first);
	if (wanted & HOOKS_MAPS && !plan->image->unsearched)
		hooks_miss(plan->build);
	return plan->nhooks > first;
}

/* ---- system calls that have no hook */

/* The graph that was asked for last: hints of one function are neighbours. */
struct around {
	struct graphs *graphs;
	const struct func *func;
	uint32_t fplan;
	struct cfg *cfg;	/* owned; or NULL */
};

/* Set around->cfg to the graph of the function around addr. */
static void
around_find(struct build *build, struct around *around, uint64_t addr)
{
	const struct plan *plan = build->plan;
	const struct func *func = image_func(build->image, addr);
	uint32_t fplan = plan->nfplans ? plan_func(plan, addr) : FPLAN_NONE;

	if (around->cfg && around->func == func && around->fplan == fplan)
		return;
	cfg_free(around->cfg);
	around->cfg = NULL;
	around->func = func;
	around->fplan = fplan;
	if (fplan != FPLAN_NONE)
		around->cfg = fplan_cfg(build, &plan->fplans[fplan], true);
	else if (func)
		around->cfg = graph_make(around->graphs,
					 &(struct graph_input){
						 .ranges = func->ranges,
						 .n = func->nranges,
						 .entry = true,
					 });
}

/* Whether addr is in the middle of an instruction that is proven. */
static bool
cfg_within(const struct cfg *cfg, uint64_t addr)
{
	size_t i = cfg_insn_from(cfg, addr);

	if (!i || (i < cfg->ninsns && cfg->insns[i].addr == addr))
		return false;
	return addr - cfg->insns[i - 1].addr < cfg->insns[i - 1].len &&
	       cfg_proven(cfg, i - 1);
}

/*
 * Whether the bytes before a hint may load the number of a call that maps.
 * Where no function is, nor a graph, nothing else tells data from code.
 */
static bool
hint_maps(const struct image *image, uint64_t addr)
{
	const struct abi *abi = abi_find(image->arch);
	const int maps[] = {
		abi->nr_mmap,	abi->nr_munmap,	       abi->nr_mprotect,
		abi->nr_mremap, abi->nr_pkey_mprotect,
	};
	size_t before = HINT_CONTEXT, avail;
	const uint8_t *code;

	while (!(code = image_text(image, addr - before, &avail)) && before)
		before /= 2;
	if (!code || avail < before)
		return true;
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		if (image->arch->has_number(code, before, (uint32_t)maps[i]))
			return true;
	return false;
}

void
hooks_miss(struct build *build)
{
	const struct image *image = build->image;
	struct plan *plan = build->plan;
	struct around around = { .graphs = graphs_open(image) };

	addrs_sort(build->calls, build->ncalls);
	for (size_t i = 0; i < image->nhints && !plan->maps_unseen; i++) {
		const struct hint *hint = &image->hints[i];

		if (hint->kind != HINT_SYSCALL ||
		    addrs_has(build->calls, build->ncalls, hint->addr) ||
		    !hint_maps(image, hint->addr))
			continue;
		around_find(build, &around, hint->addr);
		plan->maps_unseen = !around.cfg ||
				    !cfg_within(around.cfg, hint->addr);
	}
	cfg_free(around.cfg);
	graphs_close(around.graphs);
	free(build->calls);
	build->calls = NULL;
	build->ncalls = 0;
}

void
plan_hook(struct plan *plan, const struct hook *hook)
{
	const uint8_t *text;
	struct insn insn;
	size_t avail;
	uint32_t fplan;

	/* No trap may be planted, not even for a hook. */
	if (plan->options.no_traps)
		return;
	text = image_text(plan->image, hook->addr, &avail);
	if (!text || plan->image->arch->decode(text, avail, hook->addr, &insn))
		return;
	fplan = plan_func(plan, hook->addr);
	*vec_push(plan->hooks, plan->nhooks) = *hook;
	hooks_place(plan->build, plan->nhooks - 1);
	if (fplan != FPLAN_NONE && plan->fplans[fplan].relocated)
		relocated_hook(plan->build, fplan, hook->addr);
	else
		/* Its site may have been idle, without a trap. */
		*vec_push(plan->woken, plan->nwoken) =
			(uint32_t)(plan_site(plan, hook->addr) - plan->sites);
}

void
hooks_place(struct build *build, size_t first)
{
	struct plan *plan = build->plan;

	for (size_t i = first; !plan->options.no_traps && i < plan->nhooks;
	     i++) {
		uint32_t site = build_site(build, plan->hooks[i].addr,
					   FPLAN_NONE);
		uint32_t there = plan->sites[site].hook;

		/* A HOOK_CALL does whatever hooks at system calls do. */
		if (!there || plan->hooks[there - 1].kind != HOOK_CALL)
			plan->sites[site].hook = i + 1;
		plan->sites[site].idle = false;
	}
}
