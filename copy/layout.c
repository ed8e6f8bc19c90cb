/*
 * Lays a copy out.  A counter of a block is at its start; that of an edge is
 * behind the branch, on the way that control goes there, or, if it goes there
 * seldom, behind the function.
 */
#include "copy/layout.h"

#include <inttypes.h>
#include <stdlib.h>

#include "copy/flags.h"
#include "copy/offsets.h"
#include "util/fail.h"
#include "util/mem.h"

/* Until all pieces are there: `to` is a block. */
static const uint32_t TO_BLOCK = UINT32_C(1) << 31;

/*
 * A loop of one block is unrolled so often, with as many counters that are
 * added up: one that is added to every time round has to wait for itself.  So
 * is a loop of several, with a copy of all of them.
 */
enum { SPIN_ROUNDS = 4, LOOP_ROUNDS = 2 };

/* A way that is counted behind the function. */
struct stub {
	uint32_t branch;	/* the piece that goes there, or PIECE_OUT */
	uint32_t arc;
	uint32_t block;		/* it leads to, or NO_BLOCK */
	uint64_t target;
};

struct layout {
	struct shape *shape;
	struct copy *copy;
	struct stub *stubs;
	size_t nstubs;
	uint32_t round;		/* of an unrolled loop */
	uint32_t behind;	/* the block that is laid out next, if any */
	bool spoils;		/* a counter changes flags that are live */
	uint64_t spoilt;	/* ... before this address */
};

static struct piece *
piece_add(struct layout *layout, enum piece_kind kind, uint64_t addr)
{
	struct copy *copy = layout->copy;
	struct piece *piece;

	must(copy->npieces < TO_BLOCK);
	piece = vec_push(copy->pieces, copy->npieces);
	*piece = (struct piece){
		.addr = addr, .kind = (uint8_t)kind, .to = PIECE_OUT,
		.arc = ARC_NONE, .arrived = true,
	};
	return piece;
}

/* Let a piece go to a block, or out of the function if that is none. */
static void
piece_lead(const struct layout *layout, struct piece *piece, uint32_t block,
	   uint64_t target)
{
	const struct shape *shape = layout->shape;

	piece->target = block == NO_BLOCK ? target :
					    shape_first(shape, block)->addr;
	if (block != NO_BLOCK && shape->segments[shape->leads[block]].copied)
		piece->to = TO_BLOCK | block;
}

static void
count_add(struct layout *layout, uint32_t arc, uint64_t addr, uint32_t live,
	  bool arrived)
{
	const struct shape *shape = layout->shape;
	enum piece_kind kind = PIECE_COUNT;
	struct copy *copy = layout->copy;
	struct piece *piece;

	live &= shape->arch->count_flags;
	if (shape->in->counting == COUNTING_LOCKED)
		kind = PIECE_COUNT_LOCKED;
	else if (live)
		kind = PIECE_COUNT_KEEP;
	if (live && kind == PIECE_COUNT_LOCKED) {
		layout->spoils = true;
		layout->spoilt = addr;
	}
	piece = piece_add(layout, kind, addr);
	piece->counter = shape->counters[arc];
	if (layout->round) {
		*vec_push(copy->extras, copy->nextras) =
			piece->counter - shape->in->counter;
		piece->counter = shape->in->counter +
				 shape->in->placement->narcs +
				 copy->nextras - 1;
	}
	piece->arc = arc;
	piece->arrived = arrived;
}

/* Count an edge on its way to the block, or to the outside. */
static void
way_count(struct layout *layout, uint32_t arc, uint32_t block, uint64_t target)
{
	const struct shape *shape = layout->shape;

	if (arc == ARC_NONE)
		return;
	if (block == NO_BLOCK)
		count_add(layout, arc, target, shape->arch->all_flags, false);
	else
		count_add(layout, arc, shape_first(shape, block)->addr,
			  shape->live[block], false);
}

/* Go on to a block, or out; nothing if it is copied right behind. */
static void
way_go(struct layout *layout, uint32_t block, uint64_t target, uint32_t next)
{
	const struct shape *shape = layout->shape;
	struct piece *piece;

	if (block != NO_BLOCK && block == next &&
	    shape->segments[shape->leads[block]].copied)
		return;
	piece = piece_add(layout, PIECE_GO, target);
	piece_lead(layout, piece, block, target);
	piece->addr = piece->target;
	piece->arrived = false;
}

static void
stub_add(struct layout *layout, uint32_t branch, uint32_t arc, uint32_t block,
	 uint64_t target)
{
	*vec_push(layout->stubs, layout->nstubs) = (struct stub){
		branch, arc, block, target
	};
}

static struct piece *
insn_add(struct layout *layout, enum piece_kind kind, uint32_t i)
{
	const struct insn *insn = &layout->shape->cfg->insns[i];
	const struct motion *motion = &layout->shape->motions[i];
	struct piece *piece;

	if (kind == PIECE_INSN && motion->idle)
		kind = PIECE_NOTHING;
	piece = piece_add(layout, kind, insn->addr);
	piece->len = insn->len;
	piece->disp = motion->disp;
	piece->cond = motion->cond;
	return piece;
}

/* Does a branch go to its target more often than not? */
static bool
branch_likely(const struct layout *layout, uint32_t block)
{
	const struct shape *shape = layout->shape;
	const struct weights *weights = shape->in->weights;
	const struct flow *flow = shape->flow;
	uint32_t v = FLOW_BLOCK + block;
	double taken = 0, fall = 0;

	if (!weights)
		return shape_last(shape, block)->target <=
		       shape_last(shape, block)->addr;
	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++) {
		if (flow->edges[e].by == BY_TAKEN)
			taken = weights->edges[e];
		else if (flow->edges[e].by == BY_FALL)
			fall = weights->edges[e];
	}
	return taken > fall;
}

static void
branch_add(struct layout *layout, uint32_t block, uint32_t last)
{
	const struct shape *shape = layout->shape;
	const struct insn *insn = &shape->cfg->insns[last];
	uint32_t taken = shape->taken[block], fall = shape->fall[block];
	uint32_t arc = shape->taken_arc[block], over;
	uint64_t behind = insn->addr + insn->len;
	struct piece *piece;

	if (shape->last_arc[block] != ARC_NONE) {
		/* Both ways lead to the same place. */
		piece = insn_add(layout, PIECE_BRANCH, last);
		piece->to = layout->copy->npieces;
		way_count(layout, shape->last_arc[block], fall, behind);
	} else if (arc == ARC_NONE) {
		piece = insn_add(layout, PIECE_BRANCH, last);
		piece_lead(layout, piece, taken, insn->target);
	} else if (branch_likely(layout, block)) {
		over = layout->copy->npieces;
		insn_add(layout, PIECE_BRANCH_NOT, last);
		way_count(layout, arc, taken, insn->target);
		way_go(layout, taken, insn->target, NO_BLOCK);
		layout->copy->pieces[over].to = layout->copy->npieces;
	} else {
		stub_add(layout, layout->copy->npieces, arc, taken,
			 insn->target);
		insn_add(layout, PIECE_BRANCH, last);
	}
	way_count(layout, shape->fall_arc[block], fall, behind);
	way_go(layout, fall, behind, layout->behind);
}

/* Count an edge that whoever executes this instruction takes. */
static void
last_count(struct layout *layout, uint32_t block)
{
	const struct shape *shape = layout->shape;

	if (shape->last_arc[block] == ARC_NONE)
		return;
	count_add(layout, shape->last_arc[block],
		  shape_last(shape, block)->addr,
		  flags_before_last(shape->arch, shape->cfg, shape->motions,
				    shape->live, block), true);
}

/* The last instruction of a block, and what comes behind it. */
static void
last_add(struct layout *layout, uint32_t block, uint32_t last)
{
	const struct shape *shape = layout->shape;
	const struct insn *insn = &shape->cfg->insns[last];
	uint32_t taken = shape->taken[block], fall = shape->fall[block];
	struct piece *piece;

	switch (insn->kind) {
	case INSN_BRANCH:
		branch_add(layout, block, last);
		return;
	case INSN_JUMP:
		last_count(layout, block);
		if (taken == layout->behind &&
		    shape->segments[shape->leads[taken]].copied) {
			piece = insn_add(layout, PIECE_NOTHING, last);
		} else {
			piece = insn_add(layout, PIECE_GO, last);
			piece_lead(layout, piece, taken, insn->target);
		}
		break;
	case INSN_RETURN:
	case INSN_STOP:
	case INSN_JUMP_INDIRECT:
		last_count(layout, block);
		piece = insn_add(layout, PIECE_INSN, last);
		break;
	default:
		insn_add(layout, PIECE_INSN, last);
		way_count(layout, shape->last_arc[block], fall,
			  insn->addr + insn->len);
		way_go(layout, fall, insn->addr + insn->len, layout->behind);
		return;
	}
	piece->arc = shape->last_arc[block];
}

/* To the call where it is, or what it does. */
static void
anchor_add(struct layout *layout, const struct segment *segment)
{
	const struct insn *anchor = segment_anchor(layout->shape, segment);
	struct piece *piece;

	if (!segment->moved) {
		piece = piece_add(layout, PIECE_GO, anchor->addr);
		piece->target = anchor->addr;
		return;
	}
	piece = insn_add(layout, PIECE_CALL, segment->first + segment->count);
	piece->direct = anchor->kind == INSN_CALL;
	piece->target = anchor->target;
}

/* What counts the block, and its instructions without the last n. */
static void
segment_begin(struct layout *layout, const struct segment *segment, uint32_t n)
{
	struct shape *shape = layout->shape;
	uint32_t b = segment->block;

	if (segment->leads && shape_counter(shape, b) != NO_COUNTER)
		count_add(layout, shape->flow->nedges + b,
			  shape_first(shape, b)->addr, shape->live[b], false);
	for (uint32_t i = 0; i < segment->count - n; i++)
		insn_add(layout, PIECE_INSN, segment->first + i);
}

static void
spin_add(struct layout *layout, const struct segment *segment)
{
	struct shape *shape = layout->shape;
	struct copy *copy = layout->copy;
	uint32_t b = segment->block, last = segment->first + segment->count - 1;
	uint32_t exits[SPIN_ROUNDS], nexits = 0, arc = shape->taken_arc[b];
	uint64_t behind = shape->cfg->insns[last].addr +
			  shape->cfg->insns[last].len;

	for (uint32_t i = 0; i < SPIN_ROUNDS; i++) {
		layout->round = i;
		segment_begin(layout, segment, 1);
		if (i == SPIN_ROUNDS - 1 && arc == ARC_NONE) {
			piece_lead(layout, insn_add(layout, PIECE_BRANCH, last),
				   b, 0);
			break;
		}
		exits[nexits++] = copy->npieces;
		insn_add(layout, PIECE_BRANCH_NOT, last);
		way_count(layout, arc, b, 0);
	}
	layout->round = 0;
	if (arc != ARC_NONE)
		way_go(layout, b, 0, NO_BLOCK);
	while (nexits)
		copy->pieces[exits[--nexits]].to = copy->npieces;
	way_count(layout, shape->fall_arc[b], shape->fall[b], behind);
	way_go(layout, shape->fall[b], behind, layout->behind);
}

static void
segment_add(struct layout *layout, struct segment *segment, uint32_t behind)
{
	bool ends = segment->end == END_BLOCK;

	layout->behind = behind;
	segment->piece = layout->copy->npieces;
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

/* Let what was laid out from a piece on lead to this round, or the next. */
static void
round_resolve(struct layout *layout, uint32_t from, uint32_t head,
	      uint32_t last, uint32_t next)
{
	const struct shape *shape = layout->shape;

	for (uint32_t i = from; i < layout->copy->npieces; i++) {
		struct piece *piece = &layout->copy->pieces[i];
		uint32_t block = piece->to & ~TO_BLOCK;

		if (piece->to == PIECE_OUT || !(piece->to & TO_BLOCK) ||
		    block < head || block > last)
			continue;
		piece->to = block == head ? next :
			    shape->segments[shape->leads[block]].piece;
	}
}

/* From elsewhere control comes to the first round. */
static void
loop_add(struct layout *layout, uint32_t head, uint32_t last)
{
	struct shape *shape = layout->shape;
	struct segment *segments = shape->segments + shape->leads[head];
	uint32_t n = last - head + 1, *firsts = mem_alloc(n * sizeof(*firsts));

	for (uint32_t round = LOOP_ROUNDS; round-- > 0;) {
		uint32_t from = layout->copy->npieces;

		layout->round = round;
		for (uint32_t i = 0; i < n; i++) {
			segment_add(layout, &segments[i],
				    round && i == n - 1 ? NO_BLOCK :
							  head + i + 1);
			if (round == LOOP_ROUNDS - 1)
				firsts[i] = segments[i].piece;
		}
		round_resolve(layout, from, head, last, round ?
			      layout->copy->npieces : firsts[0]);
	}
	for (uint32_t i = 0; i < n; i++)
		segments[i].piece = firsts[i];
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
		piece_add(layout, PIECE_ALIGN, shape_first(shape, b)->addr)
			->arrived = false;
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
		if (layout->shape->segments[i].copied)
			i = loop_or_segment_add(layout, i);
}

static void
stubs_add(struct layout *layout)
{
	struct shape *shape = layout->shape;

	for (uint32_t b = 0; b < shape->cfg->nblocks; b++)
		if (shape->table_arc[b] != ARC_NONE)
			stub_add(layout, PIECE_OUT, shape->table_arc[b], b, 0);
	for (size_t i = 0; i < layout->nstubs; i++) {
		const struct stub *stub = &layout->stubs[i];
		uint32_t piece = layout->copy->npieces;

		if (stub->branch != PIECE_OUT)
			layout->copy->pieces[stub->branch].to = piece;
		else
			shape->segments[shape->leads[stub->block]].way = piece;
		way_count(layout, stub->arc, stub->block, stub->target);
		way_go(layout, stub->block, stub->target, NO_BLOCK);
	}
}

static void
ways_resolve(struct layout *layout)
{
	const struct shape *shape = layout->shape;
	struct copy *copy = layout->copy;

	for (uint32_t i = 0; i < copy->npieces; i++) {
		struct piece *piece = &copy->pieces[i];
		uint32_t block = piece->to & ~TO_BLOCK;

		if (piece->to != PIECE_OUT && piece->to & TO_BLOCK)
			piece->to = shape->segments[shape->leads[block]].piece;
	}
}

int
layout_make(struct shape *shape, struct copy *copy)
{
	struct layout layout = { .shape = shape, .copy = copy };
	uint32_t nloops;

	segments_add(&layout);
	nloops = copy->npieces;
	stubs_add(&layout);
	ways_resolve(&layout);
	free(layout.stubs);
	offsets_make(copy, nloops);
	if (layout.spoils)
		return fail("flags are in use before %#" PRIx64 ", and a "
			    "locked counter would change them", layout.spoilt);
	return 0;
}
