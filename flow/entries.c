/*
 * Which sites count the entries into regions.  What arrives at a point is
 * counted in one of two ways: the point itself, less the edges from inside
 * the region; or the sum of the edges from outside.
 */
#include "flow/entries.h"

enum { MIXED = -2, NOWHERE = -1 };

/* A point, the region of id that it is looked at from, and what is known. */
struct point {
	const struct cfg *cfg;
	const uint32_t *owner;	/* NULL: everything is of the region */
	uint32_t id;
	uint32_t insn;
	bool unknown;		/* may be arrived at from outside over no edge
				   that is known */
	bool external;		/* is, from outside the function */
	bool inner;		/* may be from inside */
	entries_emit *emit;
	void *ctx;
};

/* What kinds of edges lead to a point. */
struct arrivals {
	size_t inside, outside;
	bool leaky_inside, leaky_outside;
	bool table_outside;	/* by jumps that say not how often each of
				   their targets was gone to */
};

static void
point_emit(const struct point *point, uint32_t insn, enum term_kind kind,
	   int sign)
{
	struct term term = {
		.addr = point->cfg->insns[insn].addr,
		.kind = kind,
		.sign = (int8_t)sign,
	};

	point->emit(point->ctx, point->id, &term);
}

/*
 * One way to the point, from instruction `from`.  That it was begun does not
 * say that a call came back: such an edge is leaky.
 */
static void
edge_count(const struct point *point, struct arrivals *arrivals, uint32_t from,
	   enum edge_kind kind)
{
	bool inside = !point->owner || point->owner[from] == point->id;
	bool leaky;

	switch (point->cfg->insns[from].kind) {
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
	case INSN_SYSCALL:
	case INSN_TRAP:
		leaky = true;
		break;
	default:
		leaky = false;
		break;
	}
	if (inside) {
		arrivals->inside++;
		arrivals->leaky_inside |= leaky;
	} else if (kind == EDGE_TABLE) {
		arrivals->table_outside = true;
	} else {
		arrivals->outside++;
		arrivals->leaky_outside |= leaky;
	}
}

static void
edge_emit(const struct point *point, uint32_t from, enum edge_kind kind,
	  bool inside)
{
	const struct insn *insn = &point->cfg->insns[from];
	int sign = inside ? -1 : 1;

	if (kind == EDGE_TABLE ||
	    inside != (!point->owner || point->owner[from] == point->id))
		return;
	if (insn->kind != INSN_BRANCH)
		point_emit(point, from, TERM_HITS, sign);
	else if (insn->target != insn->addr + insn->len)
		point_emit(point, from, kind == EDGE_TAKEN ? TERM_TAKEN :
							     TERM_FALL, sign);
	else if (kind == EDGE_FALL)	/* both ways lead here */
		point_emit(point, from, TERM_HITS, sign);
}

static uint32_t
block_last(const struct cfg *cfg, uint32_t block)
{
	return cfg->blocks[block].first + cfg->blocks[block].count - 1;
}

/*
 * Emit what counts the arrivals at a point from outside.  block is the one
 * that begins there, or BLOCK_NONE in the middle of one.
 */
static void
point_entries(const struct point *point, long block)
{
	const struct cfg *cfg = point->cfg;
	struct arrivals arrivals = { .inside = point->inner };
	uint32_t lo = block < 0 ? 0 : cfg->in[block];
	uint32_t hi = block < 0 ? 0 : cfg->in[block + 1];
	bool unknown = point->unknown, subtract;

	if (block < 0)
		edge_count(point, &arrivals, point->insn - 1, EDGE_FALL);
	for (uint32_t i = lo; i < hi; i++)
		edge_count(point, &arrivals,
			   block_last(cfg, cfg->edges[i].from),
			   cfg->edges[i].kind);
	/* exit() in a line is likelier than a case label behind its call. */
	if (arrivals.leaky_inside && !point->external)
		unknown = false;
	unknown |= arrivals.table_outside;
	if (!arrivals.outside && !unknown)
		return;
	if (!arrivals.inside) {
		point_emit(point, point->insn, TERM_HITS, 1);
		return;
	}
	subtract = unknown ||
		   (arrivals.leaky_outside && !arrivals.leaky_inside);
	if (subtract)
		point_emit(point, point->insn, TERM_HITS, 1);
	if (block < 0)
		edge_emit(point, point->insn - 1, EDGE_FALL, subtract);
	for (uint32_t i = lo; i < hi; i++)
		edge_emit(point, block_last(cfg, cfg->edges[i].from),
			  cfg->edges[i].kind, subtract);
}

/*
 * The one owner of all indirect jumps that are not resolved, or MIXED, or
 * NOWHERE if there are none.
 */
static int64_t
indirect_owner(const struct cfg *cfg, const uint32_t *owner)
{
	int64_t found = NOWHERE;

	if (!cfg->unresolved)
		return NOWHERE;
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

/*
 * Whether control may arrive at the block other than over its edges: from
 * outside the function it does.  At a given leader it may by an indirect jump, or if no
 * edge leads there; where there are indirect jumps, so it may at any block
 * that no edge leads to.  within: the region has all indirect jumps.
 */
static void
point_unknown(struct point *point, uint32_t block, bool within)
{
	const struct cfg *cfg = point->cfg;
	bool given = cfg->blocks[block].given;
	bool known = cfg->in[block] != cfg->in[block + 1];
	bool jumped_to = cfg->unresolved && (given || !known);

	point->external = cfg->blocks[block].external;
	point->unknown = point->external || (jumped_to && !within) ||
			 (given && !known && !cfg->unresolved);
	point->inner = jumped_to && within && !point->external;
}

void
entries_of_regions(const struct cfg *cfg, const uint32_t *owner,
		   entries_emit *emit, void *ctx)
{
	int64_t jumper = indirect_owner(cfg, owner);
	struct point point = {
		.cfg = cfg, .owner = owner, .emit = emit, .ctx = ctx,
	};

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];

		for (uint32_t i = 0; i < block->count; i++) {
			point.insn = block->first + i;
			point.id = owner[point.insn];
			if (point.id == REGION_NONE ||
			    (i && owner[point.insn - 1] == point.id))
				continue;
			point.unknown = point.inner = false;
			point.external = false;
			if (!i)
				point_unknown(&point, b, jumper == point.id);
			point_entries(&point, i ? BLOCK_NONE : (long)b);
		}
	}
}

void
entries_of_point(const struct cfg *cfg, const uint32_t *owner, uint32_t id,
		 uint32_t insn, entries_emit *emit, void *ctx)
{
	struct point point = {
		.cfg = cfg, .owner = owner, .id = id, .insn = insn,
		.emit = emit, .ctx = ctx,
	};
	long block = cfg_block(cfg, cfg->insns[insn].addr);

	if (block >= 0)
		point_unknown(&point, (uint32_t)block, false);
	point_entries(&point, block);
}

void
entries_of_func(const struct cfg *cfg, uint32_t id, entries_emit *emit,
		void *ctx)
{
	struct point point = {
		.cfg = cfg, .id = id, .unknown = true, .external = true,
		.emit = emit, .ctx = ctx,
	};

	if (cfg->entry < 0)
		return;
	point.insn = (uint32_t)cfg->entry;
	point_entries(&point, cfg_block(cfg, cfg->insns[point.insn].addr));
}
