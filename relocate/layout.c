/*
 * Lays out a relocated function: the order of its blocks, loops in several
 * rounds, and what is seldom run behind all.  Decides neither what is relocated
 * nor where the original is patched.
 */
#include "relocate/layout.h"

#include <inttypes.h>
#include <stdlib.h>

#include "relocate/block_code.h"
#include "relocate/dispatch.h"
#include "relocate/offsets.h"
#include "util/fail.h"
#include "util/mem.h"

/*
 * How many rounds of a loop of one block, and of a loop of several, are laid
 * out one after another.  Each round's probes have slots of their own, which
 * relocated_sum adds up: if all rounds added to the same slot, each addition
 * would wait for the last one's store.
 */
enum { SPIN_ROUNDS = 4, LOOP_ROUNDS = 2 };

/* Go to the call in the original, or do what it does. */
static void
anchor_add(struct layout *layout, const struct segment *segment)
{
	const struct insn *anchor = segment_anchor(layout->shape, segment);
	struct fragment *fragment;

	if (!segment->moved) {
		fragment = fragment_add(layout, FRAGMENT_GO, anchor->addr);
		fragment->target = anchor->addr;
		return;
	}
	fragment = fragment_insn(layout, FRAGMENT_CALL,
				 segment->first + segment->count);
	fragment->direct = anchor->kind == INSN_CALL;
	fragment->target = anchor->target;
}

/* Add a segment's probe and its instructions, but for the last n. */
static void
segment_begin(struct layout *layout, const struct segment *segment, uint32_t n)
{
	struct shape *shape = layout->shape;
	uint32_t b = segment->block;

	if (segment->leads && shape_probe(shape, b) != PROBE_NONE)
		probe_add(layout, shape->flow->nedges + b,
			  shape_first(shape, b)->addr, shape->live[b], false);
	for (uint32_t i = 0; i < segment->count - n; i++) {
		index_add(layout, b, segment->first + i);
		fragment_insn(layout, FRAGMENT_INSN, segment->first + i);
	}
}

static void
spin_add(struct layout *layout, const struct segment *segment)
{
	struct shape *shape = layout->shape;
	struct relocated *relocated = layout->relocated;
	uint32_t b = segment->block, last = segment->first + segment->count - 1;
	uint32_t exits[SPIN_ROUNDS], nexits = 0, arc = shape->taken_arc[b];
	uint64_t behind = shape->cfg->insns[last].addr +
			  shape->cfg->insns[last].len;

	for (uint32_t i = 0; i < SPIN_ROUNDS; i++) {
		layout->round = i;
		segment_begin(layout, segment, 1);
		if (i == SPIN_ROUNDS - 1 && arc == ARC_NONE) {
			fragment_lead(layout,
				      fragment_insn(layout, FRAGMENT_BRANCH,
						    last),
				      b, 0);
			break;
		}
		exits[nexits++] = relocated->nfragments;
		fragment_insn(layout, FRAGMENT_BRANCH_NOT, last);
		way_probe(layout, arc, b, 0);
	}
	layout->round = 0;
	if (arc != ARC_NONE)
		way_go(layout, b, 0, NO_BLOCK);
	while (nexits)
		relocated->fragments[exits[--nexits]].to =
			relocated->nfragments;
	way_probe(layout, shape->fall_arc[b], shape->fall[b], behind);
	way_go(layout, shape->fall[b], behind, layout->behind);
}

static void
segment_add(struct layout *layout, struct segment *segment, uint32_t behind)
{
	bool ends = segment->end == END_BLOCK;

	layout->behind = behind;
	segment->fragment = layout->relocated->nfragments;
	if (segment_spins(layout->shape, segment)) {
		spin_add(layout, segment);
		return;
	}
	segment_begin(layout, segment, ends);
	if (ends)
		last_add(layout, segment->block,
			 segment->first + segment->count - 1);
	else
		anchor_add(layout, segment);
}

/*
 * Resolve what a loop's round leads to, in the fragments from number `from` on:
 * the loop's head in the next round, other blocks of the loop in this one.
 */
static void
round_resolve(struct layout *layout, uint32_t from, uint32_t head,
	      uint32_t last, uint32_t next)
{
	const struct shape *shape = layout->shape;

	for (uint32_t i = from; i < layout->relocated->nfragments; i++) {
		struct fragment *fragment = &layout->relocated->fragments[i];
		uint32_t block = fragment->to & ~TO_BLOCK;

		if (fragment->to == FRAGMENT_OUT ||
		    !(fragment->to & TO_BLOCK) || block < head || block > last)
			continue;
		fragment->to =
			block == head ?
				next :
				shape->segments[shape->leads[block]].fragment;
	}
}

/*
 * Add a loop in several rounds.  Control from outside the loop comes to the
 * first round.
 */
static void
loop_add(struct layout *layout, uint32_t head, uint32_t last)
{
	struct shape *shape = layout->shape;
	struct segment *segments = shape->segments + shape->leads[head];
	uint32_t n = last - head + 1, *firsts = mem_alloc(n * sizeof(*firsts));

	for (uint32_t round = LOOP_ROUNDS; round-- > 0;) {
		uint32_t from = layout->relocated->nfragments;

		layout->round = round;
		for (uint32_t i = 0; i < n; i++) {
			segment_add(layout, &segments[i],
				    round && i == n - 1 ? NO_BLOCK :
							  head + i + 1);
			if (round == LOOP_ROUNDS - 1)
				firsts[i] = segments[i].fragment;
		}
		round_resolve(layout, from, head, last,
			      round ? layout->relocated->nfragments :
				      firsts[0]);
	}
	for (uint32_t i = 0; i < n; i++)
		segments[i].fragment = firsts[i];
	free(firsts);
}

/* Returns the number of the last segment that was added. */
static uint32_t
loop_or_segment_add(struct layout *layout, uint32_t i)
{
	struct shape *shape = layout->shape;
	struct segment *segment = &shape->segments[i];
	uint32_t last = NO_BLOCK, b = segment->block;

	if (segment->leads && shape_is_head(shape, b)) {
		struct fragment *align = fragment_add(
			layout, FRAGMENT_ALIGN, shape_first(shape, b)->addr);

		align->arrived = false;
		last = shape_loop_last(shape, b);
	}
	if (last != NO_BLOCK) {
		loop_add(layout, b, last);
		return i + last - b;
	}
	segment_add(layout, segment, b + 1);
	return i;
}

static void
segments_add(struct layout *layout)
{
	for (uint32_t i = 0; i < layout->shape->nsegments; i++)
		if (layout->shape->segments[i].relocated)
			i = loop_or_segment_add(layout, i);
}

static void
ways_resolve(struct layout *layout)
{
	const struct shape *shape = layout->shape;
	struct relocated *relocated = layout->relocated;

	for (uint32_t i = 0; i < relocated->nfragments; i++) {
		struct fragment *fragment = &relocated->fragments[i];
		uint32_t block = fragment->to & ~TO_BLOCK;

		if (fragment->to != FRAGMENT_OUT && fragment->to & TO_BLOCK)
			fragment->to =
				shape->segments[shape->leads[block]].fragment;
	}
}

int
layout_make(struct shape *shape, struct relocated *relocated)
{
	struct layout layout = {
		.shape = shape,
		.relocated = relocated,
		.index = INDEX_NONE,
	};
	uint32_t nloops;

	segments_add(&layout);
	nloops = relocated->nfragments;
	stubs_add(&layout);
	slow_paths_add(&layout);
	ways_resolve(&layout);
	free(layout.stubs);
	free(layout.slow_paths);
	offsets_make(relocated, nloops);
	dispatches_place(relocated);
	if (layout.spoils)
		return fail("the flags are in use before %#" PRIx64 ", and a "
			    "locked probe would change them",
			    layout.spoilt);
	return 0;
}
