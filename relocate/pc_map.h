/*
 * Which original pc a pc in a relocated function stands for, and the reverse.
 */
#ifndef RELOCATE_PC_MAP_H
#define RELOCATE_PC_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "util/fail.h"

struct relocated;		/* see relocate/relocate.h */
struct edge_index;

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
	bool saved;		/* registers are in the scratch slots */
	bool dispatched;	/* the edge of the block's indirect jump has
				   been counted: the scratch slots have the va
				   that it leads to, or */
	const struct edge_index *index;	/* ... this tells, unless NULL */
	bool begins;		/* the instruction at addr begins here, in
				   whichever round of an unrolled loop */
	bool between;		/* no original pc corresponds yet, but one will
				   after some instructions */
	bool full;		/* at the trap of a record that has no room */
};

/*
 * What the pc at the offset stands for, into *entry.  Returns 0, or -1 without
 * a message if no instruction of the relocated function begins there.
 */
int pc_map_entry(const struct relocated *relocated, uint32_t offset,
		 struct pc_map_entry *entry) MUST_CHECK;

/*
 * The offset in the relocated function of the original's instruction at addr,
 * behind the increment for its block; or -1 if the instruction only runs in
 * place.
 */
int64_t relocated_offset(const struct relocated *relocated, uint64_t addr);

/*
 * Whether the program still runs the original's instruction at addr, relocated
 * or not.
 */
bool relocated_stays(const struct relocated *relocated, uint64_t addr);

#endif
