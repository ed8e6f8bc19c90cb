/*
 * Chooses the points of the original that lead into its copy.  The original's
 * instructions that are copied are never run again, so what a point's own
 * patch leaves of them has room for others'.
 */
#include "copy/points.h"

#include <stdlib.h>

#include "util/mem.h"
#include "util/search.h"

/* Bytes that may be changed, and are not yet: ascending. */
struct holes {
	struct copy_spare *spans;
	size_t n;
};

static void
hole_add(struct holes *holes, uint64_t lo, uint64_t hi)
{
	if (lo < hi)
		*vec_push(holes->spans, holes->n) = (struct copy_spare){
			lo, hi
		};
}

static int
by_lo(const void *va, const void *vb)
{
	const struct copy_spare *a = va, *b = vb;

	return a->lo < b->lo ? -1 : a->lo > b->lo;
}

static int
by_addr(const void *va, const void *vb)
{
	const struct point *a = va, *b = vb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* The bytes of n instructions, which follow one another. */
static void
insns_free(const struct shape *shape, struct holes *holes, uint32_t first,
	   uint32_t n)
{
	const struct insn *insns = shape->cfg->insns + first;

	if (n)
		hole_add(holes, insns[0].addr,
			 insns[n - 1].addr + insns[n - 1].len);
}

static void
point_add(const struct shape *shape, struct copy *copy,
	  const struct segment *segment)
{
	uint32_t first = segment->first + segment_skip(shape, segment);
	struct point *point;

	if (!segment->entered && !segment->count) {
		copy->unguarded++;
		return;
	}
	point = vec_push(copy->points, copy->npoints);
	*point = (struct point){
		.addr = shape->cfg->insns[first].addr,
		.offset = (uint32_t)(segment - shape->segments),
		.room = segment_room(shape, segment),
		.kind = segment->entered ? segment->kind : POINT_GUARD,
		.via = VIA_JUMP,
	};
	if (point->kind == POINT_GUARD)
		point->via = VIA_TRAP;
	else if (point->room < shape->arch->jump_len)
		point->via = point->room < shape->arch->hop_len ? VIA_TRAP :
								  VIA_HOP;
}

static void
segments_collect(const struct shape *shape, struct copy *copy,
		 struct holes *holes)
{
	for (uint32_t i = 0; i < shape->nsegments; i++) {
		const struct segment *segment = &shape->segments[i];
		uint32_t skip = segment_skip(shape, segment);
		uint32_t n = segment->count - skip;

		if (shape->kinds[segment->block] == BLOCK_PADDING) {
			insns_free(shape, holes, segment->first,
				   segment->count);
			continue;
		}
		if (segment->copied && !segment->stays) {
			insns_free(shape, holes, segment->first + skip,
				   n + segment->moved);
			if (segment->leads || segment->entered)
				point_add(shape, copy, segment);
			continue;
		}
		if (segment->reached && segment->kind == POINT_RETURN)
			copy->in_place++;
		if (segment->leads && !segment->reached &&
		    shape->in->extent == EXTENT_WHOLE &&
		    shape->kinds[segment->block] != BLOCK_DEAD)
			copy->unguarded++;
	}
}

static unsigned
point_uses(const struct arch *arch, const struct point *point)
{
	switch ((enum point_via)point->via) {
	case VIA_JUMP:
		return arch->jump_len;
	case VIA_HOP:
		return arch->hop_len;
	default:
		return arch->trap_len;
	}
}

/* What the points leave: both are ascending, and holes do not overlap. */
static void
holes_cut(const struct arch *arch, const struct copy *copy,
	  const struct holes *from, struct holes *to)
{
	uint32_t k = 0;

	for (size_t i = 0; i < from->n; i++) {
		uint64_t lo = from->spans[i].lo, hi = from->spans[i].hi;

		/* A jump may end in the hole behind its own. */
		if (k && copy->points[k - 1].addr +
			 point_uses(arch, &copy->points[k - 1]) > lo)
			lo = copy->points[k - 1].addr +
			     point_uses(arch, &copy->points[k - 1]);
		for (; k < copy->npoints && copy->points[k].addr < hi; k++) {
			const struct point *point = &copy->points[k];

			hole_add(to, lo, point->addr);
			lo = point->addr + point_uses(arch, point);
		}
		hole_add(to, lo, hi);
	}
}

/* Can a hop at addr reach what is at `to`? */
static bool
hop_reaches(const struct arch *arch, uint64_t addr, uint64_t to)
{
	int64_t distance = (int64_t)(to - addr - arch->hop_len);

	return distance >= INT8_MIN && distance <= INT8_MAX;
}

/* Room for a jump where a hop leads; it is taken from the hole's front. */
static void
hop_place(const struct arch *arch, const struct holes *holes,
	  struct point *point)
{
	size_t lo = search_first(holes->n, i,
				 holes->spans[i].hi + INT8_MAX >= point->addr);

	for (; lo < holes->n; lo++) {
		struct copy_spare *hole = &holes->spans[lo];
		uint64_t at = hole->lo;

		if (at > point->addr + arch->hop_len + INT8_MAX)
			break;
		if (hole->hi < at + arch->jump_len)
			continue;
		if (!hop_reaches(arch, point->addr, at)) {
			/* Its end may be nearer. */
			at = hole->hi - arch->jump_len;
			if (!hop_reaches(arch, point->addr, at))
				continue;
			hole->hi = at;
		} else {
			hole->lo += arch->jump_len;
		}
		point->hole = at;
		return;
	}
	point->via = VIA_TRAP;
}

/* The points as things are; their offsets are numbers of segments as yet. */
static void
points_choose(const struct shape *shape, struct copy *copy)
{
	struct holes all = { 0 }, holes = { 0 };

	copy->npoints = copy->unguarded = copy->in_place = 0;
	segments_collect(shape, copy, &all);
	for (size_t i = 0; i < shape->in->nspares; i++)
		hole_add(&all, shape->in->spares[i].lo,
			 shape->in->spares[i].hi);
	if (copy->npoints)
		qsort(copy->points, copy->npoints, sizeof(*copy->points),
		      by_addr);
	if (all.n)
		qsort(all.spans, all.n, sizeof(*all.spans), by_lo);
	holes_cut(shape->arch, copy, &all, &holes);
	for (uint32_t i = 0; i < copy->npoints; i++)
		if (copy->points[i].via == VIA_HOP)
			hop_place(shape->arch, &holes, &copy->points[i]);
	free(all.spans);
	free(holes.spans);
}

static bool
point_fails(const struct point *point)
{
	return point->via == VIA_TRAP && point->kind != POINT_GUARD;
}

/*
 * Where points have no room: let control enter where there is some, else
 * make some, else enter wherever that is.  Whether anything changed.
 */
static bool
points_mend(struct shape *shape, const struct copy *copy)
{
	struct segment *segments = shape->segments;
	bool changed = false;

	for (uint32_t i = 0; i < copy->npoints; i++)
		if (point_fails(&copy->points[i]) &&
		    segments[copy->points[i].offset].shy == SHY_NOT)
			segments[copy->points[i].offset].shy = SHY_ROOM;
	if (segments_louden(shape)) {
		segments_choose(shape);
		return true;
	}
	for (uint32_t i = 0; i < copy->npoints; i++) {
		struct segment *segment = &segments[copy->points[i].offset];

		if (!point_fails(&copy->points[i]))
			continue;
		if (segment_force(shape, segment))
			changed = true;
		else
			segment->shy = SHY_ALWAYS;
	}
	if (!changed && segments_louden(shape)) {
		segments_choose(shape);
		return true;
	}
	return changed;
}

void
points_make(struct shape *shape, struct copy *copy)
{
	do
		points_choose(shape, copy);
	while (points_mend(shape, copy));
}

void
points_lead(const struct shape *shape, struct copy *copy)
{
	for (uint32_t i = 0; i < copy->npoints; i++) {
		struct point *point = &copy->points[i];
		const struct segment *segment =
			&shape->segments[point->offset];
		uint32_t piece = segment->way == PIECE_OUT ? segment->piece :
							     segment->way;

		point->offset = copy->pieces[piece].offset;
	}
}
