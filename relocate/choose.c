/*
 * Chooses which segments of a function run in the original and which in the
 * relocated function, and so where control goes from one to the other: as late
 * as possible.  Code that has no probes runs on wherever control reached it, so
 * some of it is both relocated and run in place, and only code that has probes
 * is patched.  Never looks at bytes.
 */
#include <stdlib.h>

#include "relocate/shape.h"
#include "util/fail.h"
#include "util/mem.h"

struct choice {
	struct shape *shape;
	uint32_t *todo;
	size_t ntodo;
};

/*
 * Has neither the segment nor its end a probe?  A jump past its target's
 * prefix is not quiet, since it finds the target's instruction only in the
 * relocated function.
 */
static bool
segment_quiet(const struct shape *shape, const struct segment *segment)
{
	uint32_t b = segment->block;

	if (segment->end == END_BLOCK && shape_last(shape, b)->skips)
		return false;
	if (segment->leads && shape_probe(shape, b) != PROBE_NONE)
		return false;
	return segment->end != END_BLOCK || (shape->taken_arc[b] == ARC_NONE &&
					     shape->fall_arc[b] == ARC_NONE &&
					     shape->last_arc[b] == ARC_NONE &&
					     shape->table_arc[b] == ARC_NONE);
}

/*
 * With EXTENT_PROBED control returns to the original at a loop's head where
 * no probe is: there the loop is laid out as its compiler thought best.
 */
static bool
segment_loops(const struct shape *shape, const struct segment *segment)
{
	return shape->in->extent == EXTENT_PROBED && segment->leads &&
	       !segment->loud && shape_runs(shape, segment->block) &&
	       shape_is_head(shape, segment->block) &&
	       segment_quiet(shape, segment);
}

/* ---- in place */

static bool
block_spared(const struct shape *shape, uint32_t block)
{
	return block != NO_BLOCK && shape->segments[shape->leads[block]].spared;
}

/*
 * Does control leave the function or call from the segment's end, or run on in
 * place to a segment where it does?
 */
static bool
segment_spares(const struct shape *shape, const struct segment *segment)
{
	uint32_t b = segment->block;

	if (segment->loud || !segment_quiet(shape, segment))
		return false;
	if (segment->end != END_BLOCK || block_spared(shape, shape->taken[b]) ||
	    block_spared(shape, shape->fall[b]))
		return true;
	switch (shape_last(shape, b)->kind) {
	case INSN_RETURN:
	case INSN_STOP:
	case INSN_JUMP_INDIRECT:
		return true;
	case INSN_JUMP:
	case INSN_BRANCH:
		return shape->taken[b] == NO_BLOCK;
	default:
		return false;
	}
}

/*
 * Find the segments from which control may leave the function, or call, without
 * entering the relocated function.
 */
static void
segments_spare(struct shape *shape)
{
	bool changed = true;

	for (uint32_t i = 0; i < shape->nsegments; i++)
		shape->segments[i].spared = false;
	while (changed) {
		changed = false;
		for (uint32_t i = shape->nsegments; i-- > 0;) {
			struct segment *segment = &shape->segments[i];

			if (segment->spared || !segment_spares(shape, segment))
				continue;
			segment->spared = changed = true;
		}
	}
}

/*
 * Does the original run although the relocated function could be entered there?
 * That pays if the relocated function then need not be entered at all, and
 * where there is no room for a patch.  But jumps with unknown targets may lead
 * to the middle of what runs in place, and no trap would tell.
 */
static bool
segment_stays(const struct shape *shape, const struct segment *segment)
{
	bool room = segment_room(shape, segment) >= shape->arch->emit.jump_len;

	if (segment->loud || !segment_quiet(shape, segment))
		return false;
	if (shape->in->unknown && shape->in->extent == EXTENT_WHOLE)
		return !room;
	return segment->spared || segment_loops(shape, segment) || !room;
}

static void
segment_reach(struct choice *choice, struct segment *segment,
	      enum entry_patch_kind kind)
{
	if (!segment->reached || kind < segment->kind)
		segment->kind = (uint8_t)kind;
	segment->ways |= 1u << kind;
	if (segment->reached)
		return;
	segment->reached = true;
	*vec_push(choice->todo,
		  choice->ntodo) = (uint32_t)(segment -
					      choice->shape->segments);
}

static void
block_reach(struct choice *choice, uint32_t block, enum entry_patch_kind kind)
{
	struct shape *shape = choice->shape;

	if (block != NO_BLOCK)
		segment_reach(choice, &shape->segments[shape->leads[block]],
			      kind);
}

/*
 * Is control expected to come to the block from ROOT?  Jumps with unknown
 * targets go to labels, and to blocks that nothing else leads to; if they come
 * to another block there is a guard.
 */
static bool
root_expected(const struct shape *shape, uint32_t b)
{
	const struct block *block = &shape->cfg->blocks[b];
	uint32_t *in = shape->flow->in + FLOW_BLOCK + b;

	return shape_is_root(shape, b) &&
	       (!shape->in->unknown || block->label || block->external ||
		in[1] - in[0] == 1);
}

/*
 * Reach the blocks that control comes to other than from the function's own
 * code or a call's return: entries, pads, tables of indirect jumps.
 */
static void
roots_reach(struct choice *choice)
{
	const struct shape *shape = choice->shape;
	const struct cfg *cfg = shape->cfg;
	uint32_t entry = NO_BLOCK;

	if (cfg->entry >= 0)
		entry = cfg_block_of(cfg, (size_t)cfg->entry);
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		if (root_expected(shape, b))
			block_reach(choice, b,
				    b == entry ? ENTRY_PATCH_ENTRY :
						 ENTRY_PATCH_PAD);
	for (size_t i = 0; i < cfg->nedges; i++)
		if (cfg->edges[i].kind == EDGE_TABLE &&
		    shape_runs(shape, cfg->edges[i].from))
			block_reach(choice, cfg->edges[i].to,
				    ENTRY_PATCH_TABLE);
}

static void
loops_reach(struct choice *choice)
{
	struct shape *shape = choice->shape;

	for (uint32_t i = 0; i < shape->nsegments; i++)
		if (segment_loops(shape, &shape->segments[i]))
			segment_reach(choice, &shape->segments[i],
				      ENTRY_PATCH_INSIDE);
}

static void
returns_reach(struct choice *choice)
{
	struct shape *shape = choice->shape;

	for (uint32_t i = 0; i < shape->nsegments; i++) {
		struct segment *segment = &shape->segments[i];

		if (!shape_runs(shape, segment->block))
			continue;
		if (segment->end == END_ANCHOR)
			segment_reach(choice, segment + 1, ENTRY_PATCH_RETURN);
		else if (segment->end == END_ANCHOR_LAST)
			block_reach(choice, shape->fall[segment->block],
				    ENTRY_PATCH_RETURN);
	}
}

/*
 * Find where control comes in the original, and where it goes from there into
 * the relocated function.
 */
static void
originals_choose(struct choice *choice)
{
	struct shape *shape = choice->shape;
	struct segment *segment;

	for (uint32_t i = 0; i < shape->nsegments; i++) {
		segment = &shape->segments[i];
		segment->reached = segment->entered = segment->stays = false;
		segment->covered = false;
		segment->ways = 0;
	}
	segments_spare(shape);
	roots_reach(choice);
	returns_reach(choice);
	loops_reach(choice);
	while (choice->ntodo) {
		segment = &shape->segments[choice->todo[--choice->ntodo]];
		segment->stays = segment_stays(shape, segment);
		segment->entered = !segment->stays;
		if (segment->entered || segment->end != END_BLOCK)
			continue;
		block_reach(choice, shape->taken[segment->block],
			    ENTRY_PATCH_INSIDE);
		block_reach(choice, shape->fall[segment->block],
			    ENTRY_PATCH_INSIDE);
	}
}

/* ---- in the relocated function */

/*
 * Relocate a segment, unless it has no probe and is a bare call, or
 * runs in place anyway and leads to a call: the relocated function would only
 * jump back to the original a little later.
 */
static void
segment_relocate(struct choice *choice, struct segment *segment)
{
	struct shape *shape = choice->shape;

	if (segment->relocated || !shape_runs(shape, segment->block) ||
	    segment_loops(shape, segment) ||
	    (segment_quiet(shape, segment) &&
	     (!segment->count ||
	      (segment->stays && segment->end != END_BLOCK))))
		return;
	segment->relocated = true;
	/* Control that arrives unexpectedly finds the original as it was. */
	if (shape->in->extent == EXTENT_PROBED && !segment->reached &&
	    !segment->loud && segment_quiet(shape, segment))
		segment->stays = true;
	*vec_push(choice->todo,
		  choice->ntodo) = (uint32_t)(segment - shape->segments);
}

static void
block_relocate(struct choice *choice, uint32_t block)
{
	struct shape *shape = choice->shape;

	if (block != NO_BLOCK)
		segment_relocate(choice, &shape->segments[shape->leads[block]]);
}

static void
relocated_follow(struct choice *choice)
{
	struct shape *shape = choice->shape;

	while (choice->ntodo) {
		const struct segment *segment =
			&shape->segments[choice->todo[--choice->ntodo]];

		if (segment->end != END_BLOCK)
			continue;
		block_relocate(choice, shape->taken[segment->block]);
		block_relocate(choice, shape->fall[segment->block]);
	}
}

/*
 * The patch at an entered segment that is too short for a jump reaches into
 * those that trail it.  Control comes to them in the relocated function alone.
 */
static void
trailers_cover(struct shape *shape, const struct segment *segment)
{
	uint32_t room = segment_bytes(shape, segment);
	struct segment *trailer;

	while (room < shape->arch->emit.jump_len &&
	       (trailer = segment_trailer(shape, segment))) {
		must(trailer->relocated && !trailer->reached);
		trailer->covered = true;
		trailer->stays = false;
		room += segment_bytes(shape, trailer);
		segment = trailer;
	}
}

/*
 * Relocate what control comes to in the relocated function, then what
 * nothing known leads to.
 */
static void
relocated_choose(struct choice *choice)
{
	struct shape *shape = choice->shape;

	for (uint32_t i = 0; i < shape->nsegments; i++)
		shape->segments[i].relocated = false;
	for (uint32_t i = 0; i < shape->nsegments; i++)
		if (shape->segments[i].entered)
			segment_relocate(choice, &shape->segments[i]);
	relocated_follow(choice);
	for (uint32_t i = 0; i < shape->nsegments; i++) {
		struct segment *segment = &shape->segments[i];

		if (!segment->reached && (shape->in->extent == EXTENT_WHOLE ||
					  !segment_quiet(shape, segment)))
			segment_relocate(choice, segment);
	}
	relocated_follow(choice);
	for (uint32_t i = 0; i < shape->nsegments; i++) {
		struct segment *segment = &shape->segments[i];

		/* With unknown jumps any probe needs its entry patch. */
		segment->moved = segment->forced ||
				 (segment->leads && segment->relocated &&
				  !segment->count &&
				  (segment->entered ||
				   (shape->in->unknown &&
				    !segment_quiet(shape, segment))));
	}
	for (uint32_t i = 0; i < shape->nsegments; i++)
		if (shape->segments[i].entered)
			trailers_cover(shape, &shape->segments[i]);
}

/* ---- where to enter earlier */

static bool
block_shy(const struct shape *shape, uint32_t block, bool room)
{
	const struct segment *lead;

	if (block == NO_BLOCK)
		return false;
	lead = &shape->segments[shape->leads[block]];
	return lead->entered &&
	       (lead->shy == SHY_ALWAYS || (lead->shy == SHY_ROOM && room));
}

bool
segments_louden(struct shape *shape)
{
	bool changed = false;

	for (uint32_t i = 0; i < shape->nsegments; i++) {
		struct segment *segment = &shape->segments[i];
		uint32_t b = segment->block;
		bool room;

		if (!segment->reached || !segment->stays || !segment->count ||
		    segment->end != END_BLOCK)
			continue;
		room = segment_room(shape, segment) >=
		       shape->arch->emit.jump_len;
		if (!block_shy(shape, shape->taken[b], room) &&
		    !block_shy(shape, shape->fall[b], room))
			continue;
		segment->loud = true;
		changed = true;
	}
	return changed;
}

/*
 * A segment that had better be entered earlier: a call that begins a block with
 * a probe would have to be moved.
 */
static void
segments_shy(struct shape *shape)
{
	for (uint32_t i = 0; i < shape->nsegments; i++) {
		struct segment *segment = &shape->segments[i];

		if (segment->moved)
			segment->shy = SHY_ALWAYS;
	}
}

void
segments_choose(struct shape *shape)
{
	struct choice choice = { .shape = shape };

	do {
		originals_choose(&choice);
		relocated_choose(&choice);
		segments_shy(shape);
	} while (segments_louden(shape));
	free(choice.todo);
}
