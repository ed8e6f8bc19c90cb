/*
 * The loops of a function that its relocated function treats specially: found
 * by the order of blocks alone.  Changes nothing.
 */
#include "relocate/shape.h"

enum { SPIN_LEN = 64, LOOP_LEN = 96 };

bool
shape_is_head(const struct shape *shape, uint32_t block)
{
	const struct cfg *cfg = shape->cfg;

	for (uint32_t e = cfg->in[block]; e < cfg->in[block + 1]; e++)
		if (cfg->edges[e].kind == EDGE_TAKEN &&
		    cfg->edges[e].from >= block)
			return true;
	return false;
}

bool
segment_spins(const struct shape *shape, const struct segment *segment)
{
	uint32_t b = segment->block;
	const struct insn *last = shape_last(shape, b);

	return segment->leads && segment->end == END_BLOCK &&
	       last->kind == INSN_BRANCH && shape->taken[b] == b &&
	       shape->fall[b] != b &&
	       (shape->taken_arc[b] != ARC_NONE ||
		shape_probe(shape, b) != PROBE_NONE) &&
	       last->addr + last->len - shape_first(shape, b)->addr <= SPIN_LEN;
}

/* Has the block, or an edge from it, a probe? */
static bool
block_probed(const struct shape *shape, uint32_t block)
{
	return shape_probe(shape, block) != PROBE_NONE ||
	       shape->taken_arc[block] != ARC_NONE ||
	       shape->fall_arc[block] != ARC_NONE ||
	       shape->last_arc[block] != ARC_NONE;
}

uint32_t
shape_loop_last(const struct shape *shape, uint32_t head)
{
	const struct cfg *cfg = shape->cfg;
	bool reached[LOOP_LEN + 2] = { true }, probes = false;
	uint32_t last = head;

	for (uint32_t e = cfg->in[head]; e < cfg->in[head + 1]; e++)
		if (cfg->edges[e].kind == EDGE_TAKEN &&
		    cfg->edges[e].from > last)
			last = cfg->edges[e].from;
	if (last == head ||
	    shape_last(shape, last)->addr - shape_first(shape, head)->addr >
		    LOOP_LEN)
		return NO_BLOCK;
	for (uint32_t b = head; b <= last; b++) {
		const struct segment *lead = &shape->segments[shape->leads[b]];

		if (!lead->relocated || lead->end != END_BLOCK ||
		    (shape->taken[b] <= b &&
		     (shape->taken[b] != head || b == head)))
			return NO_BLOCK;
		probes |= block_probed(shape, b);
		for (uint32_t to = b + 1; reached[b - head] && to <= last; to++)
			reached[to - head] |= to == shape->taken[b] ||
					      to == shape->fall[b];
	}
	return probes && reached[last - head] ? last : NO_BLOCK;
}
