/*
 * The parts of a function, and which of them the relocated function has.  For
 * relocate/ only.
 */
#ifndef RELOCATE_SHAPE_H
#define RELOCATE_SHAPE_H

#include "relocate/relocate.h"

static const uint32_t NO_BLOCK = UINT32_MAX, NO_COUNTER = UINT32_MAX;

enum shape_block {
	BLOCK_CODE,
	BLOCK_PADDING,		/* nothing that would be run */
	BLOCK_DEAD,		/* reached from nowhere: perhaps it is data */
};

enum segment_end {
	END_ANCHOR,		/* a call, behind which its block goes on */
	END_ANCHOR_LAST,	/* a call that ends the block */
	END_BLOCK,
};

/*
 * Should the relocated function be entered before control comes to it, if it
 * can be?
 */
enum segment_shy {
	SHY_NOT,
	SHY_ROOM,		/* there is no room for a patch: wherever
				   there is */
	SHY_ALWAYS,
};

/*
 * Straight-line code between calls: instructions of one block, without the
 * `anchor`, the call or the like behind them, that stays where it is.
 */
struct segment {
	uint32_t block;
	uint32_t first, count;	/* instructions, perhaps none */
	uint32_t fragment;		/* the first in the relocated function,
					   once it is laid out; what counts the
					   block comes first */
	uint32_t way;		/* the fragment to enter the relocated function
				   by, if that is another; else FRAGMENT_OUT */
	uint8_t end;		/* enum segment_end */
	uint8_t kind; /* enum entry_patch_kind, if reached: the least */
	uint8_t ways;		/* ... and all of them: 1 << kind */
	bool copied;
	bool reached;		/* control comes to it in the original */
	bool entered;		/* ... and goes into the relocated function from
				   there */
	bool spared;		/* control may leave from here uncounted */
	bool stays;		/* the original is run, or left as it is */
	bool loud;		/* it is entered though nothing is counted */
	uint8_t shy;		/* enum segment_shy */
	bool leads;		/* its block */
	bool moved;		/* what the anchor does is done in the relocated
				   function, and its bytes are free */
	bool forced;		/* ... since there was no room without */
};

struct shape {
	const struct relocate_input *in;
	const struct arch *arch;
	const struct cfg *cfg;
	const struct flow *flow;
	struct motion *motions;	/* per instruction */
	uint32_t *live;		/* per block: flags */
	uint32_t *counters;	/* per arc of the flow, or NO_COUNTER */
	/* Per block. */
	uint8_t *kinds;		/* enum shape_block */
	uint32_t *taken, *fall;	/* blocks control goes to, or NO_BLOCK */
	uint32_t *taken_arc, *fall_arc, *last_arc;	/* counted, or NONE */
	uint32_t *table_arc;	/* the counted way of an indirect jump to it */
	struct segment *segments;
	uint32_t nsegments;
	uint32_t *leads;	/* per block: its first segment */
};

/*
 * Decide what is copied.  0, or -1 with the message.  shape_close is to be
 * called in any case.
 */
int shape_open(struct shape *shape, const struct relocate_input *in);
void shape_close(struct shape *shape);

/*
 * When it is decided what is copied and where the original is patched: whether
 * code that is run in the original is as it was.  0, or -1 with the message.
 */
int shape_check(const struct shape *shape);

/* Which blocks are code, and where control goes from them: block_roles.c. */
void shape_blocks(struct shape *shape);

/* Does a branch lead back to the block?  loop_order.c. */
bool shape_is_head(const struct shape *shape, uint32_t block);

/* Is it a counted loop of its own that is short? */
bool segment_spins(const struct shape *shape, const struct segment *segment);

/*
 * The last block of a counted, short loop that begins with this one and has no
 * calls or other loops in it; else NO_BLOCK.
 */
uint32_t shape_loop_last(const struct shape *shape, uint32_t head);

/* What is copied and what runs in place: choose.c. */
void segments_choose(struct shape *shape);

/*
 * Have the relocated function entered before the segments that are shy, where
 * that can be: segments_choose is to be called again.  False if nothing has
 * changed.
 */
bool segments_louden(struct shape *shape);

/* Does control come to the block from outside the function? */
bool shape_is_root(const struct shape *shape, uint32_t block);

static inline bool
shape_runs(const struct shape *shape, uint32_t block)
{
	return shape->kinds[block] == BLOCK_CODE;
}

static inline const struct insn *
shape_last(const struct shape *shape, uint32_t block)
{
	const struct block *b = &shape->cfg->blocks[block];

	return &shape->cfg->insns[b->first + b->count - 1];
}

static inline const struct insn *
shape_first(const struct shape *shape, uint32_t block)
{
	return &shape->cfg->insns[shape->cfg->blocks[block].first];
}

/* The counter of a block's beginning, or NO_COUNTER. */
static inline uint32_t
shape_counter(const struct shape *shape, uint32_t block)
{
	return shape->counters[shape->flow->nedges + block];
}

/* The instruction behind the segment's. */
static inline const struct insn *
segment_anchor(const struct shape *shape, const struct segment *segment)
{
	return &shape->cfg->insns[segment->first + segment->count];
}

/*
 * Instructions that are left in place at the beginning of a segment that is
 * entered: one that marks where indirect control may arrive.
 */
static inline uint32_t
segment_skip(const struct shape *shape, const struct segment *segment)
{
	return segment->leads && segment->entered && segment->count > 1 &&
	       shape->motions[segment->first].lands;
}

/*
 * How many bytes from the segment's entry patch on may be changed: of what the
 * relocated function does, or nobody.
 */
uint32_t segment_room(const struct shape *shape,
		      const struct segment *segment);

/*
 * Make room for a patch at a segment: what a call behind it does is done in the
 * relocated function, though returning from it then costs a misprediction.
 * False if there is none that can be moved.
 */
bool segment_force(const struct shape *shape, struct segment *segment);

/* Bytes of nobody's at an address. */
uint32_t shape_spare(const struct shape *shape, uint64_t addr);

static inline bool
insn_anchored(const struct insn *insn)
{
	return insn->kind == INSN_CALL || insn->kind == INSN_CALL_INDIRECT ||
	       insn->kind == INSN_SYSCALL || insn->kind == INSN_TRAP;
}

#endif
