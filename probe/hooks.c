/*
 * The hooks of a plan: those found in proven code, and those that the monitor
 * adds.  Makes graphs only for the few functions that may have hooks.
 */
#include "probe/build.h"
#include "util/mem.h"

/* Drop hooks from number `first` on where no instruction is proven. */
static void
hooks_prove(struct plan *plan, size_t first, const struct cfg *cfg)
{
	size_t n = first;

	for (size_t i = first; i < plan->nhooks; i++) {
		long at = cfg_insn(cfg, plan->hooks[i].addr);
		long end = cfg_insn(cfg, plan->hooks[i].end);

		if (at >= 0 && end >= 0 && cfg_proven(cfg, (size_t)at) &&
		    cfg_proven(cfg, (size_t)end))
			plan->hooks[n++] = plan->hooks[i];
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
		cfg = graph_make(graphs, &(struct graph_wish){
			.ranges = func->ranges, .n = func->nranges,
			.entry = true,
		});
		hooks_prove(plan, first, cfg);
		cfg_free(cfg);
	}
	graphs_close(graphs);
}

void
fplan_hooks(struct build *build, const struct func_plan *fplan)
{
	const struct image *image = build->image;
	struct plan *plan = build->plan;
	/* Without traps only stack switches matter (see fplan_stays). */
	unsigned wanted = (plan->wish.no_traps ? 0 : HOOKS_CALLS) |
			  (plan_infers(plan) ? HOOKS_STACKS : 0);
	size_t first = plan->nhooks;
	struct cfg *cfg;
	const struct func *func = fplan->func == FUNC_NONE ? NULL :
				  &image->funcs[fplan->func];

	for (size_t i = 0; i < fplan->nranges; i++)
		hook_find_in(image, func, &fplan->ranges[i], wanted,
			     &plan->hooks, &plan->nhooks);
	if (plan->nhooks == first)
		return;
	cfg = fplan->cfg ? NULL : fplan_cfg(build, fplan, true);
	hooks_prove(plan, first, cfg ? cfg : fplan->cfg);
	cfg_free(cfg);
}

bool
plan_hooks(struct plan *plan, bool infers)
{
	unsigned wanted = HOOKS_CALLS | (infers ? HOOKS_STACKS : 0);
	size_t first = plan->nhooks;

	wanted &= ~plan->hooked;
	if (plan->wish.sel || plan->wish.no_traps || !wanted)
		return false;
	plan->hooked |= wanted;
	image_hooks(plan->build, wanted);
	hooks_place(plan->build, first);
	return plan->nhooks > first;
}

void
plan_hook(struct plan *plan, const struct hook *hook)
{
	const uint8_t *text;
	struct insn insn;
	size_t avail;
	uint32_t fplan;

	/* No trap may be planted, not even for a hook. */
	if (plan->wish.no_traps)
		return;
	text = image_text(plan->image, hook->addr, &avail);
	if (!text || plan->image->arch->decode(text, avail, hook->addr, &insn))
		return;
	fplan = plan_func(plan, hook->addr);
	*vec_push(plan->hooks, plan->nhooks) = *hook;
	hooks_place(plan->build, plan->nhooks - 1);
	if (fplan != FPLAN_NONE && plan->fplans[fplan].relocated)
		relocated_hook(plan->build, fplan, hook->addr);
}

void
hooks_place(struct build *build, size_t first)
{
	struct plan *plan = build->plan;

	for (size_t i = first; !plan->wish.no_traps && i < plan->nhooks; i++) {
		uint32_t site = build_site(build, plan->hooks[i].addr,
					   FPLAN_NONE);

		plan->sites[site].hook = i + 1;
		plan->sites[site].idle = false;
	}
}
