/*
 * The flow graph of one function: its blocks, ROOT, from which control
 * enters, EXIT, to which it leaves, and the edges between them, for the
 * algorithms that place counters and derive counts (Ball & Larus,
 * "Optimally Profiling and Tracing Programs", TOPLAS 16(4) 1994, section 2).
 * Pure.
 *
 * What can be counted is an arc: an edge, or a block, which is then how
 * often its first instruction ran.  For this each block is split into two
 * nodes, before and behind its first instruction, joined by the block's arc;
 * ROOT and EXIT are one node, NODE_OUTSIDE.  Kirchhoff's law holds at every
 * node.  An undirected cycle of edges passes over a block's arc just where
 * the paper says that it has a pipe.
 */
#ifndef FLOW_GRAPH_H
#define FLOW_GRAPH_H

#include "flow/cfg.h"

/* What of an instruction is counted. */
enum term_kind {
	TERM_HITS,		/* how often it ran */
	TERM_TAKEN,		/* ... and, a branch, went to its target */
	TERM_FALL,		/* ... and went on */
	TERM_TARGET,		/* ... and, an indirect jump, went to `to` */
};

/* How an arc is counted in the code. */
struct term {
	uint64_t addr;		/* of the instruction */
	uint64_t to;		/* TERM_TARGET */
	uint8_t kind;		/* enum term_kind */
};

/* Vertices: block b of the cfg is FLOW_BLOCK + b. */
enum { FLOW_ROOT, FLOW_EXIT, FLOW_BLOCK };

/* How an edge can be counted at the last instruction of its source. */
enum flow_by {
	BY_NOTHING,		/* it cannot */
	BY_LAST,		/* whenever that runs, control goes this way */
	BY_TAKEN,		/* it is a branch: when it is taken */
	BY_FALL,		/* or is not */
	BY_TABLE,		/* it is an indirect jump: when it goes to the
				   edge's target */
	BY_LEAK,		/* not at all: control may leave the block for
				   EXIT in its middle, at a call */
};

struct flow_edge {
	uint32_t from, to;	/* vertices */
	uint8_t by;		/* enum flow_by */
};

struct flow {
	struct flow_edge *edges;	/* ascending `from`, so those from ROOT
					   first: ROOT -> entry is edge 0 */
	uint32_t nedges;
	uint32_t back;		/* the edge EXIT -> ROOT */
	uint32_t nverts;
	uint32_t *out;		/* nverts + 1: edges from v are
				   out[v] .. out[v + 1] - 1 */
	uint32_t *in, *ins;	/* edges into v are ins[in[v]] .. */
	bool *one;		/* per vertex: a block of one instruction */
};

static const uint32_t ARC_NONE = UINT32_MAX;

enum { NODE_OUTSIDE };

/*
 * The graph of nblocks blocks with these edges, in any order, without
 * EXIT -> ROOT, which is added.  Edges that cannot be reached from ROOT are
 * left out: nothing enters them.  Parallel edges are kept.
 */
struct flow *flow_make(uint32_t nblocks, const struct flow_edge *edges,
		       size_t n);

/*
 * The graph of a function.  Returns, jumps out of the function, calls that do
 * not come back and instructions that stop lead to EXIT.  From ROOT lead
 * edges to the entry, to landing pads, to leaders given to the cfg that are
 * not reached otherwise and, if it has jumps that are not resolved, to every
 * block.
 * The `leaky` blocks, by index, may be left in their middle without being
 * told when; leaving that is told (struct flow_extra) does not make them so.
 * Ways of one block to the same block are one edge.
 */
struct flow *flow_build(const struct cfg *cfg, const uint32_t *leaky,
			size_t nleaky);
void flow_free(struct flow *flow);

/* Arcs are the edges, by their index, and behind them the blocks. */
static inline uint32_t
flow_arcs(const struct flow *flow)
{
	return flow->nedges + flow->nverts - FLOW_BLOCK;
}

static inline uint32_t
arc_of_block(const struct flow *flow, uint32_t vert)
{
	return flow->nedges + vert - FLOW_BLOCK;
}

/* The vertex of a block's arc. */
static inline uint32_t
arc_block(const struct flow *flow, uint32_t arc)
{
	return arc - flow->nedges + FLOW_BLOCK;
}

static inline uint32_t
flow_nodes(const struct flow *flow)
{
	return 2 * (flow->nverts - FLOW_BLOCK) + 1;
}

static inline uint32_t
node_before(uint32_t vert)
{
	return vert < FLOW_BLOCK ? NODE_OUTSIDE : 2 * (vert - FLOW_BLOCK) + 1;
}

static inline uint32_t
node_behind(uint32_t vert)
{
	return vert < FLOW_BLOCK ? NODE_OUTSIDE : 2 * (vert - FLOW_BLOCK) + 2;
}

/* The nodes that an arc leads from and to. */
static inline uint32_t
arc_tail(const struct flow *flow, uint32_t arc)
{
	return arc < flow->nedges ? node_behind(flow->edges[arc].from) :
				    node_before(arc_block(flow, arc));
}

static inline uint32_t
arc_head(const struct flow *flow, uint32_t arc)
{
	return arc < flow->nedges ? node_before(flow->edges[arc].to) :
				    node_behind(arc_block(flow, arc));
}

/*
 * The block that counts an edge: its source if control goes nowhere else
 * from there, or its target if it comes from nowhere else; as an arc.
 * ARC_NONE for a critical edge.
 */
uint32_t edge_carrier(const struct flow *flow, uint32_t edge);

/*
 * Where and how an arc is counted in the code: blocks, and edges that no
 * block counts, by their branch.  False if the arc cannot be counted.
 */
bool arc_term(const struct flow *flow, const struct cfg *cfg, uint32_t arc,
	      struct term *term);

#endif
