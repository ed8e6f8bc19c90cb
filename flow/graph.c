/*
 * Makes flow graphs, from a table of edges or from a function's cfg.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/cfg_graph.h"
#include "flow/graph.h"
#include "util/fail.h"
#include "util/mem.h"

/*
 * Sort edge indices by source vertex, stably, into *order; returns the offset
 * in it of each vertex's edges.
 */
static uint32_t *
edges_order(uint32_t nverts, const struct flow_edge *edges, size_t n,
	    uint32_t **order)
{
	uint32_t *out = mem_alloc((nverts + 2) * sizeof(*out));

	for (size_t i = 0; i < n; i++)
		out[edges[i].from + 2]++;
	for (uint32_t v = 0; v < nverts; v++)
		out[v + 2] += out[v + 1];
	*order = mem_alloc((n + 1) * sizeof(**order));
	for (size_t i = 0; i < n; i++)
		(*order)[out[edges[i].from + 1]++] = (uint32_t)i;
	return out;
}

/* Mark v and all vertices reached from it; stack has room for all of them. */
static void
verts_reach(const struct flow_edge *edges, const uint32_t *out,
	    const uint32_t *order, uint32_t v, bool *reached, uint32_t *stack)
{
	size_t n = 0;

	reached[v] = true;
	stack[n++] = v;
	while (n) {
		v = stack[--n];
		for (uint32_t i = out[v]; i < out[v + 1]; i++) {
			uint32_t to = edges[order[i]].to;

			if (reached[to])
				continue;
			reached[to] = true;
			stack[n++] = to;
		}
	}
}

/* Fill flow->edges and flow->out. */
static void
outs_make(struct flow *flow, const struct flow_edge *edges, const uint32_t *out,
	  const uint32_t *order, const bool *reached)
{
	for (uint32_t v = 0; v < flow->nverts; v++) {
		flow->out[v] = flow->nedges;
		if (v == FLOW_EXIT) {
			flow->back = flow->nedges;
			flow->edges[flow->nedges++] = (struct flow_edge){
				FLOW_EXIT, FLOW_ROOT, BY_NOTHING
			};
		}
		for (uint32_t i = out[v]; reached[v] && i < out[v + 1]; i++)
			flow->edges[flow->nedges++] = edges[order[i]];
	}
	flow->out[flow->nverts] = flow->nedges;
}

static void
ins_make(struct flow *flow)
{
	uint32_t *in = mem_alloc((flow->nverts + 2) * sizeof(*in));

	for (uint32_t e = 0; e < flow->nedges; e++)
		in[flow->edges[e].to + 2]++;
	for (uint32_t v = 0; v < flow->nverts; v++)
		in[v + 2] += in[v + 1];
	flow->ins = mem_alloc(flow->nedges * sizeof(*flow->ins));
	for (uint32_t e = 0; e < flow->nedges; e++)
		flow->ins[in[flow->edges[e].to + 1]++] = e;
	flow->in = in;
}

struct flow *
flow_make(uint32_t nblocks, const struct flow_edge *edges, size_t n)
{
	struct flow *flow = mem_alloc(sizeof(*flow));
	uint32_t *out, *order, *stack;
	bool *reached;

	must(nblocks < UINT32_MAX / 2 - FLOW_BLOCK);
	must(n < UINT32_MAX - 1 - nblocks);
	flow->nverts = FLOW_BLOCK + nblocks;
	flow->edges = mem_alloc((n + 1) * sizeof(*flow->edges));
	flow->out = mem_alloc((flow->nverts + 1) * sizeof(*flow->out));
	flow->one = mem_alloc(flow->nverts * sizeof(*flow->one));
	out = edges_order(flow->nverts, edges, n, &order);
	reached = mem_alloc(flow->nverts * sizeof(*reached));
	stack = mem_alloc(flow->nverts * sizeof(*stack));
	verts_reach(edges, out, order, FLOW_ROOT, reached, stack);
	outs_make(flow, edges, out, order, reached);
	ins_make(flow);
	free(stack);
	free(reached);
	free(order);
	free(out);
	return flow;
}

/* The edges of a function as they are collected. */
struct gather {
	const struct cfg *cfg;
	struct flow_edge *edges;
	size_t n;
	size_t *last;		/* per vertex, plus 1: the latest edge to it */
};

static const struct insn *
block_last(const struct cfg *cfg, uint32_t block)
{
	const struct block *b = &cfg->blocks[block];

	return &cfg->insns[b->first + b->count - 1];
}

/* Add an edge; a second one from the same source to a block joins the first. */
static void
gather_edge(struct gather *gather, uint32_t from, uint32_t to, enum flow_by by)
{
	size_t last = gather->last[to];

	if (to != FLOW_EXIT && last && gather->edges[last - 1].from == from) {
		if (by == BY_TAKEN || by == BY_FALL)
			gather->edges[last - 1].by = BY_LAST;
		return;
	}
	*vec_push(gather->edges, gather->n) = (struct flow_edge){ from, to,
								  (uint8_t)by };
	gather->last[to] = gather->n;
}

static enum flow_by
edge_by(const struct insn *last, enum edge_kind kind)
{
	switch (last->kind) {
	case INSN_BRANCH:
		return kind == EDGE_TAKEN ? BY_TAKEN : BY_FALL;
	case INSN_PLAIN:
	case INSN_JUMP:
	case INSN_RETURN:
	case INSN_STOP:
		return BY_LAST;
	case INSN_JUMP_INDIRECT:
		return kind == EDGE_TABLE ? BY_TABLE : BY_LAST;
	default:
		return BY_NOTHING;
	}
}

/* Add the n cfg edges (indices) out of a block, and its edges to EXIT. */
static void
gather_block(struct gather *gather, uint32_t block, const uint32_t *edges,
	     size_t n)
{
	const struct cfg *cfg = gather->cfg;
	const struct insn *last = block_last(cfg, block);
	uint32_t from = FLOW_BLOCK + block;
	bool taken = false, fall = false;

	for (size_t i = 0; i < n; i++) {
		const struct edge *edge = &cfg->edges[edges[i]];

		gather_edge(gather, from, FLOW_BLOCK + edge->to,
			    edge_by(last, edge->kind));
		if (edge->kind == EDGE_FALL)
			fall = true;
		else
			taken = true;
	}
	if (last->kind == INSN_BRANCH) {
		if (!taken)
			gather_edge(gather, from, FLOW_EXIT, BY_TAKEN);
		if (!fall)
			gather_edge(gather, from, FLOW_EXIT, BY_FALL);
	} else if (!n) {
		gather_edge(gather, from, FLOW_EXIT, edge_by(last, EDGE_FALL));
	} else if (last->flow == FLOW_TABLE_LEAVES) {
		gather_edge(gather, from, FLOW_EXIT, BY_NOTHING);
	}
}

static void
gather_blocks(struct gather *gather)
{
	const struct cfg *cfg = gather->cfg;
	uint32_t *out, *order = cfg_out(cfg, &out);

	for (uint32_t b = 0; b < cfg->nblocks; b++)
		gather_block(gather, b, order + out[b], out[b + 1] - out[b]);
	free(order);
	free(out);
}

static void
gather_roots(struct gather *gather)
{
	const struct cfg *cfg = gather->cfg;
	long entry = cfg->entry < 0 ?
			     BLOCK_NONE :
			     cfg_block(cfg, cfg->insns[cfg->entry].addr);

	if (entry >= 0)
		gather_edge(gather, FLOW_ROOT, FLOW_BLOCK + (uint32_t)entry,
			    BY_NOTHING);
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		if (cfg->blocks[b].external ||
		    (cfg->unresolved && cfg->blocks[b].proof == PROOF_FLOW))
			gather_edge(gather, FLOW_ROOT, FLOW_BLOCK + b,
				    BY_NOTHING);
}

/* Add edges from ROOT to given leaders that nothing else reaches. */
static void
gather_given(struct gather *gather)
{
	uint32_t nverts = FLOW_BLOCK + (uint32_t)gather->cfg->nblocks;
	uint32_t *order, *stack = mem_alloc(nverts * sizeof(*stack));
	bool *reached = mem_alloc(nverts * sizeof(*reached));
	uint32_t *out = edges_order(nverts, gather->edges, gather->n, &order);

	verts_reach(gather->edges, out, order, FLOW_ROOT, reached, stack);
	for (uint32_t v = FLOW_BLOCK; v < nverts; v++) {
		if (reached[v] || !gather->cfg->blocks[v - FLOW_BLOCK].given)
			continue;
		*vec_push(gather->edges,
			  gather->n) = (struct flow_edge){ FLOW_ROOT, v,
							   BY_NOTHING };
		verts_reach(gather->edges, out, order, v, reached, stack);
	}
	free(out);
	free(order);
	free(stack);
	free(reached);
}

struct flow *
flow_build(const struct cfg *cfg, const uint32_t *leaky, size_t nleaky)
{
	struct gather gather = { .cfg = cfg };
	struct flow *flow;

	gather.last = mem_alloc((FLOW_BLOCK + cfg->nblocks) *
				sizeof(*gather.last));
	gather_roots(&gather);
	gather_blocks(&gather);
	for (size_t i = 0; i < nleaky; i++)
		gather_edge(&gather, FLOW_BLOCK + leaky[i], FLOW_EXIT, BY_LEAK);
	gather_given(&gather);
	flow = flow_make((uint32_t)cfg->nblocks, gather.edges, gather.n);
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		flow->one[FLOW_BLOCK + b] = cfg->blocks[b].count == 1;
	free(gather.edges);
	free(gather.last);
	return flow;
}

void
flow_free(struct flow *flow)
{
	if (!flow)
		return;
	free(flow->edges);
	free(flow->out);
	free(flow->in);
	free(flow->ins);
	free(flow->one);
	free(flow);
}

uint32_t
edge_carrier(const struct flow *flow, uint32_t edge)
{
	uint32_t from = flow->edges[edge].from, to = flow->edges[edge].to;

	if (from >= FLOW_BLOCK && flow->out[from + 1] - flow->out[from] == 1)
		return arc_of_block(flow, from);
	if (to >= FLOW_BLOCK && flow->in[to + 1] - flow->in[to] == 1)
		return arc_of_block(flow, to);
	return ARC_NONE;
}

static uint64_t
block_addr(const struct cfg *cfg, uint32_t vert)
{
	return cfg->insns[cfg->blocks[vert - FLOW_BLOCK].first].addr;
}

bool
arc_term(const struct flow *flow, const struct cfg *cfg, uint32_t arc,
	 struct term *term)
{
	const struct flow_edge *edge;

	*term = (struct term){ .kind = TERM_HITS };
	if (arc >= flow->nedges) {
		term->addr = block_addr(cfg, arc_block(flow, arc));
		return true;
	}
	edge = &flow->edges[arc];
	switch (edge->by) {
	case BY_LAST:
		break;
	case BY_TAKEN:
		term->kind = TERM_TAKEN;
		break;
	case BY_FALL:
		term->kind = TERM_FALL;
		break;
	case BY_TABLE:
		term->kind = TERM_TARGET;
		term->to = block_addr(cfg, edge->to);
		break;
	default:
		return false;
	}
	term->addr = block_last(cfg, edge->from - FLOW_BLOCK)->addr;
	return true;
}
