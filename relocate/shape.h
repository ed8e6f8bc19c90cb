/*
 * The segments of a function: which of them the relocated function has, and
 * which run in place.  For relocate/ only.
 */
#ifndef RELOCATE_SHAPE_H
#define RELOCATE_SHAPE_H

#include "relocate/relocate.h"
#include "relocate/segment.h"
#include "util/fail.h"

static const uint32_t NO_BLOCK = UINT32_MAX, INDEX_NONE = UINT32_MAX;

struct shape {
	const struct relocate_input *in;
	const struct arch *arch;
	const struct cfg *cfg;
	const struct flow *flow;
	struct motion *motions;	/* per instruction */
	uint32_t *live;		/* per block: live flags at its start */
	uint32_t *probes;	/* index per arc of the flow, or PROBE_NONE */
	/* Per block. */
	uint8_t *kinds;		/* enum shape_block */
	uint32_t *taken, *fall;	/* blocks that control goes to, or NO_BLOCK */
	uint32_t *taken_arc, *fall_arc, *last_arc;	/* the edge with a
							   probe, or ARC_NONE */
	uint32_t *table_arc;	/* the first edge with a probe of its indirect
				   jump, or ARC_NONE */
	uint32_t *maps;		/* ... number of the dispatch's map */
	uint32_t *indexes;	/* ... number in relocated->indexes, or
				   INDEX_NONE */
	bool *trails;		/* control comes there only by falling from the
				   block before it */
	struct segment *segments;
	uint32_t nsegments;
	uint32_t *leads;	/* per block: its first segment */
};

/*
 * What arch->motion tells of each of in->cfg's instructions; the caller owns
 * the array.  Unless tied is NULL, tied[i] says whether instruction i cannot be
 * moved.  NULL with the message if the code cannot be read.
 */
struct motion *motions_make(const struct relocate_input *in, bool *tied);

/*
 * Find the segments and decide which are relocated.  Returns 0, or -1 with the
 * message.  The caller calls shape_close in either case.
 */
int shape_open(struct shape *shape, const struct relocate_input *in) MUST_CHECK;
void shape_close(struct shape *shape);

/*
 * Check that no call, branch or address operand in the function leads to the
 * middle of code that the patches change.  Called when it is decided what is
 * relocated and where the original is patched.  Returns 0, or -1 with the
 * message.
 */
int shape_check(const struct shape *shape,
		const struct relocated *relocated) MUST_CHECK;

/*
 * Find which blocks are code, and where control goes from them: block_roles.c.
 */
void shape_blocks(struct shape *shape);

/* Does a branch lead back to the block?  loop_order.c. */
bool shape_is_head(const struct shape *shape, uint32_t block);

/*
 * Is the segment a short loop of one block that has a probe?  loop_order.c.
 */
bool segment_spins(const struct shape *shape, const struct segment *segment);

/*
 * The last block of a short loop of several blocks that begins with this one,
 * has a probe in it, and has no calls or other loops in it; else NO_BLOCK.
 * loop_order.c.
 */
uint32_t shape_loop_last(const struct shape *shape, uint32_t head);

/* Decide what is relocated and what runs in place: choose.c. */
void segments_choose(struct shape *shape);

/*
 * Have the relocated function entered before the segments that are shy, where
 * possible.  Returns whether anything changed; the caller then calls
 * segments_choose again.
 */
bool segments_louden(struct shape *shape);

/* Does control come to the block from outside the function? */
bool shape_is_root(const struct shape *shape, uint32_t block);

/* Whether the block is code that may run. */
static inline bool
shape_runs(const struct shape *shape, uint32_t block)
{
	return shape->kinds[block] == BLOCK_CODE;
}

/* The last instruction of a block, and the first. */
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

/* The probe at a block's beginning, or PROBE_NONE. */
static inline uint32_t
shape_probe(const struct shape *shape, uint32_t block)
{
	return shape->probes[shape->flow->nedges + block];
}

/* The call or the like behind the segment's instructions. */
static inline const struct insn *
segment_anchor(const struct shape *shape, const struct segment *segment)
{
	return &shape->cfg->insns[segment->first + segment->count];
}

/*
 * How many instructions at the start of an entered segment stay in place: one
 * that marks where indirect control may arrive, or none.  With unknown jumps
 * the patch takes that place, as traps do: one of them may lead past the mark.
 */
static inline uint32_t
segment_skip(const struct shape *shape, const struct segment *segment)
{
	return !shape->in->unknown && segment->leads && segment->entered &&
	       segment->count > 1 && shape->motions[segment->first].lands;
}

/*
 * The bytes from the segment's first instruction that may be changed to its
 * end.
 */
uint32_t segment_bytes(const struct shape *shape,
		       const struct segment *segment);

/*
 * The segment behind this one, if control comes there only by falling from
 * this one: an entry patch here may reach into it.  Else NULL.
 */
struct segment *segment_trailer(const struct shape *shape,
				const struct segment *segment);

/*
 * How many bytes from the segment's entry patch on may be changed: those of
 * relocated code that no longer runs, and padding.  Where a jump does not fit
 * into the segment itself, with those of its trailers.
 */
uint32_t segment_room(const struct shape *shape, const struct segment *segment);

/*
 * Whether room for a patch can be made by having the relocated function do the
 * call behind the segment, though its return is then mispredicted.
 */
bool segment_movable(const struct shape *shape, const struct segment *segment);

/* Bytes of spare padding at an address. */
uint32_t shape_spare(const struct shape *shape, uint64_t addr);

/* Whether the instruction is an anchor: it stays where it is. */
static inline bool
insn_anchored(const struct insn *insn)
{
	return insn->kind == INSN_CALL || insn->kind == INSN_CALL_INDIRECT ||
	       insn->kind == INSN_SYSCALL;
}

#endif
