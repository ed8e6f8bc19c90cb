/*
 * Weighs the edges and vertices of a flow graph.  Changes nothing in it.
 */
#include <stdlib.h>

#include "flow/loops.h"
#include "flow/weights.h"
#include "util/mem.h"

/*
 * The weight, per call, of an edge from ROOT other than to the entry; and the
 * share of a way that leads only to calls that do not come back, relative to
 * other ways.
 */
static const double RARE = 1.0 / 64;

/* The exits of each loop, by header. */
struct exits {
	uint32_t *left;		/* per edge: the outermost loop it leaves */
	uint32_t *count;	/* per header */
	double *weight;		/* per header: of each exit, once visited */
};

static struct weights *
weights_make(const struct flow *flow)
{
	struct weights *weights = mem_alloc(sizeof(*weights));

	weights->edges = mem_alloc(flow->nedges * sizeof(*weights->edges));
	weights->verts = mem_alloc(flow->nverts * sizeof(*weights->verts));
	return weights;
}

static struct exits
exits_find(const struct flow *flow, const struct loops *loops)
{
	struct exits exits = {
		.left = mem_alloc(flow->nedges * sizeof(*exits.left)),
		.count = mem_alloc(flow->nverts * sizeof(*exits.count)),
		.weight = mem_alloc(flow->nverts * sizeof(*exits.weight)),
	};

	for (uint32_t e = 0; e < flow->nedges; e++) {
		uint32_t loop = loops->inner[flow->edges[e].from];

		exits.left[e] = LOOP_NONE;
		if (loop == LOOP_NONE || flow->edges[e].by == BY_LEAK)
			continue;
		exits.left[e] = loop_left(flow, loops, e);
		if (exits.left[e] == LOOP_NONE)
			continue;
		for (;; loop = loops->outer[loop]) {
			exits.count[loop]++;
			if (loop == exits.left[e])
				break;
		}
	}
	return exits;
}

/* The paper's rule 1 and, at the header of a loop, rule 2. */
static double
vert_weigh(const struct flow *flow, const struct loops *loops,
	   struct exits *exits, const struct weights *weights, uint32_t v)
{
	double weight = 0;

	for (uint32_t i = flow->in[v]; i < flow->in[v + 1]; i++)
		if (!loops->back[flow->ins[i]])
			weight += weights->edges[flow->ins[i]];
	if (loops->inner[v] != v)
		return weight;
	if (exits->count[v])
		exits->weight[v] = weight / exits->count[v];
	return weight * LOOP_MULTIPLIER;
}

static bool
block_ends(const struct cfg *cfg, uint32_t b)
{
	const struct block *block = &cfg->blocks[b];
	const struct insn *last = &cfg->insns[block->first + block->count - 1];

	return last->flow == FLOW_NO_RETURN || last->kind == INSN_STOP;
}

/* Vertices from which every way leads to a call that does not come back. */
static bool *
ends_find(const struct flow *flow, const struct cfg *cfg,
	  const struct loops *loops)
{
	bool *ends = mem_alloc(flow->nverts * sizeof(*ends));

	/* In this order successors come first, back edges aside. */
	for (uint32_t i = loops->norder; cfg && i-- > 0;) {
		uint32_t v = loops->order[i];

		if (v < FLOW_BLOCK)
			continue;
		ends[v] = true;
		for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++)
			ends[v] &= ends[flow->edges[e].to];
		ends[v] |= block_ends(cfg, v - FLOW_BLOCK);
	}
	return ends;
}

/*
 * Rule 3: divide the weight of v among its edges, but give little to those that
 * lead to an end.
 */
static void
edges_weigh(const struct flow *flow, const struct exits *exits,
	    const bool *ends, struct weights *weights, uint32_t v)
{
	double left = 0, weight = weights->verts[v], shares = 0, stay = 0;
	uint32_t n = 0, nleft = 0;

	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++) {
		if (flow->edges[e].by == BY_LEAK)
			continue;
		n++;
		shares += ends[flow->edges[e].to] ? RARE : 1;
		if (exits->left[e] == LOOP_NONE) {
			stay += ends[flow->edges[e].to] ? RARE : 1;
			continue;
		}
		nleft++;
		left += exits->weight[exits->left[e]];
	}
	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++) {
		double share = ends[flow->edges[e].to] ? RARE : 1;

		if (flow->edges[e].by == BY_LEAK)
			continue;
		if (nleft == n || left >= weight)
			weights->edges[e] = weight * share / shares;
		else if (exits->left[e] != LOOP_NONE)
			weights->edges[e] = exits->weight[exits->left[e]];
		else
			weights->edges[e] = (weight - left) * share / stay;
	}
}

struct weights *
weights_guess(const struct flow *flow, const struct cfg *cfg)
{
	struct weights *weights = weights_make(flow);
	struct loops *loops = loops_find(flow);
	struct exits exits = exits_find(flow, loops);
	bool *ends = ends_find(flow, cfg, loops);

	for (uint32_t e = 0; e < flow->out[FLOW_EXIT]; e++)
		weights->edges[e] = e ? RARE : 1;
	weights->edges[flow->back] = 1;
	for (uint32_t i = 0; i < loops->norder; i++) {
		uint32_t v = loops->order[i];

		if (v < FLOW_BLOCK) {
			weights->verts[v] = 1;
			continue;
		}
		weights->verts[v] = vert_weigh(flow, loops, &exits, weights, v);
		edges_weigh(flow, &exits, ends, weights, v);
	}
	free(exits.left);
	free(exits.count);
	free(exits.weight);
	free(ends);
	loops_free(loops);
	return weights;
}

struct weights *
weights_exact(const struct flow *flow, const double *edges)
{
	struct weights *weights = weights_make(flow);

	for (uint32_t e = 0; e < flow->nedges; e++) {
		weights->edges[e] = edges[e];
		weights->verts[flow->edges[e].from] += edges[e];
	}
	return weights;
}

void
weights_free(struct weights *weights)
{
	if (!weights)
		return;
	free(weights->edges);
	free(weights->verts);
	free(weights);
}
