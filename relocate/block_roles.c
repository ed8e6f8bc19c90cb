/*
 * What each block of a function is to its relocated function: code, padding or
 * perhaps data; where control goes from it; and where the probe of
 * each edge goes.  Does not decide what is relocated.
 */
#include "relocate/shape.h"
#include "util/mem.h"

static enum shape_block
block_kind(const struct shape *shape, uint32_t block)
{
	const struct flow *flow = shape->flow;
	const struct cfg *cfg = shape->cfg;
	const struct block *b = &cfg->blocks[block];

	if (flow->in[FLOW_BLOCK + block] != flow->in[FLOW_BLOCK + block + 1])
		return BLOCK_CODE;
	if (b->proof == PROOF_PADDING)
		return BLOCK_PADDING;
	return BLOCK_DEAD;
}

static void
ways_find(struct shape *shape)
{
	const struct cfg *cfg = shape->cfg;

	shape->taken = mem_numbers(cfg->nblocks, NO_BLOCK);
	shape->fall = mem_numbers(cfg->nblocks, NO_BLOCK);
	for (size_t i = 0; i < cfg->nedges; i++) {
		const struct edge *edge = &cfg->edges[i];

		if (edge->kind == EDGE_FALL)
			shape->fall[edge->from] = edge->to;
		else if (edge->kind == EDGE_TAKEN)
			shape->taken[edge->from] = edge->to;
	}
}

/* Sort the edges that have probes by where these go. */
static void
arcs_find(struct shape *shape)
{
	const struct flow *flow = shape->flow;
	size_t n = shape->cfg->nblocks;

	shape->taken_arc = mem_numbers(n, ARC_NONE);
	shape->fall_arc = mem_numbers(n, ARC_NONE);
	shape->last_arc = mem_numbers(n, ARC_NONE);
	shape->table_arc = mem_numbers(n, ARC_NONE);
	shape->maps = mem_numbers(n, 0);
	shape->indexes = mem_numbers(n, INDEX_NONE);
	for (uint32_t e = 0; e < flow->nedges; e++) {
		const struct flow_edge *edge = &flow->edges[e];
		uint32_t from = edge->from - FLOW_BLOCK;

		if (shape->probes[e] == PROBE_NONE)
			continue;
		switch (edge->by) {
		case BY_TAKEN:
			shape->taken_arc[from] = e;
			break;
		case BY_FALL:
			shape->fall_arc[from] = e;
			break;
		case BY_TABLE:
			if (shape->table_arc[from] == ARC_NONE)
				shape->table_arc[from] = e;
			break;
		default:
			shape->last_arc[from] = e;
			break;
		}
	}
}

/*
 * The only edge to the block, or ARC_NONE; jumps with unknown targets are not
 * expected to lead there.
 */
static uint32_t
edge_alone(const struct shape *shape, uint32_t b)
{
	const struct flow *flow = shape->flow;
	const struct block *block = &shape->cfg->blocks[b];
	uint32_t found = ARC_NONE, n = 0, v = FLOW_BLOCK + b;

	for (uint32_t i = flow->in[v]; i < flow->in[v + 1]; i++) {
		if (shape->in->unknown && !block->label && !block->external &&
		    flow->edges[flow->ins[i]].from == FLOW_ROOT)
			continue;
		found = flow->ins[i];
		n++;
	}
	return n == 1 ? found : ARC_NONE;
}

/*
 * Find the blocks that no more leads to than to an instruction in the middle of
 * a block: but for the fall, nothing comes to them, not even what may be data,
 * and no instruction takes their address.
 */
static void
trails_find(struct shape *shape)
{
	const struct flow *flow = shape->flow;
	const struct cfg *cfg = shape->cfg;

	shape->trails = mem_alloc(cfg->nblocks + 1);
	for (uint32_t b = 1; b < cfg->nblocks; b++) {
		uint32_t in = edge_alone(shape, b);
		const struct insn *before = shape_last(shape, b - 1);
		const struct insn *first = shape_first(shape, b);

		shape->trails[b] = shape_runs(shape, b) && in != ARC_NONE &&
				   cfg->in[b + 1] - cfg->in[b] == 1 &&
				   (flow->edges[in].by == BY_FALL ||
				    (flow->edges[in].by == BY_LAST &&
				     shape->in->unknown)) &&
				   shape->fall[b - 1] == b &&
				   before->addr + before->len == first->addr &&
				   !shape->motions[cfg->blocks[b].first].lands;
	}
	for (size_t i = 0; i < cfg->ninsns; i++) {
		uint64_t refers = shape->motions[i].refers;
		long b = refers ? cfg_block(cfg, refers) : BLOCK_NONE;

		if (b != BLOCK_NONE)
			shape->trails[b] = false;
	}
}

void
shape_blocks(struct shape *shape)
{
	size_t n = shape->cfg->nblocks;

	shape->probes = mem_numbers(flow_arcs(shape->flow), PROBE_NONE);
	/* The first of an element: it leads to the others. */
	for (uint32_t i = shape->in->nprobes; i-- > 0;)
		shape->probes[shape->in->probes[i].element] = i;
	shape->kinds = mem_alloc(n + 1);
	for (uint32_t b = 0; b < n; b++)
		shape->kinds[b] = block_kind(shape, b);
	ways_find(shape);
	trails_find(shape);
	arcs_find(shape);
}
