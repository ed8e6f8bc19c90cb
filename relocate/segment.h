/*
 * Segments: the parts of a function, each of which runs in place or is
 * relocated.
 */
#ifndef RELOCATE_SEGMENT_H
#define RELOCATE_SEGMENT_H

#include "relocate/relocate.h"

enum shape_block {
	BLOCK_CODE,
	BLOCK_PADDING,		/* never run */
	BLOCK_DEAD,		/* nothing leads to it: perhaps data */
};

enum segment_end {
	END_ANCHOR,		/* a call, behind which the block continues */
	END_ANCHOR_LAST,	/* a call that ends the block */
	END_BLOCK,
};

/*
 * Whether control should enter the relocated function before it reaches this
 * segment, where that is possible.
 */
enum segment_shy {
	SHY_NOT,
	SHY_ROOM,		/* there is no room for a patch here: enter
				   wherever there is room */
	SHY_ALWAYS,
};

/*
 * Straight-line code between calls: instructions of one block, not counting the
 * anchor that follows them, a call or the like that stays where it is.
 */
struct segment {
	uint32_t block;
	uint32_t first, count;	/* instructions, perhaps none */
	uint32_t fragment;	/* the first in the relocated function,
				   once laid out; the block's probe comes
				   first */
	uint8_t end;		/* enum segment_end */
	uint8_t kind;		/* if reached: the least enum
				   entry_patch_kind */
	uint8_t ways;		/* ... and all of them: 1 << kind */
	bool relocated;
	bool reached;		/* control reaches it in the original */
	bool entered;		/* ... and enters the relocated function
				   there */
	bool spared;		/* from here control may leave, or call, without
				   passing a probe */
	bool stays;		/* the original runs, or is left as it was */
	bool loud;		/* is entered though it has no probe */
	uint8_t shy;		/* enum segment_shy */
	bool covered;		/* the entry patch before it may reach into it,
				   so no guard is there */
	bool leads;		/* is the first of its block */
	bool moved;		/* the relocated function does what the anchor
				   does, whose bytes are free */
	bool forced;		/* ... because there was no room without */
};

#endif
