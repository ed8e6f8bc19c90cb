/*
 * Draws flow graphs from text, and makes up and walks random ones.
 */
#include "tests/lib/flows.h"

static uint32_t
drawn_vert(struct drawn *drawn, char c, uint32_t *n)
{
	if (c == '^')
		return FLOW_ROOT;
	if (c == '$')
		return FLOW_EXIT;
	if (!drawn->verts[(int)c])
		drawn->verts[(int)c] = FLOW_BLOCK + (*n)++;
	return drawn->verts[(int)c];
}

struct drawn
drawn_make(const char *text)
{
	struct flow_edge edges[FLOW_TEXT_MAX];
	unsigned outs[FLOW_TEXT_MAX] = { 0 };
	struct drawn drawn = { NULL };
	uint32_t nverts = 0, n = 0;

	for (; *text; text += text[2] ? 3 : 2) {
		uint32_t from = drawn_vert(&drawn, text[0], &nverts);
		uint32_t to = drawn_vert(&drawn, text[1], &nverts);

		edges[n++] = (struct flow_edge){ from, to,
						 from == FLOW_ROOT ?
							 BY_NOTHING :
						 outs[from]++ ? BY_FALL :
								BY_TAKEN };
	}
	for (uint32_t i = 0; i < n; i++)
		if (edges[i].from != FLOW_ROOT && outs[edges[i].from] != 2)
			edges[i].by = outs[edges[i].from] == 1 ? BY_LAST :
								 BY_TABLE;
	drawn.flow = flow_make(nverts, edges, n);
	return drawn;
}

uint32_t
drawn_edge(struct drawn *drawn, const char *name)
{
	uint32_t n = 0, from = drawn_vert(drawn, name[0], &n);
	uint32_t to = drawn_vert(drawn, name[1], &n);

	for (uint32_t e = drawn->flow->out[from];
	     e < drawn->flow->out[from + 1]; e++)
		if (drawn->flow->edges[e].to == to)
			return e;
	abort();
}

uint32_t
drawn_arc(struct drawn *drawn, const char *name)
{
	if (name[1])
		return drawn_edge(drawn, name);
	return arc_of_block(drawn->flow, drawn->verts[(int)name[0]]);
}

static uint32_t
random_vert(unsigned nblocks, unsigned exit_percent)
{
	if (random_chance(exit_percent))
		return FLOW_EXIT;
	return FLOW_BLOCK + random_below(nblocks);
}

/* Make up the edges out of one block; returns their number. */
static uint32_t
random_outs(struct flow_edge *edges, uint32_t from, unsigned nblocks)
{
	unsigned kind = random_below(100), n;

	if (kind < 12) {
		edges[0] = (struct flow_edge){ from, FLOW_EXIT, BY_LAST };
		return 1;
	}
	if (kind < 40) {
		edges[0] = (struct flow_edge){ from, random_vert(nblocks, 3),
					       random_chance(50) ? BY_LAST :
								   BY_NOTHING };
		return 1;
	}
	if (kind < 94) {
		edges[0] = (struct flow_edge){ from, random_vert(nblocks, 8),
					       BY_TAKEN };
		edges[1] = (struct flow_edge){ from, random_vert(nblocks, 4),
					       BY_FALL };
		return 2;
	}
	n = 2 + random_below(3);
	for (unsigned i = 0; i < n; i++)
		edges[i] = (struct flow_edge){ from, random_vert(nblocks, 0),
					       BY_TABLE };
	return n;
}

struct flow *
random_flow(unsigned max, bool plain)
{
	unsigned nblocks = 1 + random_below(max);
	uint32_t n = 0, entry = random_below(nblocks), other;
	bool leaks = !plain && random_chance(15);
	struct flow_edge edges[6 * WALK_BLOCKS];
	struct flow *flow;

	edges[n++] = (struct flow_edge){ FLOW_ROOT, FLOW_BLOCK + entry,
					 BY_NOTHING };
	other = random_below(nblocks);
	if (!plain && random_chance(25) && other != entry)
		edges[n++] = (struct flow_edge){ FLOW_ROOT, FLOW_BLOCK + other,
						 BY_NOTHING };
	for (unsigned b = 0; b < nblocks; b++) {
		n += random_outs(edges + n, FLOW_BLOCK + b, nblocks);
		if (leaks && random_chance(30))
			edges[n++] = (struct flow_edge){ FLOW_BLOCK + b,
							 FLOW_EXIT, BY_LEAK };
	}
	flow = flow_make(nblocks, edges, n);
	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++)
		flow->one[v] = random_chance(25);
	return flow;
}

static void
walk_abnormal(struct walked *walked, uint32_t v, enum abnormal how)
{
	uint32_t block = v - FLOW_BLOCK;

	for (size_t i = 0; i < walked->nextras; i++)
		if (walked->extras[i].block == block &&
		    walked->extras[i].how == how) {
			walked->extras[i].n++;
			return;
		}
	walked->extras[walked->nextras++] = (struct flow_extra){ block,
								 (uint8_t)how,
								 1 };
}

/*
 * Count the beginning of a walk, and return its vertex.  *behind: it begins
 * within the block.
 */
static uint32_t
walk_begin(const struct flow *flow, struct walked *walked, bool abnormal,
	   bool *behind)
{
	uint32_t n = flow->out[FLOW_ROOT + 1], e = random_below(n);
	uint32_t v = FLOW_BLOCK + random_below(flow->nverts - FLOW_BLOCK);

	walked->counts[flow->back]++;
	*behind = false;
	if (abnormal && random_chance(10) && flow->in[v] != flow->in[v + 1]) {
		*behind = random_chance(50);
		walk_abnormal(walked, v, *behind ? CAME_BEHIND : CAME_BEFORE);
		return v;
	}
	walked->counts[e]++;
	return flow->edges[e].to;
}

void
walk(const struct flow *flow, struct walked *walked, unsigned steps,
     bool abnormal)
{
	bool behind;
	uint32_t v = walk_begin(flow, walked, abnormal, &behind), e;

	for (; v != FLOW_EXIT; v = flow->edges[e].to) {
		if (!behind && abnormal && random_chance(1)) {
			walk_abnormal(walked, v, LEFT_BEFORE);
			return;
		}
		if (!behind)
			walked->counts[arc_of_block(flow, v)]++;
		behind = false;
		if (!steps-- || (abnormal && random_chance(2))) {
			walk_abnormal(walked, v, LEFT_BEHIND);
			return;
		}
		e = flow->out[v] +
		    random_below(flow->out[v + 1] - flow->out[v]);
		walked->counts[e]++;
	}
}
