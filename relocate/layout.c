/*
 * Lays out a relocated function.  A block's probe comes at its start, an edge's
 * behind the branch, on the way that control takes, or in a stub behind the
 * function if control seldom takes that way.  Decides neither what is relocated
 * nor where the original is patched.
 */
#include "relocate/layout.h"

#include <inttypes.h>
#include <stdlib.h>

#include "relocate/dispatch.h"
#include "relocate/flags.h"
#include "relocate/offsets.h"
#include "util/fail.h"
#include "util/mem.h"

/*
 * In fragment.to, until all fragments are there: the rest is a block's number.
 */
static const uint32_t TO_BLOCK = UINT32_C(1) << 31;

/*
 * How many rounds of a loop of one block, and of a loop of several, are laid
 * out one after another.  Each round's probes have slots of their own, which
 * relocated_sum adds up: if all rounds added to the same slot, each addition
 * would wait for the last one's store.
 */
enum { SPIN_ROUNDS = 4, LOOP_ROUNDS = 2 };

/* An edge whose probe is behind the function. */
struct stub {
	uint32_t branch;	/* the fragment that goes to the stub */
	uint32_t arc;
	uint32_t block;		/* where the stub leads, or NO_BLOCK */
	uint64_t target;
};

struct layout {
	struct shape *shape;
	struct relocated *relocated;
	struct stub *stubs;
	size_t nstubs;
	uint32_t round;		/* of an unrolled loop */
	uint32_t behind;	/* the block laid out next, if any */
	bool spoils;		/* a probe would change flags that are live */
	uint64_t spoilt;	/* ... before this address */
};

static struct fragment *
fragment_add(struct layout *layout, enum fragment_kind kind, uint64_t addr)
{
	struct relocated *relocated = layout->relocated;
	struct fragment *fragment;

	must(relocated->nfragments < TO_BLOCK);
	fragment = vec_push(relocated->fragments, relocated->nfragments);
	*fragment = (struct fragment){
		.addr = addr,
		.kind = (uint8_t)kind,
		.to = FRAGMENT_OUT,
		.probe = PROBE_NONE,
		.arrived = true,
	};
	return fragment;
}

/*
 * Let a fragment go to a block, or out to the target if the block is NO_BLOCK.
 */
static void
fragment_lead(const struct layout *layout, struct fragment *fragment,
	      uint32_t block, uint64_t target)
{
	const struct shape *shape = layout->shape;

	fragment->target = block == NO_BLOCK ? target :
					       shape_first(shape, block)->addr;
	if (block != NO_BLOCK && shape->segments[shape->leads[block]].relocated)
		fragment->to = TO_BLOCK | block;
}

/* The probe's copy for the present round of an unrolled loop. */
static uint32_t
probe_again(struct layout *layout, uint32_t index)
{
	struct relocated *relocated = layout->relocated;
	struct probe probe = relocated->probes[index];

	probe.slot = layout->shape->in->slot + relocated->nextras;
	*vec_push(relocated->extras, relocated->nextras) = index;
	*vec_push(relocated->probes, relocated->nprobes) = probe;
	return relocated->nprobes - 1;
}

static void
probe_add(struct layout *layout, uint32_t arc, uint64_t addr, uint32_t live,
	  bool arrived)
{
	const struct shape *shape = layout->shape;
	uint32_t index = shape->probes[arc];
	const struct probe *probe = &shape->in->probes[index];
	struct fragment *fragment = fragment_add(layout, FRAGMENT_PROBE, addr);

	live &= shape->arch->emit.probe_flags(probe->op, probe->operand);
	fragment->form = PROBE_THREAD;
	if (shape->in->shared)
		fragment->form = PROBE_LOCKED;
	else if (live)
		fragment->form = PROBE_THREAD_KEEP;
	if (live && shape->in->shared) {
		layout->spoils = true;
		layout->spoilt = addr;
	}
	fragment->op = probe->op;
	fragment->operand = probe->operand;
	fragment->probe = layout->round ? probe_again(layout, index) : index;
	fragment->arrived = arrived;
}

/* Add an edge's probe on its way to the block, or out to the target. */
static void
way_probe(struct layout *layout, uint32_t arc, uint32_t block, uint64_t target)
{
	const struct shape *shape = layout->shape;

	if (arc == ARC_NONE)
		return;
	if (block == NO_BLOCK)
		probe_add(layout, arc, target, flags_at(shape->in, target),
			  false);
	else
		probe_add(layout, arc, shape_first(shape, block)->addr,
			  shape->live[block], false);
}

/*
 * Go on to a block or out to the target.  Needs no fragment if the block is
 * relocated and comes next.
 */
static void
way_go(struct layout *layout, uint32_t block, uint64_t target, uint32_t next)
{
	const struct shape *shape = layout->shape;
	struct fragment *fragment;

	if (block != NO_BLOCK && block == next &&
	    shape->segments[shape->leads[block]].relocated)
		return;
	fragment = fragment_add(layout, FRAGMENT_GO, target);
	fragment_lead(layout, fragment, block, target);
	fragment->addr = fragment->target;
	fragment->arrived = false;
}

static void
stub_add(struct layout *layout, uint32_t branch, uint32_t arc, uint32_t block,
	 uint64_t target)
{
	*vec_push(layout->stubs,
		  layout->nstubs) = (struct stub){ branch, arc, block, target };
}

static struct fragment *
insn_add(struct layout *layout, enum fragment_kind kind, uint32_t i)
{
	const struct insn *insn = &layout->shape->cfg->insns[i];
	const struct motion *motion = &layout->shape->motions[i];
	struct fragment *fragment;

	if (kind == FRAGMENT_INSN && motion->idle)
		kind = FRAGMENT_NOTHING;
	fragment = fragment_add(layout, kind, insn->addr);
	fragment->len = insn->len;
	fragment->disp = motion->disp;
	fragment->cond = motion->cond;
	return fragment;
}

/* Does the branch go to its target more often than not? */
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
	struct fragment *fragment;

	if (shape->last_arc[block] != ARC_NONE) {
		/* Both ways lead to the same block. */
		fragment = insn_add(layout, FRAGMENT_BRANCH, last);
		fragment->to = layout->relocated->nfragments;
		way_probe(layout, shape->last_arc[block], fall, behind);
	} else if (arc == ARC_NONE) {
		fragment = insn_add(layout, FRAGMENT_BRANCH, last);
		fragment_lead(layout, fragment, taken, insn->target);
	} else if (branch_likely(layout, block)) {
		over = layout->relocated->nfragments;
		insn_add(layout, FRAGMENT_BRANCH_NOT, last);
		way_probe(layout, arc, taken, insn->target);
		way_go(layout, taken, insn->target, NO_BLOCK);
		layout->relocated->fragments[over].to =
			layout->relocated->nfragments;
	} else {
		stub_add(layout, layout->relocated->nfragments, arc, taken,
			 insn->target);
		insn_add(layout, FRAGMENT_BRANCH, last);
	}
	way_probe(layout, shape->fall_arc[block], fall, behind);
	way_go(layout, fall, behind, layout->behind);
}

/*
 * Count a block's last edge before its last instruction, which always takes it.
 */
static void
last_probe(struct layout *layout, uint32_t block)
{
	const struct shape *shape = layout->shape;

	if (shape->last_arc[block] == ARC_NONE)
		return;
	probe_add(layout, shape->last_arc[block],
		  shape_last(shape, block)->addr,
		  flags_before_last(shape->in, shape->motions, shape->live,
				    block),
		  true);
}

/* Count the edge that an indirect jump takes, and jump. */
static void
dispatch_add(struct layout *layout, uint32_t block, uint32_t last)
{
	const struct shape *shape = layout->shape;
	uint32_t arc = shape->table_arc[block];
	struct fragment *fragment;
	size_t avail;

	if (arc == ARC_NONE)
		return;
	fragment = insn_add(layout, FRAGMENT_DISPATCH, last);
	fragment->load = shape->arch->emit.dispatch_load(
		shape->in->text(shape->in->ctx, fragment->addr, &avail),
		fragment->len);
	fragment->map = shape->maps[block];
	fragment->probe = shape->probes[arc];
	fragment->operand = shape->in->probes[fragment->probe].operand;
}

/* Add a block's last instruction and what follows it. */
static void
last_add(struct layout *layout, uint32_t block, uint32_t last)
{
	const struct shape *shape = layout->shape;
	const struct insn *insn = &shape->cfg->insns[last];
	uint32_t taken = shape->taken[block], fall = shape->fall[block];
	struct fragment *fragment;

	switch (insn->kind) {
	case INSN_BRANCH:
		branch_add(layout, block, last);
		return;
	case INSN_JUMP:
		last_probe(layout, block);
		if (insn->pushes) {
			fragment = insn_add(layout, FRAGMENT_CALL, last);
			fragment->direct = true;
			fragment_lead(layout, fragment, taken, insn->target);
		} else if (taken == layout->behind &&
			   shape->segments[shape->leads[taken]].relocated) {
			fragment = insn_add(layout, FRAGMENT_NOTHING, last);
		} else {
			fragment = insn_add(layout, FRAGMENT_GO, last);
			fragment_lead(layout, fragment, taken, insn->target);
		}
		break;
	case INSN_RETURN:
	case INSN_STOP:
	case INSN_JUMP_INDIRECT:
		last_probe(layout, block);
		dispatch_add(layout, block, last);
		fragment = insn_add(layout, FRAGMENT_INSN, last);
		break;
	default:
		insn_add(layout, FRAGMENT_INSN, last);
		way_probe(layout, shape->last_arc[block], fall,
			  insn->addr + insn->len);
		way_go(layout, fall, insn->addr + insn->len, layout->behind);
		return;
	}
	if (shape->last_arc[block] != ARC_NONE)
		fragment->probe = shape->probes[shape->last_arc[block]];
}

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
	fragment = insn_add(layout, FRAGMENT_CALL,
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
	for (uint32_t i = 0; i < segment->count - n; i++)
		insn_add(layout, FRAGMENT_INSN, segment->first + i);
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
				      insn_add(layout, FRAGMENT_BRANCH, last),
				      b, 0);
			break;
		}
		exits[nexits++] = relocated->nfragments;
		insn_add(layout, FRAGMENT_BRANCH_NOT, last);
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
stubs_add(struct layout *layout)
{
	for (size_t i = 0; i < layout->nstubs; i++) {
		const struct stub *stub = &layout->stubs[i];

		layout->relocated->fragments[stub->branch].to =
			layout->relocated->nfragments;
		way_probe(layout, stub->arc, stub->block, stub->target);
		way_go(layout, stub->block, stub->target, NO_BLOCK);
	}
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
	struct layout layout = { .shape = shape, .relocated = relocated };
	uint32_t nloops;

	segments_add(&layout);
	nloops = relocated->nfragments;
	stubs_add(&layout);
	ways_resolve(&layout);
	free(layout.stubs);
	offsets_make(relocated, nloops);
	dispatches_place(relocated);
	if (layout.spoils)
		return fail("the flags are in use before %#" PRIx64 ", and a "
			    "locked probe would change them",
			    layout.spoilt);
	return 0;
}
