/*
 * Finds loops within a region of a function by their definition, instruction by
 * instruction: an edge goes round a loop if its target dominates its source,
 * seen from all places where control enters the region.
 */
#ifndef TESTS_LIB_REGIONS_H
#define TESTS_LIB_REGIONS_H

#include <string.h>

#include "flow/graph.h"

enum { REGION_INSNS = 64 };

/* The edges of a region, as sets of instructions: one bit each. */
struct region {
	uint64_t next[REGION_INSNS];	/* successors within the region */
	uint64_t entered;	/* entered from outside */
	uint64_t back[REGION_INSNS];	/* successors that dominate it */
};

uint64_t region_reach(const struct region *region, uint64_t without);
unsigned vert_first(const struct cfg *cfg, uint32_t vert);
unsigned vert_last(const struct cfg *cfg, uint32_t vert);

/*
 * Make the region of the instructions with owner[insn] == id, in a cfg of at
 * most REGION_INSNS instructions.
 */
void region_make(struct region *region, const struct cfg *cfg,
		 const struct flow *flow, const uint32_t *owner, uint32_t id);

/* Whether the region has no cycle that control reaches without these edges. */
bool region_is_acyclic(const struct region *region, const uint64_t *without);

#endif
