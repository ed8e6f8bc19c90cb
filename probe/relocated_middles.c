/*
 * The middles of relocated functions: the traps that lead into a relocated
 * function where control comes to its original over no entry patch.  Decides
 * which patches make room for them, or that the function is lost.
 */
#include <stdlib.h>

#include "probe/build.h"
#include "relocate/pc_map.h"
#include "relocate/relocate.h"
#include "util/mem.h"

static bool
overlaps(uint64_t at, uint64_t len, uint64_t lo, uint64_t size)
{
	return at < lo + size && lo < at + len;
}

/* How many bytes the entry patch has at its address. */
static unsigned
entry_patch_len(const struct arch *arch, const struct entry_patch *entry_patch)
{
	switch ((enum entry_patch_via)entry_patch->via) {
	case VIA_JUMP:
	case VIA_SPRING:
		return arch->emit.jump_len;
	case VIA_CHAIN:
		return arch->emit.chain_len;
	default:
		return arch->trap_len;
	}
}

/* Whether a trap at addr would overlap the entry patch. */
static bool
entry_patch_covers(const struct arch *arch,
		   const struct entry_patch *entry_patch, uint64_t addr)
{
	return overlaps(addr, arch->trap_len, entry_patch->addr,
			entry_patch_len(arch, entry_patch)) ||
	       (entry_patch->via == VIA_CHAIN &&
		overlaps(addr, arch->trap_len, entry_patch->landing,
			 arch->emit.jump_len));
}

/* Mark the instructions, per index, that begin in [lo, hi). */
static void
insns_mark(const struct cfg *cfg, uint64_t lo, uint64_t hi, bool *marks)
{
	for (size_t i = cfg_insn_from(cfg, lo);
	     i < cfg->ninsns && cfg->insns[i].addr < hi; i++)
		marks[i] = true;
}

/*
 * Whether the instruction is to have a trap if no patch covers it: only the
 * relocated function runs it, and a jump with unknown targets may lead there.
 */
static bool
middle_guarded(const struct plan *plan, const struct func_plan *fplan,
	       size_t insn)
{
	uint64_t addr = fplan->cfg->insns[insn].addr;

	return fplan->cfg->unresolved && !plan->options.no_traps &&
	       fplan->units & ~(1U << UNIT_FUNC) &&
	       cfg_proven(fplan->cfg, insn) &&
	       relocated_offset(fplan->relocated, addr) >= 0 &&
	       !relocated_stays(fplan->relocated, addr);
}

void
relocated_middles(struct build *build, uint32_t index)
{
	struct plan *plan = build->plan;
	const struct func_plan *fplan = &plan->fplans[index];
	const struct relocated *relocated = fplan->relocated;
	const struct arch *arch = build->image->arch;
	const struct cfg *cfg = fplan->cfg;
	bool *covered;

	if (!cfg->unresolved)
		return;
	covered = mem_alloc(cfg->ninsns * sizeof(*covered));
	for (uint32_t i = 0; i < relocated->nentry_patches; i++) {
		const struct entry_patch *patch = &relocated->entry_patches[i];

		insns_mark(cfg, patch->addr,
			   patch->addr + entry_patch_len(arch, patch), covered);
		if (patch->via == VIA_CHAIN)
			insns_mark(cfg, patch->landing,
				   patch->landing + arch->emit.jump_len,
				   covered);
	}
	for (size_t i = 0; i < cfg->ninsns; i++) {
		uint32_t site;

		if (covered[i] || !middle_guarded(plan, fplan, i))
			continue;
		site = build_site(build, cfg->insns[i].addr, index);
		plan->sites[site].idle = false;
		plan->sites[site].leads = true;
	}
	free(covered);
}

/*
 * Make a trap at addr, which leads into the relocated function if `leads` is
 * set.  Its site may have been idle before.
 */
static void
trap_make(struct build *build, uint32_t index, uint64_t addr, bool leads)
{
	struct plan *plan = build->plan;
	uint32_t site = build_site(build, addr, index);

	/* A site for a hook alone has no function plan yet. */
	if (leads)
		plan->sites[site].fplan = index;
	plan->sites[site].idle = false;
	plan->sites[site].leads = leads;
	*vec_push(plan->woken, plan->nwoken) = site;
}

/*
 * Turn an entry patch into a trap, which covers fewer bytes.  A jump with
 * unknown targets may lead to the others.
 */
static void
entry_patch_reopen(struct build *build, uint32_t index,
		   struct entry_patch *entry_patch)
{
	struct plan *plan = build->plan;
	struct func_plan *fplan = &plan->fplans[index];
	unsigned len = entry_patch_len(build->image->arch, entry_patch);

	*vec_push(fplan->former, fplan->nformer) = *entry_patch;
	*vec_push(plan->reopened, plan->nreopened) = index;
	entry_patch->via = VIA_TRAP;
	trap_make(build, index, entry_patch->addr, true);
	for (size_t i = cfg_insn_from(fplan->cfg, entry_patch->addr + 1);
	     i < fplan->cfg->ninsns &&
	     fplan->cfg->insns[i].addr < entry_patch->addr + len;
	     i++)
		if (middle_guarded(plan, fplan, i))
			trap_make(build, index, fplan->cfg->insns[i].addr,
				  true);
}

/*
 * Whether a block with a probe begins at addr: a trap there would lead past the
 * probe.
 */
static bool
addr_probed(const struct func_plan *fplan, uint64_t addr)
{
	long block = cfg_block(fplan->cfg, addr);

	return block != BLOCK_NONE &&
	       relocated_probe(fplan->relocated,
			       arc_of_block(fplan->flow,
					    FLOW_BLOCK + (uint32_t)block));
}

/*
 * Whether the function plan has the graph of its beginning alone, and target is
 * behind that: there nothing is changed.
 */
static bool
beginning_expects(const struct func_plan *fplan, uint64_t target)
{
	const struct cfg *cfg = fplan->cfg;
	const struct insn *last = &cfg->insns[cfg->ninsns - 1];

	return fplan->partial && (target < cfg->insns[0].addr ||
				  target >= last->addr + last->len);
}

/*
 * Code that is counted in the relocated function must not run in the original:
 * a trap leads control away from there.  Code that runs in the original anyway
 * may be entered if nothing is derived.
 */
void
relocated_mid_entry(struct build *build, uint32_t index, uint64_t target)
{
	struct plan *plan = build->plan;
	struct func_plan *fplan = &plan->fplans[index];
	bool in_relocated = relocated_offset(fplan->relocated, target) >= 0 &&
			    !relocated_stays(fplan->relocated, target);

	if (fplan->lost || relocated_entry_patch(fplan->relocated, target) ||
	    beginning_expects(fplan, target))
		return;
	if (cfg_insn(fplan->cfg, target) < 0 || addr_probed(fplan, target) ||
	    (in_relocated && plan->options.no_traps) ||
	    (!in_relocated && fplan->units & ~(1U << UNIT_FUNC))) {
		fplan->lost = true;
		*vec_push(plan->reverted, plan->nreverted) = index;
		return;
	}
	if (!in_relocated)
		return;
	for (uint32_t i = 0; i < fplan->relocated->nentry_patches; i++)
		if (entry_patch_covers(build->image->arch,
				       &fplan->relocated->entry_patches[i],
				       target))
			entry_patch_reopen(build, index,
					   &fplan->relocated->entry_patches[i]);
	trap_make(build, index, target, true);
}

void
plan_unspring(struct plan *plan, uint32_t index, uint64_t addr)
{
	struct func_plan *fplan = &plan->fplans[index];

	if (fplan->units & ~(1U << UNIT_FUNC)) {
		relocated_mid_entry(plan->build, index, addr);
		return;
	}
	for (uint32_t i = 0; i < fplan->relocated->nentry_patches; i++)
		if (fplan->relocated->entry_patches[i].via == VIA_SPRING)
			entry_patch_reopen(plan->build, index,
					   &fplan->relocated->entry_patches[i]);
}

void
plan_enter(struct plan *plan, uint64_t addr)
{
	uint32_t fplan = plan_func(plan, addr);
	const struct relocated *relocated =
		fplan == FPLAN_NONE ? NULL : plan->fplans[fplan].relocated;

	if (relocated && !plan->options.no_traps &&
	    relocated_offset(relocated, addr) >= 0)
		relocated_mid_entry(plan->build, fplan, addr);
}

void
relocated_hook(struct build *build, uint32_t index, uint64_t addr)
{
	struct func_plan *fplan = &build->plan->fplans[index];
	bool leads = relocated_offset(fplan->relocated, addr) >= 0 &&
		     !relocated_stays(fplan->relocated, addr);

	if (fplan->lost) {
		trap_make(build, index, addr, false);
		return;
	}
	for (uint32_t i = 0; i < fplan->relocated->nentry_patches; i++) {
		struct entry_patch *entry_patch =
			&fplan->relocated->entry_patches[i];

		leads |= entry_patch->addr == addr;
		if (entry_patch->via != VIA_TRAP &&
		    entry_patch_covers(build->image->arch, entry_patch, addr))
			entry_patch_reopen(build, index, entry_patch);
	}
	/* Direct calls must no longer be redirected past the trap. */
	if (addr == fplan->relocated->entry)
		*vec_push(build->plan->reopened,
			  build->plan->nreopened) = index;
	trap_make(build, index, addr, leads);
}
