/*
 * Finds functions that can be counted at their beginning alone.  Makes no
 * graphs: decodes every instruction of the function once, in a line, which
 * costs a small part of what a graph does.
 */
#include "probe/beginning.h"

#include <stdlib.h>

#include "probe/build.h"
#include "util/mem.h"
#include "util/search.h"

/*
 * A beginning goes on until it has written all flags, so that its counter need
 * not save any; but not for longer than this.
 */
enum { BEGINNING_BYTES = 256 };

struct sweep {
	const struct build *build;
	uint32_t fplan;
	struct range beginning;
	struct range *ranges;	/* the function's, and parts it jumps to */
	size_t nranges;
	bool loads;		/* it jumps to an address that it loads */
};

static bool
code_decode(const struct image *image, uint64_t addr, struct insn *insn,
	    struct motion *motion)
{
	size_t avail;
	const uint8_t *code = image_text(image, addr, &avail);

	return code && !image->arch->decode(code, avail, addr, insn) &&
	       !image->arch->motion(code, avail, addr, motion);
}

/* Whether any of n ascending addresses is in the range, behind its first. */
static bool
addrs_behind(const uint64_t *addrs, size_t n, const struct range *range)
{
	size_t at = search_first(n, i, addrs[i] > range->lo);

	return at < n && addrs[at] < range->hi;
}

/* The address behind the beginning, or 0 if it has no room for a jump. */
static uint64_t
beginning_end(const struct image *image, const struct range *range)
{
	uint32_t live = image->arch->all_flags;
	uint64_t at = range->lo, patch = at;
	struct motion motion;
	struct insn insn;
	bool room = false;

	while (!room || (live && at < range->lo + BEGINNING_BYTES)) {
		if (at >= range->hi || !code_decode(image, at, &insn, &motion))
			return room ? at : 0;
		if (room &&
		    (insn.kind == INSN_JUMP || insn.kind == INSN_BRANCH))
			return at;
		if (at == range->lo && motion.lands)
			patch = at + insn.len;
		at += insn.len;
		room = at >= patch + image->arch->emit.jump_len;
		if (!insn_goes_on(&insn) || insn.kind == INSN_CALL ||
		    insn.kind == INSN_CALL_INDIRECT)
			return room ? at : 0;
		if (motion.reads & live)
			live = 0;
		live &= ~motion.writes;
	}
	return at;
}

/* Sweep the function's part at addr, too, if there is one. */
static void
parts_add(struct sweep *sweep, uint64_t addr)
{
	const struct range *part = image_part(sweep->build->image, addr);

	if (part && !range_has(sweep->ranges, sweep->nranges, addr))
		*vec_push(sweep->ranges, sweep->nranges) = *part;
}

/* Whether the address is in the beginning, but not its first. */
static bool
inside(const struct sweep *sweep, uint64_t addr)
{
	return addr > sweep->beginning.lo && addr < sweep->beginning.hi;
}

/*
 * Whether control may go from the instruction to the beginning other than by a
 * call, or to another function's middle, or that is not known.  An address that
 * a jump loads is one that data or another instruction has, and those are looked
 * at.
 */
static bool
insn_disturbs(struct sweep *sweep, const struct insn *insn,
	      const struct motion *motion)
{
	const struct build *build = sweep->build;
	uint64_t entry = sweep->beginning.lo;

	sweep->loads |= motion->loaded;
	if ((insn->kind == INSN_JUMP_INDIRECT && !motion->loaded) ||
	    inside(sweep, motion->refers) ||
	    (insn->addr + insn->len == entry && insn_goes_on(insn)) ||
	    insn_may_enter_middle(build, sweep->fplan, insn))
		return true;
	if (insn->kind == INSN_CALL)
		return inside(sweep, insn->target);
	if (insn->kind != INSN_JUMP && insn->kind != INSN_BRANCH)
		return false;
	parts_add(sweep, insn->target);
	return insn->target == entry || inside(sweep, insn->target);
}

/* Whether any code of the range disturbs; or it is not certain. */
static bool
range_disturbs(struct sweep *sweep, const struct range *range)
{
	const struct build *build = sweep->build;
	const struct image *image = build->image;
	struct insn insn = { .kind = INSN_STOP };
	struct motion motion;
	const struct func *next;
	uint64_t at = range->lo;
	uint32_t into;

	for (; at < range->hi; at += insn.len)
		if (image_is_data(image, at) ||
		    !code_decode(image, at, &insn, &motion) ||
		    insn_disturbs(sweep, &insn, &motion))
			return true;
	if (at > range->hi)
		return true;
	if (!insn_goes_on(&insn))
		return false;
	next = image_func(image, at);
	into = plan_func(build->plan, at);
	return into != FPLAN_NONE && into != sweep->fplan &&
	       !(next && next->addr == at);
}

/*
 * Whether data has the function's address, which a jump that loads one may go
 * to: that would be no call.
 */
static bool
entry_loaded(const struct sweep *sweep)
{
	const struct build *build = sweep->build;
	const struct image *image = build->image;
	uint64_t lo = build->plan->fplans[sweep->fplan].ranges[0].lo;
	size_t at = search_first(image->nrefs, i, image->refs[i] >= lo);

	return sweep->loads && at < image->nrefs &&
	       image->refs[at] <= sweep->beginning.lo;
}

static bool
sweep_disturbs(struct sweep *sweep)
{
	const struct image *image = sweep->build->image;
	const struct range *beginning = &sweep->beginning;

	if (addrs_behind(image->pads, image->npads, beginning) ||
	    addrs_behind(image->refs, image->nrefs, beginning) ||
	    addrs_behind(image->frames, image->nframes, beginning))
		return true;
	/* Ranges are added meanwhile. */
	for (size_t i = 0; i < sweep->nranges; i++) {
		struct range range = sweep->ranges[i];

		if (range_disturbs(sweep, &range))
			return true;
	}
	return entry_loaded(sweep);
}

/* Whether something else asks for a graph of the function plan. */
static bool
fplan_asks(const struct build *build, const struct func_plan *fplan)
{
	const struct plan *plan = build->plan;

	for (size_t i = 0; i < plan->nhooks; i++)
		if (range_has(fplan->ranges, fplan->nranges,
			      plan->hooks[i].addr))
			return true;
	return fplan->whole || mid_entries_any(build, fplan);
}

bool
beginning_find(const struct build *build, uint32_t index, uint64_t *end)
{
	const struct plan *plan = build->plan;
	const struct func_plan *fplan = &plan->fplans[index];
	const struct image *image = build->image;
	struct sweep sweep = { .build = build, .fplan = index };
	bool found;

	if (!image->arch->motion || plan_graphs(plan) || plan->options.whole ||
	    !fplan_calls_alone(fplan) || !plan_rewrites(plan) ||
	    fplan_asks(build, fplan))
		return false;
	for (size_t i = 0; i < fplan->nranges; i++)
		*vec_push(sweep.ranges, sweep.nranges) = fplan->ranges[i];
	sweep.ranges[0].lo = image->arch->first(sweep.ranges[0].lo);
	sweep.beginning = sweep.ranges[0];
	sweep.beginning.hi = *end = beginning_end(image, &sweep.ranges[0]);
	found = *end && !image_restarts(image, &sweep.beginning, 1) &&
		!sweep_disturbs(&sweep);
	free(sweep.ranges);
	return found;
}
