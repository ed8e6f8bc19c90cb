/*
 * Chooses the entry patches that lead from the original into its relocated
 * function.  The program never runs the relocated instructions in the original
 * again, so the bytes of them that one entry patch leaves over are room for
 * others' landing slots.  Never writes bytes.
 */
#include "relocate/entry_patches.h"

#include <stdlib.h>

#include "util/mem.h"
#include "util/search.h"
#include "util/sort.h"

/*
 * Rounds of choosing and making room.  Each changes one segment at least, so
 * without a limit they could be as many as the segments, and take the square of
 * that.  No function of perl, PHP, gdb, cmake and cc1 needs more than three.
 */
enum { ROUNDS_MAX = 16 };

/* Spans of bytes that may be changed and are not yet, ascending. */
struct landings {
	struct spare *spans;
	size_t n;
};

static void
landing_add(struct landings *landings, uint64_t lo, uint64_t hi)
{
	if (lo < hi)
		*vec_push(landings->spans, landings->n) = (struct spare){ lo,
									  hi };
}

static int
by_lo(const void *va, const void *vb)
{
	const struct spare *a = va, *b = vb;

	return a->lo < b->lo ? -1 : a->lo > b->lo;
}

static int
by_addr(const void *va, const void *vb)
{
	const struct entry_patch *a = va, *b = vb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* The bytes of n consecutive instructions may be changed. */
static void
insns_free(const struct shape *shape, struct landings *landings, uint32_t first,
	   uint32_t n)
{
	const struct insn *insns = shape->cfg->insns + first;

	if (n)
		landing_add(landings, insns[0].addr,
			    insns[n - 1].addr + insns[n - 1].len);
}

static void
entry_patch_add(const struct shape *shape, struct relocated *relocated,
		const struct segment *segment)
{
	uint32_t first = segment->first + segment_skip(shape, segment);
	struct entry_patch *entry_patch;

	if (!segment->entered && !segment->count && !segment->moved) {
		relocated->unguarded++;
		return;
	}
	entry_patch = vec_push(relocated->entry_patches,
			       relocated->nentry_patches);
	*entry_patch = (struct entry_patch){
		.addr = shape->cfg->insns[first].addr,
		.offset = (uint32_t)(segment - shape->segments),
		.room = segment_room(shape, segment),
		.kind = segment->entered ? segment->kind : ENTRY_PATCH_GUARD,
		.via = VIA_JUMP,
	};
	if (entry_patch->kind == ENTRY_PATCH_GUARD)
		entry_patch->via = VIA_TRAP;
	else if (entry_patch->room < shape->arch->emit.jump_len)
		entry_patch->via =
			entry_patch->room < shape->arch->emit.chain_len ||
					shape->in->unknown ?
				VIA_TRAP :
				VIA_CHAIN;
	else if (shape->in->unknown)
		entry_patch->via = VIA_SPRING;
}

static void
segments_collect(const struct shape *shape, struct relocated *relocated,
		 struct landings *landings)
{
	for (uint32_t i = 0; i < shape->nsegments; i++) {
		const struct segment *segment = &shape->segments[i];
		uint32_t skip = segment_skip(shape, segment);
		uint32_t n = segment->count - skip;

		if (shape->kinds[segment->block] == BLOCK_PADDING) {
			insns_free(shape, landings, segment->first,
				   segment->count);
			continue;
		}
		if (segment->relocated && !segment->stays) {
			insns_free(shape, landings, segment->first + skip,
				   n + segment->moved);
			if ((segment->leads || segment->entered) &&
			    !segment->covered)
				entry_patch_add(shape, relocated, segment);
			continue;
		}
		if (segment->reached && segment->kind == ENTRY_PATCH_RETURN)
			relocated->in_place++;
		if (segment->leads && !segment->reached &&
		    shape->in->extent == EXTENT_WHOLE &&
		    shape->kinds[segment->block] != BLOCK_DEAD)
			relocated->unguarded++;
	}
}

static unsigned
entry_patch_uses(const struct arch *arch, const struct entry_patch *entry_patch)
{
	switch ((enum entry_patch_via)entry_patch->via) {
	case VIA_JUMP:
		return arch->emit.jump_len;
	case VIA_CHAIN:
		return arch->emit.chain_len;
	default:
		return arch->trap_len;
	}
}

/*
 * Cut the entry patches' bytes out of the spans.  Entry patches and spans are
 * ascending, and spans do not overlap.
 */
static void
landings_cut(const struct arch *arch, const struct relocated *relocated,
	     const struct landings *from, struct landings *to)
{
	uint32_t k = 0;

	for (size_t i = 0; i < from->n; i++) {
		uint64_t lo = from->spans[i].lo, hi = from->spans[i].hi;

		/* An entry patch's jump may reach into the next span. */
		if (k &&
		    relocated->entry_patches[k - 1].addr +
				    entry_patch_uses(
					    arch,
					    &relocated->entry_patches[k - 1]) >
			    lo)
			lo = relocated->entry_patches[k - 1].addr +
			     entry_patch_uses(arch,
					      &relocated->entry_patches[k - 1]);
		for (; k < relocated->nentry_patches &&
		       relocated->entry_patches[k].addr < hi;
		     k++) {
			const struct entry_patch *entry_patch =
				&relocated->entry_patches[k];

			landing_add(to, lo, entry_patch->addr);
			lo = entry_patch->addr +
			     entry_patch_uses(arch, entry_patch);
		}
		landing_add(to, lo, hi);
	}
}

/* Can a short jump at addr reach `to`? */
static bool
chain_reaches(const struct arch *arch, uint64_t addr, uint64_t to)
{
	int64_t distance = (int64_t)(to - addr - arch->emit.chain_len);

	return distance >= INT8_MIN && distance <= INT8_MAX;
}

/*
 * Find room for a short-jump chain's long jump and take it from the front of a
 * span; or from its end, if only that is near enough.  Failing that, make the
 * entry patch a trap.
 */
static void
chain_place(const struct arch *arch, const struct landings *landings,
	    struct entry_patch *entry_patch)
{
	size_t lo = search_first(landings->n, i,
				 landings->spans[i].hi + INT8_MAX >=
					 entry_patch->addr);

	for (; lo < landings->n; lo++) {
		struct spare *landing = &landings->spans[lo];
		uint64_t at = landing->lo;

		if (at > entry_patch->addr + arch->emit.chain_len + INT8_MAX)
			break;
		if (landing->hi < at + arch->emit.jump_len)
			continue;
		if (!chain_reaches(arch, entry_patch->addr, at)) {
			at = landing->hi - arch->emit.jump_len;
			if (!chain_reaches(arch, entry_patch->addr, at))
				continue;
			landing->hi = at;
		} else {
			landing->lo += arch->emit.jump_len;
		}
		entry_patch->landing = at;
		return;
	}
	entry_patch->via = VIA_TRAP;
}

/*
 * Choose the entry patches of the shape as it is now.  Their offsets are
 * numbers of segments until entry_patches_lead.
 */
static void
entry_patches_choose(const struct shape *shape, struct relocated *relocated)
{
	struct landings all = { 0 }, landings = { 0 };

	relocated->nentry_patches = relocated->unguarded = relocated->in_place =
		0;
	segments_collect(shape, relocated, &all);
	for (size_t i = 0; i < shape->in->nspares; i++)
		landing_add(&all, shape->in->spares[i].lo,
			    shape->in->spares[i].hi);
	if (relocated->nentry_patches)
		sort(relocated->entry_patches, relocated->nentry_patches,
		     sizeof(*relocated->entry_patches), by_addr);
	if (all.n)
		sort(all.spans, all.n, sizeof(*all.spans), by_lo);
	landings_cut(shape->arch, relocated, &all, &landings);
	for (uint32_t i = 0; i < relocated->nentry_patches; i++)
		if (relocated->entry_patches[i].via == VIA_CHAIN)
			chain_place(shape->arch, &landings,
				    &relocated->entry_patches[i]);
	free(all.spans);
	free(landings.spans);
}

static bool
entry_patch_fails(const struct entry_patch *entry_patch)
{
	return entry_patch->via == VIA_TRAP &&
	       entry_patch->kind != ENTRY_PATCH_GUARD;
}

/*
 * Would the segment have room for the long jump of a short-jump chain from
 * addr, behind `own` bytes of its own patch?
 */
static bool
segment_holds(const struct shape *shape, const struct segment *segment,
	      unsigned own, uint64_t addr)
{
	const struct arch *arch = shape->arch;
	const struct insn *insns = shape->cfg->insns + segment->first;
	const struct insn *last = &insns[segment->count - 1];
	bool lands = segment->count > 1 && shape->motions[segment->first].lands;
	uint64_t lo = insns[lands].addr + own, hi = last->addr + last->len;

	return lo + arch->emit.jump_len <= hi &&
	       (chain_reaches(arch, addr, lo) ||
		chain_reaches(arch, addr, hi - arch->emit.jump_len));
}

/*
 * How good it is to enter the segment, which runs in place, so that a long jump
 * has room in it: best if nothing known leads there in the original, so that no
 * more than a guard is added; then if it has room for a jump of its own, too;
 * then if nothing may lead there once it is not run in place.  0: not at all.
 */
static unsigned
segment_lends(const struct shape *shape, const struct segment *segment,
	      uint64_t addr)
{
	const struct arch *arch = shape->arch;

	if (!segment->stays || segment->loud || !segment->count ||
	    !segment_holds(shape, segment, arch->trap_len, addr))
		return 0;
	if (!segment->reached)
		return 3;
	if (segment_holds(shape, segment, arch->emit.jump_len, addr))
		return 2;
	return segment->ways == 1 << ENTRY_PATCH_INSIDE;
}

/*
 * How good it is to do the call behind the segment in the relocated function, so
 * that a long jump for a short one from addr has room in the call: better if the
 * segment does not run in place, or it must be entered, too.  0: not at all.
 */
static unsigned
call_lends(const struct shape *shape, const struct segment *segment,
	   uint64_t addr)
{
	const struct insn *call = segment_anchor(shape, segment);
	unsigned jump_len = shape->arch->emit.jump_len;

	if (!segment_movable(shape, segment) || call->len < jump_len ||
	    !chain_reaches(shape->arch, addr, call->addr))
		return 0;
	if (!segment->stays)
		return segment->relocated ? 2 : 0;
	return segment->count &&
	       shape->cfg->insns[segment->first].addr + jump_len <= call->addr;
}

/*
 * The segment in reach that `lends` rates best for the entry patch; NULL if it
 * rates all 0.
 */
static struct segment *
lender_find(struct shape *shape, const struct entry_patch *entry_patch,
	    unsigned (*lends)(const struct shape *shape,
			      const struct segment *segment, uint64_t addr))
{
	const struct insn *insns = shape->cfg->insns;
	uint64_t addr = entry_patch->addr;
	struct segment *found = NULL;
	uint32_t i = entry_patch->offset;
	unsigned best = 0;

	while (i && insns[shape->segments[i - 1].first].addr + INT8_MAX >= addr)
		i--;
	/* One more may end in reach. */
	for (i -= i > 0; i < shape->nsegments; i++) {
		struct segment *segment = &shape->segments[i];
		unsigned rate;

		if (insns[segment->first].addr >
		    addr + shape->arch->emit.chain_len + INT8_MAX)
			break;
		rate = lends(shape, segment, addr);
		if (rate > best) {
			best = rate;
			found = segment;
		}
	}
	return found;
}

/*
 * Where a short jump has room, but the long one that it needs does not, have
 * the relocated function entered at another segment, whose bytes are then free.
 * Returns whether anything changed.
 */
static bool
landings_lend(struct shape *shape, const struct relocated *relocated)
{
	bool changed = false;

	for (uint32_t i = 0; i < relocated->nentry_patches; i++) {
		const struct entry_patch *entry_patch =
			&relocated->entry_patches[i];
		struct segment *segment = NULL;

		if (entry_patch_fails(entry_patch) &&
		    entry_patch->room >= shape->arch->emit.chain_len)
			segment = lender_find(shape, entry_patch,
					      segment_lends);
		if (segment)
			segment->loud = changed = true;
	}
	return changed;
}

/*
 * The segment whose call is to be done in the relocated function, so that the
 * entry patch has room: the patch's own, or one in reach of a short jump; NULL
 * if there is none.
 */
static struct segment *
call_find(struct shape *shape, const struct entry_patch *entry_patch)
{
	struct segment *own = &shape->segments[entry_patch->offset];

	if (segment_movable(shape, own))
		return own;
	return entry_patch->room < shape->arch->emit.chain_len ?
		       NULL :
		       lender_find(shape, entry_patch, call_lends);
}

/*
 * Have calls done in the relocated function, for entry patches that have no
 * room.  Returns whether anything changed; *loud becomes whether control enters
 * earlier.
 */
static bool
calls_force(struct shape *shape, const struct relocated *relocated, bool *loud)
{
	bool changed = false;

	*loud = false;
	for (uint32_t i = 0; i < relocated->nentry_patches; i++) {
		const struct entry_patch *entry_patch =
			&relocated->entry_patches[i];
		struct segment *segment;

		if (!entry_patch_fails(entry_patch))
			continue;
		segment = call_find(shape, entry_patch);
		if (!segment) {
			shape->segments[entry_patch->offset].shy = SHY_ALWAYS;
			continue;
		}
		*loud |= segment->stays;
		segment->loud |= segment->stays;
		segment->moved = segment->forced = changed = true;
	}
	return changed;
}

/*
 * For entry patches that have no room: let control enter earlier, where there
 * is room; else make room for a short-jump chain; else make room by moving a
 * call; else let control enter earlier wherever it can.  Returns whether
 * anything changed.
 */
static bool
entry_patches_mend(struct shape *shape, const struct relocated *relocated)
{
	struct segment *segments = shape->segments;
	bool changed, loud;

	for (uint32_t i = 0; i < relocated->nentry_patches; i++)
		if (entry_patch_fails(&relocated->entry_patches[i]) &&
		    segments[relocated->entry_patches[i].offset].shy == SHY_NOT)
			segments[relocated->entry_patches[i].offset].shy =
				SHY_ROOM;
	if (segments_louden(shape) || landings_lend(shape, relocated)) {
		segments_choose(shape);
		return true;
	}
	changed = calls_force(shape, relocated, &loud);
	if (loud || (!changed && segments_louden(shape))) {
		segments_choose(shape);
		return true;
	}
	return changed;
}

void
entry_patches_make(struct shape *shape, struct relocated *relocated)
{
	for (int round = 1;; round++) {
		entry_patches_choose(shape, relocated);
		/* What has no room by then is entered by a trap. */
		if (round == ROUNDS_MAX ||
		    !entry_patches_mend(shape, relocated))
			return;
	}
}

static bool
bytes_meet(uint64_t a, unsigned na, uint64_t b, unsigned nb)
{
	return a < b + nb && b < a + na;
}

bool
entry_patches_spare(const struct shape *shape,
		    const struct relocated *relocated, uint64_t addr,
		    unsigned n)
{
	const struct arch *arch = shape->arch;
	size_t i = cfg_insn_from(shape->cfg, addr);
	const struct insn *insn;

	if (!i || (i < shape->cfg->ninsns && shape->cfg->insns[i].addr == addr))
		return false;
	insn = &shape->cfg->insns[i - 1];
	if (insn->kind != INSN_PLAIN || addr + n > insn->addr + insn->len)
		return false;
	for (uint32_t p = 0; p < relocated->nentry_patches; p++) {
		const struct entry_patch *patch = &relocated->entry_patches[p];
		unsigned len = patch->via == VIA_SPRING ?
				       arch->emit.jump_len :
				       entry_patch_uses(arch, patch);

		if (bytes_meet(patch->addr, len, addr, n) ||
		    (patch->via == VIA_CHAIN &&
		     bytes_meet(patch->landing, arch->emit.jump_len, addr, n)))
			return false;
	}
	return true;
}

void
entry_patches_lead(const struct shape *shape, struct relocated *relocated)
{
	for (uint32_t i = 0; i < relocated->nentry_patches; i++) {
		struct entry_patch *entry_patch = &relocated->entry_patches[i];
		const struct segment *segment =
			&shape->segments[entry_patch->offset];

		entry_patch->offset =
			relocated->fragments[segment->fragment].offset;
	}
}
