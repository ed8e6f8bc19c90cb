/*
 * Computes the edges of regions, and dominance by its definition.
 */
#include "tests/lib/regions.h"

uint64_t
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

unsigned
vert_first(const struct cfg *cfg, uint32_t vert)
{
	return cfg->blocks[vert - FLOW_BLOCK].first;
}

unsigned
vert_last(const struct cfg *cfg, uint32_t vert)
{
	return vert_first(cfg, vert) + cfg->blocks[vert - FLOW_BLOCK].count - 1;
}

static void
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

void
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

bool
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
