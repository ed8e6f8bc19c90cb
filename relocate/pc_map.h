/*
 * What a pc in a relocated function stands for.
 */
#ifndef RELOCATE_PC_MAP_H
#define RELOCATE_PC_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* What a pc in a relocated function stands for. */
struct pc_map_entry {
	uint64_t addr;		/* the original pc */
	uint32_t arc;		/* the arc of the flow that is about to be
				   counted on the way to addr, or ARC_NONE; or
				   see added */
	bool added;		/* ... or the arc has just been counted: its
				   block's first instruction, or the edge's
				   branch (at addr), has not run yet */
	bool arrived;		/* control has reached addr: if addr begins a
				   block, the block has been counted */
	bool saved;		/* arch->reg_saved is in the scratch slot */
	bool begins;		/* the instruction at addr begins here, in
				   whichever round of an unrolled loop */
	bool between;		/* no original pc corresponds yet, but one will
				   after an instruction or two */
};

#endif
