/*
 * Finds bounds of a jump table's index from compares and from the instructions
 * that compute the index.  Never looks at the table.
 */
#include "flow/bounds.h"

#include <stdlib.h>

#include "util/mem.h"

enum {
	HOPS_MAX = 64,
	LIMIT_MAX = 1 << 16,
	COMPARED_MAX = LIMIT_MAX * 16,	/* larger constants are no bounds */
};

/* One way in which the index came about: index = value at spot + bias. */
struct way {
	struct spot spot;
	int64_t bias;
	uint64_t limit;		/* from its type and masks, or BOUND_NONE */
};

struct bounding {
	struct values *v;
	struct search search;
	struct way *ways;
	size_t n;
	struct bound found;
	bool any, failed;
};

static void
bound_add(struct bounding *s, uint64_t limit, bool exact)
{
	if (!s->any)
		s->found = (struct bound){ 0, true };
	s->any = true;
	if (limit > s->found.limit)
		s->found.limit = limit;
	s->found.exact &= exact;
}

/*
 * The upper limit that a branch with this condition sets where control took an
 * edge of this kind: left < right + *more.  False if it sets none.
 */
static bool
edge_limits(uint8_t cond, uint8_t kind, int64_t *more, bool *exact)
{
	bool taken = kind == EDGE_TAKEN;

	*exact = false;
	*more = 1;
	switch (cond) {
	case COND_ABOVE:
		*exact = true;
		return !taken;
	case COND_BELOW_EQUAL:
		*exact = true;
		return taken;
	case COND_ABOVE_EQUAL:
		*exact = true;
		*more = 0;
		return !taken;
	case COND_BELOW:
		*exact = true;
		*more = 0;
		return taken;
	case COND_GREATER:
		return !taken;
	case COND_LESS_EQUAL:
	case COND_EQUAL:
		return taken;
	case COND_NOT_EQUAL:
		return !taken;
	case COND_GREATER_EQUAL:
		*more = 0;
		return !taken;
	case COND_LESS:
		*more = 0;
		return taken;
	default:
		return false;
	}
}

/* The compare whose flags the branch at spot looks at, or NULL. */
static const struct effect *
compare_find(struct values *v, struct spot *spot)
{
	const struct effect *e;

	for (int hops = 0; hops < HOPS_MAX; hops++) {
		while (spot->insn > v->cfg->blocks[spot->block].first) {
			if (--v->budget < 0)
				return NULL;
			e = values_effect(v, --spot->insn);
			if (e->flags)
				return e->compares ? e : NULL;
		}
		if (!values_only_before(v, spot))
			return NULL;
	}
	return NULL;
}

/* The condition that says of (right, left) what cond says of (left, right). */
static uint8_t
cond_swapped(uint8_t cond)
{
	static const uint8_t swapped[] = {
		[COND_OTHER] = COND_OTHER,
		[COND_ABOVE] = COND_BELOW,
		[COND_ABOVE_EQUAL] = COND_BELOW_EQUAL,
		[COND_BELOW] = COND_ABOVE,
		[COND_BELOW_EQUAL] = COND_ABOVE_EQUAL,
		[COND_GREATER] = COND_LESS,
		[COND_GREATER_EQUAL] = COND_LESS_EQUAL,
		[COND_LESS] = COND_GREATER,
		[COND_LESS_EQUAL] = COND_GREATER_EQUAL,
		[COND_EQUAL] = COND_EQUAL,
		[COND_NOT_EQUAL] = COND_NOT_EQUAL,
	};

	return swapped[cond];
}

/* The constant that a register has at the spot, if at most COMPARED_MAX. */
static bool
register_constant(struct values *v, const struct place *place,
		  const struct spot *at, int64_t *value)
{
	struct spot spot = *at;
	uint64_t constant;

	spot.place = *place;
	if (place->kind != PLACE_REG ||
	    values_constant(v, &spot, &constant) != CONSTANT_FOUND ||
	    constant > COMPARED_MAX)
		return false;
	*value = (int64_t)constant;
	return true;
}

/*
 * Find the constant of the compare at left's spot, if there is one, and set
 * left's place to the other operand.  *swapped: the constant is on the left.
 */
static bool
compare_constant(struct values *v, const struct effect *e, struct spot *left,
		 int64_t *right, bool *swapped)
{
	*swapped = false;
	left->place = e->left;
	*right = e->right;
	if (e->operand.kind == PLACE_NONE)
		return e->left.kind != PLACE_NONE && *right >= 0 &&
		       *right <= COMPARED_MAX;
	if (register_constant(v, &e->operand, left, right))
		return true;
	*swapped = true;
	left->place = e->operand;
	return register_constant(v, &e->left, left, right);
}

/* Find the bound that taking the edge sets to the way's index, if any. */
static bool
edge_bound(struct bounding *s, const struct edge *edge, const struct way *way,
	   struct bound *bound)
{
	struct values *v = s->v;
	const struct block *from = &v->cfg->blocks[edge->from];
	uint32_t last = from->first + from->count - 1;
	const struct effect *e, *branch = values_effect(v, last);
	struct spot index = { way->spot.place, edge->from, last };
	struct spot left = { .block = edge->from, .insn = last };
	struct origin a, b;
	int64_t more, limit, right;
	bool swapped;

	if (v->cfg->insns[last].kind != INSN_BRANCH ||
	    branch->cond == COND_OTHER)
		return false;
	e = compare_find(v, &left);
	if (!e || !compare_constant(v, e, &left, &right, &swapped))
		return false;
	if (!edge_limits(swapped ? cond_swapped(branch->cond) : branch->cond,
			 edge->kind, &more, &bound->exact))
		return false;
	a = values_origin(v, &index);
	b = values_origin(v, &left);
	if (!origin_same(&a, &b))
		return false;
	limit = right + more + a.bias - b.bias + way->bias;
	if (limit <= 0 || limit > LIMIT_MAX)
		return false;
	bound->limit = (uint64_t)limit;
	return true;
}

/* Nothing more can be known of the way: only its own limit holds. */
static void
way_end(struct bounding *s, const struct way *way)
{
	bound_add(s, way->limit, false);
}

static void
way_before(struct bounding *s, const struct way *way)
{
	const struct cfg *cfg = s->v->cfg;
	uint32_t block = way->spot.block;
	struct bound bound;

	if (cfg->blocks[block].external)
		way_end(s, way);
	for (uint32_t i = cfg->in[block]; i < cfg->in[block + 1]; i++) {
		const struct edge *edge = &cfg->edges[i];
		const struct block *from = &cfg->blocks[edge->from];
		struct way *to;

		if (edge_bound(s, edge, way, &bound)) {
			/* Of a value that was cut off behind the compare. */
			if (bound.limit > way->limit)
				bound = (struct bound){ way->limit, false };
			bound_add(s, bound.limit, bound.exact);
			continue;
		}
		if (!search_pass(&s->search, edge->from, &way->spot.place,
				 (uint64_t)way->bias, &s->failed))
			continue;
		to = vec_push(s->ways, s->n);
		*to = *way;
		to->spot.block = edge->from;
		to->spot.insn = from->first + from->count;
	}
}

static void
way_limit(struct way *way, uint64_t limit)
{
	limit += (uint64_t)way->bias;
	if (way->bias >= 0 && limit < way->limit)
		way->limit = limit;
}

/* The instruction at the way's spot makes the value; true: look back on. */
static bool
way_made(struct bounding *s, struct way *way)
{
	const struct effect *e = values_effect(s->v, way->spot.insn);
	int64_t mask = LIMIT_MAX;

	switch (e->op) {
	case EFFECT_COPY:
		if (!e->sign && e->src.width <= 2)
			way_limit(way, UINT64_C(1) << e->src.width * 8);
		way->spot.place = e->src;
		return true;
	case EFFECT_SUM:
		if (e->src.index != REG_NONE)
			break;
		if (e->src.reg == REG_NONE) {
			way->limit = (uint64_t)(e->src.disp + way->bias) + 1;
			break;
		}
		way->bias += e->src.disp;
		way->spot.place = e->src;
		way->spot.place.kind = PLACE_REG;
		way->spot.place.disp = 0;
		return true;
	case EFFECT_MASK:
		mask = (int64_t)(e->imm < LIMIT_MAX ? e->imm : LIMIT_MAX);
		if (e->operand.kind != PLACE_NONE &&
		    !register_constant(s->v, &e->operand, &way->spot,
				       &mask))
			register_constant(s->v, &e->dst, &way->spot, &mask);
		if (mask < LIMIT_MAX)
			way_limit(way, (uint64_t)mask + 1);
		if (e->src.kind != PLACE_REG)
			break;
		way->spot.place = e->src;
		return true;
	case EFFECT_SHIFT:
		if (e->imm < 64 && e->dst.width * 8u > e->imm &&
		    e->dst.width * 8u - e->imm <= 16)
			way_limit(way, UINT64_C(1) <<
				       (e->dst.width * 8u - e->imm));
		break;
	}
	way_end(s, way);
	return false;
}

static void
way_follow(struct bounding *s, struct way way)
{
	for (int hops = 0; hops < HOPS_MAX; hops++)
		switch (values_back(s->v, &way.spot)) {
		case BACK_START:
			way_before(s, &way);
			return;
		case BACK_LOST:
			way_end(s, &way);
			return;
		case BACK_MADE:
			if (!way_made(s, &way))
				return;
			break;
		}
	way_end(s, &way);
}

struct bound
bound_find(struct values *v, const struct spot *index)
{
	struct bounding s = {
		.v = v, .search = search_begin(v, SEARCH_INNER),
	};

	*vec_push(s.ways, s.n) = (struct way){
		.spot = *index, .limit = BOUND_NONE,
	};
	while (s.n && !s.failed)
		way_follow(&s, s.ways[--s.n]);
	free(s.ways);
	if (s.failed || !s.any)
		return (struct bound){ BOUND_NONE, false };
	return s.found;
}
