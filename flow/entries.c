/*
 * Finds the arcs that count the entries into regions.  Control comes to the
 * beginning of a block over edges, of which those from outside the region
 * count, and to the middle of a block from the instruction before.
 */
#include "flow/entries.h"

#include <stdlib.h>

#include "util/mem.h"

enum { MIXED = -2, NOWHERE = -1 };

struct scan {
	const struct cfg *cfg;
	const struct flow *flow;
	const uint32_t *owner;
	int64_t jumper;		/* indirect_owner's result, or NOWHERE */
	const uint32_t *caller;	/* callers_find's result, or NULL */
	const bool *round;	/* per edge: closes a loop in a region; or
				   NULL */
	entries_emit *emit;
	void *ctx;
};

static uint32_t
block_last(const struct cfg *cfg, uint32_t block)
{
	return cfg->blocks[block].first + cfg->blocks[block].count - 1;
}

/*
 * The region that has all unresolved indirect jumps; MIXED if several have
 * some, or control may come from elsewhere in such a way, NOWHERE if there are
 * none.
 */
static int64_t
indirect_owner(const struct cfg *cfg, const uint32_t *owner)
{
	int64_t found = NOWHERE;

	if (!cfg->unresolved)
		return NOWHERE;
	if (cfg->elsewhere)
		return MIXED;
	for (size_t i = 0; i < cfg->ninsns; i++) {
		if (cfg->insns[i].kind != INSN_JUMP_INDIRECT ||
		    cfg->insns[i].flow != FLOW_PLAIN)
			continue;
		if (found != NOWHERE && found != owner[i])
			return MIXED;
		found = owner[i];
	}
	return found;
}

static const uint32_t REGION_MIXED = UINT32_MAX - 1;

/*
 * Per instruction the region of the function's own calls of it, if it begins
 * code that gcc -mindirect-branch=thunk-inline makes for an indirect call: such
 * code has no other callers.  REGION_NONE without a call, REGION_MIXED if there
 * are several regions.  NULL if there are no such calls.  The caller frees the
 * array.
 */
static uint32_t *
callers_find(const struct cfg *cfg, const uint32_t *owner)
{
	uint32_t *caller = NULL;

	for (size_t i = 0; i < cfg->ninsns; i++) {
		long to = cfg->insns[i].kind == INSN_CALL ?
				  cfg_insn(cfg, cfg->insns[i].target) :
				  -1;

		if (to < 0 || to == cfg->entry || !cfg->insns[to].pushes)
			continue;
		if (!caller)
			caller = mem_numbers(cfg->ninsns, REGION_NONE);
		caller[to] = owner[i] != REGION_NONE &&
					     (caller[to] == REGION_NONE ||
					      caller[to] == owner[i]) ?
				     owner[i] :
				     REGION_MIXED;
	}
	return caller;
}

/* Whether the edge comes from inside region id. */
static bool
edge_inside(const struct scan *scan, uint32_t edge, uint32_t id)
{
	const struct flow_edge *e = &scan->flow->edges[edge];
	uint32_t block = e->to - FLOW_BLOCK;

	if (e->from >= FLOW_BLOCK)
		return scan->owner[block_last(scan->cfg,
					      e->from - FLOW_BLOCK)] == id;
	if (scan->cfg->blocks[block].external)
		return scan->caller &&
		       scan->caller[scan->cfg->blocks[block].first] == id;
	return scan->jumper == id;
}

/* Whether the edge enters region id or closes a loop in it. */
static bool
edge_counts(const struct scan *scan, uint32_t edge, uint32_t id)
{
	return (scan->round && scan->round[edge]) ||
	       !edge_inside(scan, edge, id);
}

/*
 * Emit the arrivals at the beginning of a block from outside region id or round
 * a loop in it.  If all edges into the block count, emit the block's arc, whose
 * count may be known where those of the edges are not.  So a block that nothing
 * leads to is emitted, too: its count is unknown if control may have come there
 * unseen.
 */
static void
block_entries(const struct scan *scan, uint32_t block, uint32_t id)
{
	const struct flow *flow = scan->flow;
	uint32_t vert = FLOW_BLOCK + block;
	bool all = true;

	for (uint32_t i = flow->in[vert]; i < flow->in[vert + 1]; i++)
		all = all && edge_counts(scan, flow->ins[i], id);
	if (all) {
		scan->emit(scan->ctx, id, arc_of_block(flow, vert), INSN_NONE);
		return;
	}
	for (uint32_t i = flow->in[vert]; i < flow->in[vert + 1]; i++)
		if (edge_counts(scan, flow->ins[i], id))
			scan->emit(scan->ctx, id, flow->ins[i], INSN_NONE);
}

/* The owner of all of a block's instructions, or REGION_NONE. */
static uint32_t
block_owner(const struct scan *scan, uint32_t block)
{
	const struct block *b = &scan->cfg->blocks[block];
	uint32_t id = scan->owner[b->first];

	for (uint32_t i = 1; i < b->count; i++)
		if (scan->owner[b->first + i] != id)
			return REGION_NONE;
	return id;
}

/* A depth-first search of the blocks that belong to one region each. */
struct loops_scan {
	const struct scan *scan;
	uint32_t *owner;	/* per vertex, or REGION_NONE */
	bool *round;		/* per edge: the result */
	uint8_t *state;		/* per vertex */
	uint32_t *stack, *cursor;
	uint32_t depth;
};

enum { NEW, OPEN, DONE };

static void
vert_open(struct loops_scan *loops, uint32_t vert)
{
	loops->state[vert] = OPEN;
	loops->cursor[vert] = loops->scan->flow->out[vert];
	loops->stack[loops->depth++] = vert;
}

/* Search from root, and mark edges that lead back to an open vertex. */
static void
loops_from(struct loops_scan *loops, uint32_t root)
{
	const struct flow *flow = loops->scan->flow;
	uint32_t id = loops->owner[root];

	vert_open(loops, root);
	while (loops->depth) {
		uint32_t vert = loops->stack[loops->depth - 1], edge, to;

		if (loops->cursor[vert] == flow->out[vert + 1]) {
			loops->state[vert] = DONE;
			loops->depth--;
			continue;
		}
		edge = loops->cursor[vert]++;
		to = flow->edges[edge].to;
		if (to < FLOW_BLOCK || loops->owner[to] != id)
			continue;
		if (loops->state[to] == NEW)
			vert_open(loops, to);
		else if (loops->state[to] == OPEN)
			loops->round[edge] = true;
	}
}

/* Whether control comes to the vertex from outside its region. */
static bool
vert_entered(const struct loops_scan *loops, uint32_t vert)
{
	const struct flow *flow = loops->scan->flow;

	for (uint32_t i = flow->in[vert]; i < flow->in[vert + 1]; i++) {
		uint32_t from = flow->edges[flow->ins[i]].from;

		if (from < FLOW_BLOCK ||
		    loops->owner[from] != loops->owner[vert])
			return true;
	}
	return false;
}

static void
loops_find(const struct scan *scan, bool *round)
{
	uint32_t n = scan->flow->nverts;
	struct loops_scan loops = {
		.scan = scan,
		.round = round,
		.owner = mem_alloc(n * sizeof(*loops.owner)),
		.state = mem_alloc(n),
		.stack = mem_alloc(n * sizeof(*loops.stack)),
		.cursor = mem_alloc(n * sizeof(*loops.cursor)),
	};

	for (uint32_t v = FLOW_BLOCK; v < n; v++)
		loops.owner[v] = block_owner(scan, v - FLOW_BLOCK);
	for (int entered = 1; entered >= 0; entered--)
		for (uint32_t v = FLOW_BLOCK; v < n; v++)
			if (loops.owner[v] != REGION_NONE &&
			    loops.state[v] == NEW &&
			    (!entered || vert_entered(&loops, v)))
				loops_from(&loops, v);
	free(loops.owner);
	free(loops.state);
	free(loops.stack);
	free(loops.cursor);
}

void
entries_of_regions(const struct regions *regions, entries_emit *emit, void *ctx)
{
	const struct cfg *cfg = regions->cfg;
	const struct flow *flow = regions->flow;
	const uint32_t *owner = regions->owner;
	struct scan scan = {
		.cfg = cfg,
		.flow = flow,
		.owner = owner,
		.jumper = indirect_owner(cfg, owner),
		.emit = emit,
		.ctx = ctx,
	};
	bool *round = mem_alloc((flow->nedges + 1) * sizeof(*round));
	uint32_t *caller = callers_find(cfg, owner);

	scan.caller = caller;
	loops_find(&scan, round);
	scan.round = round;
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];

		if (owner[block->first] != REGION_NONE)
			block_entries(&scan, b, owner[block->first]);
		for (uint32_t i = 1; i < block->count; i++) {
			uint32_t insn = block->first + i;

			if (owner[insn] != REGION_NONE &&
			    owner[insn] != owner[insn - 1])
				emit(ctx, owner[insn],
				     arc_of_block(flow, FLOW_BLOCK + b), insn);
		}
	}
	free(round);
	free(caller);
}

void
entries_of_point(const struct regions *regions, uint32_t id, uint32_t insn,
		 entries_emit *emit, void *ctx)
{
	const struct cfg *cfg = regions->cfg;
	const struct flow *flow = regions->flow;
	const uint32_t *owner = regions->owner;
	const struct scan scan = {
		.cfg = cfg,
		.flow = flow,
		.owner = owner,
		.jumper = NOWHERE,
		.emit = emit,
		.ctx = ctx,
	};
	uint32_t block = cfg_block_of(cfg, insn);

	if (cfg->blocks[block].first == insn)
		block_entries(&scan, block, id);
	else if (owner[insn - 1] != id)
		emit(ctx, id, arc_of_block(flow, FLOW_BLOCK + block), insn);
}
