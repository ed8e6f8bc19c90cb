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
	uint32_t element;	/* the arc of the flow whose probe is about to
				   commit on the way to addr, or ARC_NONE; or
				   see committed */
	bool committed;		/* ... or the probe has just committed: its
				   block's first instruction, or the edge's
				   branch (at addr), has not run yet */
	bool arrived;		/* control has reached addr: if addr begins a
				   block, the block's probe has committed */
	bool saved;		/* arch->reg_saved is in the scratch slot */
	bool begins;		/* the instruction at addr begins here, in
				   whichever round of an unrolled loop */
	bool between;		/* no original pc corresponds yet, but one will
				   after an instruction or two */
};

#endif
