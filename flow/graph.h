/*
 * The flow graph of one function, for the algorithms that place counters and
 * derive counts: its blocks, ROOT, from which control enters, EXIT, to which it
 * leaves, and the edges between them (Ball & Larus, "Optimally Profiling and
 * Tracing Programs", TOPLAS 16(4) 1994, section 2).  Pure.
 *
 * An arc is what can be counted: an edge, or a block, whose count is how often
 * its first instruction began.  Each block is split into two nodes, before and
 * behind its first instruction, which the block's arc joins; ROOT and EXIT are
 * one node, NODE_OUTSIDE.  Kirchhoff's law holds at every node.  An undirected
 * cycle of edges passes over a block's arc exactly where the paper's cycle has
 * a pipe.
 */
#ifndef FLOW_GRAPH_H
#define FLOW_GRAPH_H

#include "flow/cfg.h"

/* Which events of an instruction are counted. */
enum term_kind {
	TERM_HITS,		/* how often it ran */
	TERM_TAKEN,		/* how often the branch went to its target */
	TERM_FALL,		/* how often the branch went on */
	TERM_TARGET,		/* how often the indirect jump went to `to` */
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
	BY_FALL,		/* it is a branch: when it is not taken */
	BY_TABLE,		/* it is an indirect jump: when it goes to the
				   edge's target */
	BY_LEAK,		/* it cannot: control may leave the block for
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
 * Make the graph of nblocks blocks and n edges, which may be in any order and
 * do not include EXIT -> ROOT: flow_make adds that.  Edges that cannot be
 * reached from ROOT are left out.  Parallel edges are kept.  The caller frees
 * the graph with flow_free.
 */
struct flow *flow_make(uint32_t nblocks, const struct flow_edge *edges,
		       size_t n);

/*
 * Make the graph of a function.  Returns, jumps out of the function, calls that
 * do not come back and instructions that stop lead to EXIT.  Edges from ROOT
 * lead to the entry, to landing pads, to given leaders that nothing else
 * reaches and, if the cfg is unresolved, to every proven block.
 * Control may leave the `leaky` blocks (indices) in their middle without being
 * seen; a departure that is reported (struct flow_extra) makes no block leaky.
 * Several ways from one block to the same block are one edge.  The caller frees
 * the graph with flow_free.
 */
struct flow *flow_build(const struct cfg *cfg, const uint32_t *leaky,
			size_t nleaky);
void flow_free(struct flow *flow);

/* How many arcs there are: first the edges, by their index, then the blocks. */
static inline uint32_t
flow_arcs(const struct flow *flow)
{
	return flow->nedges + flow->nverts - FLOW_BLOCK;
}

/* The arc of a block, which is given as a vertex. */
static inline uint32_t
arc_of_block(const struct flow *flow, uint32_t vert)
{
	return flow->nedges + vert - FLOW_BLOCK;
}

/* The vertex of a block, which is given as its arc. */
static inline uint32_t
arc_block(const struct flow *flow, uint32_t arc)
{
	return arc - flow->nedges + FLOW_BLOCK;
}

/* How many nodes there are: NODE_OUTSIDE, and two per block. */
static inline uint32_t
flow_nodes(const struct flow *flow)
{
	return 2 * (flow->nverts - FLOW_BLOCK) + 1;
}

/* The node before a block's first instruction; of ROOT and EXIT their own. */
static inline uint32_t
node_before(uint32_t vert)
{
	return vert < FLOW_BLOCK ? NODE_OUTSIDE : 2 * (vert - FLOW_BLOCK) + 1;
}

/* The node behind a block's first instruction; of ROOT and EXIT their own. */
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
 * The arc of the block that has the same count as an edge: the edge's source if
 * control goes nowhere else from there, or its target if control comes from
 * nowhere else.  ARC_NONE for a critical edge.
 */
uint32_t edge_carrier(const struct flow *flow, uint32_t edge);

/*
 * Fill *term with where and how an arc is counted in the code: a block at its
 * first instruction, an edge at its source's last.  False if the arc cannot be
 * counted.
 */
bool arc_term(const struct flow *flow, const struct cfg *cfg, uint32_t arc,
	      struct term *term);

#endif
