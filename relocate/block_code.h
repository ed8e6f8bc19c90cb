/*
 * The fragments of single blocks: their instructions, their probes, and the ways
 * out of them.  For relocate/ only.
 */
#ifndef RELOCATE_BLOCK_CODE_H
#define RELOCATE_BLOCK_CODE_H

#include "relocate/shape.h"

/*
 * In fragment.to, until all fragments are there: the rest is a block's number.
 */
static const uint32_t TO_BLOCK = UINT32_C(1) << 31;

/* An edge whose probe is behind the function. */
struct stub {
	uint32_t branch;	/* the fragment that goes to the stub */
	uint32_t arc;
	uint32_t block;		/* where the stub leads, or NO_BLOCK */
	uint64_t target;
};

/*
 * Where an indirect jump's edge is counted without its index, as that is too
 * large, or as control came to the middle.
 */
struct slow_path {
	uint32_t from;		/* the FRAGMENT_INDEX that goes there */
	uint32_t block;
};

struct layout {
	struct shape *shape;
	struct relocated *relocated;
	struct stub *stubs;
	size_t nstubs;
	struct slow_path *slow_paths;
	size_t nslow_paths;
	uint32_t index;		/* that has counted the block's last edge, or
				   INDEX_NONE */
	uint32_t round;		/* of an unrolled loop */
	uint32_t behind;	/* the block laid out next, if any */
	bool spoils;		/* a probe would change flags that are live */
	uint64_t spoilt;	/* ... before this address */
};

/* Add a fragment that jumps nowhere; the next one moves it. */
struct fragment *fragment_add(struct layout *layout, enum fragment_kind kind,
			      uint64_t addr);

/*
 * Let a fragment go to a block, or out to the target if the block is NO_BLOCK.
 */
void fragment_lead(const struct layout *layout, struct fragment *fragment,
		   uint32_t block, uint64_t target);

/* Add the fragment of the shape's instruction i. */
struct fragment *fragment_insn(struct layout *layout, enum fragment_kind kind,
			       uint32_t i);

/*
 * Add the arc's probe, of arrivals at addr, before which these flags are live.
 * arrived: as in struct fragment.
 */
void probe_add(struct layout *layout, uint32_t arc, uint64_t addr,
	       uint32_t live, bool arrived);

/*
 * Add an edge's probe on its way to the block, or out to the target; nothing if
 * the arc is ARC_NONE.
 */
void way_probe(struct layout *layout, uint32_t arc, uint32_t block,
	       uint64_t target);

/*
 * Go on to a block or out to the target.  Needs no fragment if the block is
 * relocated and comes next.
 */
void way_go(struct layout *layout, uint32_t block, uint64_t target,
	    uint32_t next);

/*
 * If the instruction reads the table of the block's indirect jump, and that
 * serves, count the edge that the jump will take.
 */
void index_add(struct layout *layout, uint32_t block, uint32_t insn);

/* Add a block's last instruction and what follows it. */
void last_add(struct layout *layout, uint32_t block, uint32_t last);

/* Add what is seldom run, behind all blocks. */
void stubs_add(struct layout *layout);
void slow_paths_add(struct layout *layout);

#endif
