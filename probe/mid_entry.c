/*
 * Mid-entries: finds the places in the middle of a function to which control
 * comes over no edge of its graph, by a jump or call from elsewhere or a call
 * from within.  Goes by graphs (and, just before a function, by code), so does
 * not see jumps in functions that are never looked at.
 */
#include "probe/build.h"

#include <stdlib.h>

#include "util/addrs.h"
#include "util/mem.h"
#include "util/search.h"

/* Index of the first mid-entered address at addr or behind it. */
static size_t
mid_entered_from(const struct build *build, uint64_t addr)
{
	return search_first(build->nmid_entered, i,
			    build->mid_entered[i] >= addr);
}

void
build_enters(struct build *build, uint32_t index, uint64_t addr)
{
	struct func_plan *fplan = &build->plan->fplans[index];

	addrs_add(&build->mid_entered, &build->nmid_entered, addr);
	if (!fplan->units)
		return;
	if (fplan->state == FPLAN_WAITING)
		fplan_clear(fplan);
	*vec_push(build->todo, build->ntodo) = index;
}

bool
mid_entries_any(const struct build *build, const struct func_plan *fplan)
{
	for (size_t i = 0; i < fplan->nranges; i++) {
		size_t at = mid_entered_from(build, fplan->ranges[i].lo);

		if (at < build->nmid_entered &&
		    build->mid_entered[at] < fplan->ranges[i].hi)
			return true;
	}
	return false;
}

bool
mid_entries_known(const struct build *build, const struct func_plan *fplan)
{
	for (size_t i = 0; i < fplan->nranges; i++) {
		const struct range *range = &fplan->ranges[i];
		size_t k = mid_entered_from(build, range->lo);

		for (; k < build->nmid_entered &&
		       build->mid_entered[k] < range->hi;
		     k++)
			if (cfg_insn(fplan->cfg, build->mid_entered[k]) < 0)
				return false;
	}
	return true;
}

/* Whether the function plan's graph says that addr is entered from outside. */
static bool
fplan_expects(const struct func_plan *fplan, uint64_t addr)
{
	long block = fplan->cfg ? cfg_block(fplan->cfg, addr) : BLOCK_NONE;

	return block >= 0 && fplan->cfg->blocks[block].external;
}

/* The function plan's normal entry, behind an entry mask. */
static uint64_t
fplan_entry(const struct build *build, const struct func_plan *fplan)
{
	const struct image *image = build->image;

	return fplan->func == FUNC_NONE ?
		       fplan->ranges[0].lo :
		       image->arch->first(image->funcs[fplan->func].addr);
}

/*
 * Where control begins in the function plan if it is called or jumped to at
 * addr: behind the entry mask if addr is its symbol.
 */
static uint64_t
fplan_begun(const struct build *build, const struct func_plan *fplan,
	    uint64_t addr)
{
	const struct image *image = build->image;

	if (fplan->func != FUNC_NONE && image->funcs[fplan->func].addr == addr)
		return image->arch->first(addr);
	return addr;
}

bool
insn_may_enter_middle(const struct build *build, uint32_t index,
		      const struct insn *insn)
{
	const struct plan *plan = build->plan;
	uint32_t into;

	if (insn->kind != INSN_JUMP && insn->kind != INSN_BRANCH &&
	    insn->kind != INSN_CALL)
		return false;
	into = plan_func(plan, insn->target);
	return into != FPLAN_NONE && into != index &&
	       fplan_entry(build, &plan->fplans[into]) !=
		       fplan_begun(build, &plan->fplans[into], insn->target);
}

/* Whether anything is known to lead to the block. */
static bool
block_reached(const struct func_plan *fplan, uint32_t block)
{
	const uint32_t *in = fplan->flow->in + FLOW_BLOCK + block;

	return in[0] != in[1];
}

bool
calls_inside(struct build *build, const struct func_plan *fplan)
{
	const struct cfg *cfg = fplan->cfg;
	bool found = false;

	for (uint32_t i = 0; i < cfg->ninsns; i++) {
		const struct insn *insn = &cfg->insns[i];

		if (insn->kind != INSN_CALL ||
		    cfg_insn(cfg, insn->target) < 0 ||
		    !block_reached(fplan, cfg_block_of(cfg, i)))
			continue;
		if (fplan_expects(fplan, insn->target))
			continue;
		addrs_add(&build->mid_entered, &build->nmid_entered,
			  insn->target);
		found = true;
	}
	return found;
}

void
mid_entry_note(struct build *build, uint32_t from, uint64_t target)
{
	struct plan *plan = build->plan;
	uint32_t into = plan_func(plan, target);
	struct func_plan *fplan;

	if (into == FPLAN_NONE)
		return;
	fplan = &plan->fplans[into];
	target = fplan_begun(build, fplan, target);
	if (into == from && fplan->cfg && cfg_insn(fplan->cfg, target) < 0)
		fplan->mid_entered = true;
	if (into == from || fplan->state == FPLAN_FAULTY || fplan->guest ||
	    !fplan->units || fplan_entry(build, fplan) == target)
		return;
	if (fplan->state == FPLAN_WAITING && !fplan_expects(fplan, target)) {
		build_enters(build, into, target);
	} else if (fplan->state == FPLAN_WAITING && !fplan->looked) {
		*vec_push(build->todo, build->ntodo) = into;
	} else if (fplan->state == FPLAN_READY && fplan->relocated) {
		relocated_mid_entry(build, into, target);
	} else if (fplan->state == FPLAN_READY && fplan->cfg &&
		   !fplan->mid_entered && !fplan_expects(fplan, target)) {
		fplan->mid_entered = true;
		*vec_push(build->todo, build->ntodo) = into;
	}
}

/*
 * Note that control runs on from one function plan into the code at addr.  If
 * that is a function within this one, it may well run back in the same way, so
 * look at both together.  At an address of the same function plan there is no
 * instruction, and control ends.
 */
static void
fplan_runs_on(struct build *build, uint32_t from, uint64_t addr)
{
	uint32_t into = plan_func(build->plan, addr);
	const struct func_plan *fplan;

	if (into == FPLAN_NONE || into == from)
		return;
	fplan = &build->plan->fplans[into];
	if (fplan->units && fplan_entry(build, fplan) == addr && !fplan->looked)
		*vec_push(build->todo, build->ntodo) = into;
	mid_entry_note(build, from, addr);
}

/*
 * If insn, which may be data or code that runs, leads to the middle of another
 * function plan, that one is mid-entered.
 */
static void
insn_suspects(struct build *build, uint32_t from, const struct insn *insn)
{
	struct plan *plan = build->plan;
	struct func_plan *fplan;
	uint32_t into;

	if (!insn_may_enter_middle(build, from, insn))
		return;
	into = plan_func(plan, insn->target);
	fplan = &plan->fplans[into];
	if (fplan->state == FPLAN_FAULTY || fplan->guest || !fplan->units ||
	    fplan_expects(fplan, insn->target))
		return;
	fplan->mid_entered = true;
	if (fplan->state == FPLAN_READY && fplan->relocated)
		relocated_mid_entry(build, into, insn->target);
}

/* Note where control goes from an instruction other than over edges. */
static void
insn_enters_middle(struct build *build, uint32_t index, size_t i)
{
	const struct cfg *cfg = build->plan->fplans[index].cfg;
	const struct insn *insn = &cfg->insns[i];

	if (insn->kind == INSN_CALL &&
	    insn_may_enter_middle(build, index, insn))
		middles_called(build, plan_func(build->plan, insn->target));
	if ((insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH ||
	     insn->kind == INSN_CALL) &&
	    cfg_insn(cfg, insn->target) < 0)
		mid_entry_note(build, index, insn->target);
	if (insn_goes_on(insn) && !cfg_falls(cfg, i))
		fplan_runs_on(build, index, insn->addr + insn->len);
}

void
mid_entries_note(struct build *build, uint32_t index)
{
	const struct func_plan *fplan = &build->plan->fplans[index];
	const struct cfg *cfg = fplan->cfg;

	/* Then it goes to no other function's middle. */
	if (fplan->partial)
		return;
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];
		const struct insn *insn = &cfg->insns[block->first];

		/* If it is entered unseen, any block may be reached. */
		if (block->proof == PROOF_FLOW &&
		    (fplan->mid_entered || block_reached(fplan, b)))
			for (uint32_t i = 0; i < block->count; i++)
				insn_enters_middle(build, index,
						   block->first + i);
		else if (block->proof == PROOF_NONE && cfg->unresolved)
			for (uint32_t i = 0; i < block->count; i++)
				insn_suspects(build, index, &insn[i]);
	}
	for (size_t i = 0; i < cfg->nouts; i++)
		mid_entry_note(build, index, cfg->outs[i]);
}

enum { NEAR = 128 };	/* bytes in front of a function */

/*
 * Whether a direct jump in [lo, hi) leads to the middle of the function, at an
 * address that its graph does not expect; if so, note that.  Looks only at code
 * that control reaches from lo straight on or over forward branches.
 */
static bool
range_enters(struct build *build, uint32_t index, uint64_t lo, uint64_t hi)
{
	const struct func_plan *fplan = &build->plan->fplans[index];
	const struct image *image = build->image;
	bool led[NEAR + 1] = { true }, jumps;
	const uint8_t *code;
	struct insn insn;
	uint64_t at = lo;
	size_t avail;

	for (; lo < hi; lo += insn.len) {
		code = image_text(image, lo, &avail);
		if (!code || image->arch->decode(code, avail, lo, &insn))
			return false;
		if (image->arch->motion && !led[lo - at])
			continue;
		jumps = insn.kind == INSN_JUMP || insn.kind == INSN_BRANCH;
		if (jumps && insn.target > lo && insn.target < hi)
			led[insn.target - at] = true;
		if (insn_goes_on(&insn) && lo + insn.len < hi)
			led[lo + insn.len - at] = true;
		if ((insn.kind != INSN_JUMP && insn.kind != INSN_BRANCH) ||
		    insn.target == fplan_entry(build, fplan) ||
		    cfg_insn(fplan->cfg, insn.target) < 0 ||
		    fplan_expects(fplan, insn.target))
			continue;
		build_enters(build, index, insn.target);
		return true;
	}
	return false;
}

/*
 * In assembly language a function may have variants in front of it that jump
 * into its middle: glibc's mempcpy before memmove.  Here such jumps are found
 * before a patch can cover the place and before anything is derived.
 */
bool
neighbours_enter(struct build *build, uint32_t index)
{
	const struct func_plan *fplan = &build->plan->fplans[index];
	const struct image *image = build->image;
	uint64_t entry = fplan_entry(build, fplan);

	if (fplan->func == FUNC_NONE)
		return false;
	for (uint32_t i = fplan->func; i--;) {
		const struct func *func = &image->funcs[i];
		uint64_t hi = func->addr + func->size;

		if (func->addr + NEAR < entry)
			break;
		if (range_enters(build, index, image->arch->first(func->addr),
				 hi < entry ? hi : entry))
			return true;
	}
	return false;
}
