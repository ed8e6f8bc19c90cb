/*
 * Finds loops within a region of a function by their definition, instruction by
 * instruction: an edge goes round a loop if its target dominates its source,
 * seen from all places where control enters the region.
 */
#ifndef TESTS_REGIONS_H
#define TESTS_REGIONS_H

#include <string.h>

#include "flow/graph.h"

enum { REGION_INSNS = 64 };

/* The edges of a region, as sets of instructions: one bit each. */
struct region {
	uint64_t next[REGION_INSNS];	/* successors within the region */
	uint64_t entered;	/* entered from outside */
	uint64_t back[REGION_INSNS];	/* successors that dominate it */
};

static inline uint64_t
region_reach(const struct region *region, uint64_t without)
{
	uint64_t reached = 0, todo = region->entered & ~without;

	while (todo) {
		int i = __builtin_ctzll(todo);

		reached |= UINT64_C(1) << i;
		todo |= region->next[i];
		todo &= ~(reached | without);
	}
	return reached;
}

static inline unsigned
vert_first(const struct cfg *cfg, uint32_t vert)
{
	return cfg->blocks[vert - FLOW_BLOCK].first;
}

static inline unsigned
vert_last(const struct cfg *cfg, uint32_t vert)
{
	return vert_first(cfg, vert) + cfg->blocks[vert - FLOW_BLOCK].count - 1;
}

static inline void
region_edge(struct region *region, const uint32_t *owner, uint32_t id,
	    unsigned from, unsigned to)
{
	if (owner[to] != id)
		return;
	if (owner[from] == id)
		region->next[from] |= UINT64_C(1) << to;
	else
		region->entered |= UINT64_C(1) << to;
}

/*
 * Make the region of the instructions with owner[insn] == id, in a cfg of at
 * most REGION_INSNS instructions.
 */
static inline void
region_make(struct region *region, const struct cfg *cfg,
	    const struct flow *flow, const uint32_t *owner, uint32_t id)
{
	uint64_t all;

	memset(region, 0, sizeof(*region));
	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++)
		for (unsigned i = vert_first(cfg, v); i < vert_last(cfg, v);
		     i++)
			region_edge(region, owner, id, i, i + 1);
	for (uint32_t e = 0; e < flow->nedges; e++) {
		const struct flow_edge *edge = &flow->edges[e];
		unsigned to;

		if (edge->to < FLOW_BLOCK)
			continue;
		to = vert_first(cfg, edge->to);
		if (edge->from >= FLOW_BLOCK)
			region_edge(region, owner, id,
				    vert_last(cfg, edge->from), to);
		else if (owner[to] == id)
			region->entered |= UINT64_C(1) << to;
	}
	all = region_reach(region, 0);
	for (unsigned v = 0; v < cfg->ninsns; v++) {
		uint64_t dominated = all &
				     ~region_reach(region, UINT64_C(1) << v);

		for (unsigned u = 0; all >> v & 1 && u < cfg->ninsns; u++)
			if (dominated >> u & 1)
				region->back[u] |= region->next[u] &
						   UINT64_C(1) << v;
	}
}

/* Whether the region has no cycle that control reaches without these edges. */
static inline bool
region_is_acyclic(const struct region *region, const uint64_t *without)
{
	uint64_t left = region_reach(region, 0), leads;

	for (;; left = leads) {
		leads = 0;
		for (unsigned i = 0; i < REGION_INSNS; i++)
			if (left >> i & 1 &&
			    region->next[i] & ~without[i] & left)
				leads |= UINT64_C(1) << i;
		if (leads == left)
			return !left;
	}
}

#endif
