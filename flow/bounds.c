/*
 * Finds bounds of a jump table's index from compares and from the instructions
 * that compute the index.  Never looks at the table.
 */
#include "flow/bounds.h"

#include <elf.h>
#include <stdlib.h>

#include "util/mem.h"

enum {
	HOPS_MAX = 64,
	LIMIT_MAX = 1 << 16,
	COMPARED_MAX = LIMIT_MAX * 16,	/* larger constants are no bounds */
};

/* One way in which the index came about: index = value at use + bias. */
struct way {
	struct use use;
	int64_t bias;
	uint64_t limit;		/* from its type and masks, or BOUND_NONE */
	uint64_t cap;		/* limits above that prove nothing: the value
				   is extended by its sign from there on */
	bool positive;		/* the index is not negative, by its type */
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
bound_add(struct bounding *s, const struct bound *bound)
{
	if (!s->any)
		s->found = (struct bound){ .exact = true };
	s->any = true;
	if (bound->limit > s->found.limit)
		s->found.limit = bound->limit;
	s->found.exact &= bound->exact;
	s->found.above |= bound->above;
	s->found.below |= bound->below;
}

/* What a compare says of a value: value < right + more. */
struct compared {
	int64_t right, more;
	bool exact;		/* that is so of unsigned numbers, */
	bool below;		/* ... or the value may be negative */
};

/* Set what a branch with this condition says where control took the edge. */
static bool
edge_limits(uint8_t cond, uint8_t kind, struct compared *compared)
{
	bool taken = kind == EDGE_TAKEN;

	compared->exact = cond >= COND_ABOVE && cond <= COND_BELOW_EQUAL;
	compared->below = cond >= COND_GREATER && cond <= COND_LESS_EQUAL;
	compared->more = 1;
	switch (cond) {
	case COND_ABOVE:
	case COND_GREATER:
	case COND_NOT_EQUAL:
		return !taken;
	case COND_BELOW_EQUAL:
	case COND_LESS_EQUAL:
	case COND_EQUAL:
		return taken;
	case COND_ABOVE_EQUAL:
	case COND_GREATER_EQUAL:
		compared->more = 0;
		return !taken;
	case COND_BELOW:
	case COND_LESS:
		compared->more = 0;
		return taken;
	default:
		return false;
	}
}

/* The compare whose flags the branch at use looks at, or NULL. */
static const struct effect *
compare_find(struct values *v, struct use *use)
{
	const struct effect *e;

	for (int hops = 0; hops < HOPS_MAX; hops++) {
		while (use->insn > v->cfg->blocks[use->block].first) {
			if (--v->budget < 0)
				return NULL;
			e = values_effect(v, --use->insn);
			if (e->flags)
				return e->compares ? e : NULL;
		}
		if (!values_only_before(v, use))
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

/* The constant that a register has at the use, if at most COMPARED_MAX. */
static bool
register_constant(struct values *v, const struct place *place,
		  const struct use *at, int64_t *value)
{
	struct use use = *at;
	uint64_t constant;

	use.place = *place;
	if (place->kind != PLACE_REG ||
	    values_constant(v, &use, &constant) != CONSTANT_FOUND)
		return false;
	if (place->width < sizeof(constant))
		constant &= (UINT64_C(1) << place->width * 8) - 1;
	if (constant > COMPARED_MAX)
		return false;
	*value = (int64_t)constant;
	return true;
}

/*
 * Find the constant of the compare at left's use, if there is one, and set
 * left's place to the other operand.  *swapped: the constant is on the left.
 */
static bool
compare_constant(struct values *v, const struct effect *e, struct use *left,
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

/* Whether two values of one origin are the same, but for bits above 32. */
static bool
origin_equal(const struct origin *a, const struct origin *b)
{
	return a->bias == b->bias && a->zeros == b->zeros &&
	       a->signs == b->signs && a->moved == b->moved &&
	       (a->width == b->width || (a->width >= 4 && b->width >= 4));
}

/*
 * Whether a compare of b with right bounds a, which an index of so many bytes
 * came from: whether the index is b moved by a constant, in all its bits.  Of
 * addresses more than four bytes away there is no table.
 */
static bool
compare_covers(const struct origin *b, int64_t right, const struct origin *a,
	       unsigned index_width)
{
	if (b->width >= 4 || index_width <= b->width)
		return true;
	return a->width <= b->width && b->bias <= 0 &&
	       right - b->bias < INT64_C(1) << b->width * 8;
}

/*
 * Whether a, of which b is compared with right, may be extended from a byte or
 * two whose highest bit is set.
 */
static bool
compare_signed(const struct origin *b, int64_t right, const struct origin *a)
{
	int64_t top = right - b->bias + (a->bias > 0 ? a->bias : 0);

	return a->signs && top >= INT64_C(1) << (a->width * 8 - 1);
}

/*
 * Set what the branch at the end of an edge's block compares: *left, with
 * *right; *more and the rest as edge_limits does.  False if that is no bound.
 */
static bool
edge_compare(struct values *v, const struct edge *edge, struct use *left,
	     struct compared *compared)
{
	const struct effect *e, *branch = values_effect(v, left->insn);
	uint8_t cond = branch->cond;
	bool swapped;

	if (v->cfg->insns[left->insn].kind != INSN_BRANCH || cond == COND_OTHER)
		return false;
	e = compare_find(v, left);
	if (!e || !compare_constant(v, e, left, &compared->right, &swapped))
		return false;
	return edge_limits(swapped ? cond_swapped(cond) : cond, edge->kind,
			   compared);
}

/* Find the bound that taking the edge sets to the way's index, if any. */
static bool
edge_bound(struct bounding *s, const struct edge *edge, const struct way *way,
	   struct bound *bound)
{
	const struct block *from = &s->v->cfg->blocks[edge->from];
	uint32_t last = from->first + from->count - 1;
	struct use index = { way->use.place, edge->from, last };
	struct use left = { .block = edge->from, .insn = last };
	struct compared compared;
	struct origin a, b;
	int64_t moved, limit;
	bool below, above;

	if (!edge_compare(s->v, edge, &left, &compared))
		return false;
	a = values_origin(s->v, &index);
	b = values_origin(s->v, &left);
	if (!origin_same(&a, &b))
		return false;
	moved = a.bias - b.bias + way->bias;
	limit = compared.right + compared.more + moved;
	if (limit <= 0 || limit > LIMIT_MAX)
		return false;
	below = compared.below || moved < 0 || (uint64_t)limit > way->cap;
	above = false;
	if (!origin_equal(&a, &b)) {
		below |= compare_signed(&b, compared.right, &a);
		above = (below && a.zeros) ||
			!compare_covers(&b, compared.right, &a,
					index.place.width);
	}
	*bound = (struct bound){
		.limit = (uint64_t)limit,
		.above = above,
		.below = below && !way->positive,
		.exact = compared.exact && !below && !above,
	};
	/* A negative byte is a large index once it is extended by zeros. */
	if ((below || above) && way->limit != BOUND_NONE)
		*bound = (struct bound){ .limit = way->limit };
	return true;
}

/* Nothing more can be known of the way: only its own limit holds. */
static void
way_end(struct bounding *s, const struct way *way)
{
	bound_add(s,
		  &(struct bound){
			  .limit = way->limit,
			  .above = way->limit == BOUND_NONE,
			  .below = way->limit == BOUND_NONE && !way->positive,
		  });
}

static void
way_before(struct bounding *s, const struct way *way)
{
	const struct cfg *cfg = s->v->cfg;
	uint32_t block = way->use.block;
	struct bound bound;

	if (cfg->blocks[block].external)
		way_end(s, way);
	for (uint32_t i = cfg->in[block]; i < cfg->in[block + 1]; i++) {
		const struct edge *edge = &cfg->edges[i];
		const struct block *from = &cfg->blocks[edge->from];
		struct way *to;
		bool clash = false;

		if (!values_edge_runs(s->v, edge))
			continue;
		if (edge_bound(s, edge, way, &bound)) {
			/* Of a value that was cut off behind the compare. */
			if (bound.limit > way->limit)
				bound = (struct bound){ .limit = way->limit };
			bound_add(s, &bound);
			continue;
		}
		if (!search_pass(&s->search, edge->from, &way->use.place,
				 (uint64_t)way->bias, way->limit, &clash)) {
			if (clash)
				way_end(s, way);
			continue;
		}
		to = vec_push(s->ways, s->n);
		*to = *way;
		to->use.block = edge->from;
		to->use.insn = from->first + from->count;
	}
}

static void
way_limit(struct way *way, uint64_t limit)
{
	limit += (uint64_t)way->bias;
	if (way->bias >= 0 && limit < way->limit && limit <= way->cap)
		way->limit = limit;
}

/*
 * The value is a copy.  A narrow one wraps, so what was added before says
 * nothing if more is added behind.  False if nothing more can be known.
 */
static bool
way_copied(struct way *way, const struct effect *e)
{
	bool narrow = e->src.width <= 2;
	uint64_t all = UINT64_C(1) << (narrow ? e->src.width * 8 : 63);

	if (narrow && e->sign && all / 2 < way->cap)
		way->cap = all / 2;
	else if (narrow && !e->sign)
		way_limit(way, all);
	way->positive |= !e->sign && !way->bias &&
			 e->src.width < way->use.place.width;
	way->use.place = e->src;
	return !narrow || !way->bias;
}

static void
way_constant(struct way *way, int64_t value)
{
	if (value >= 0 && (uint64_t)value < way->limit &&
	    (uint64_t)value < way->cap)
		way->limit = (uint64_t)value + 1;
}

/*
 * The instruction at the way's use changes its place.  What is written to four
 * bytes of a register of eight is extended by zeros.
 */
static void
way_changed(const struct bounding *s, struct way *way)
{
	const struct effect *e = values_effect(s->v, way->use.insn);

	way->positive |= s->v->in->arch->elf_class == ELFCLASS64 &&
			 e->dst.kind == PLACE_REG && e->dst.width == 4 &&
			 way->use.place.kind == PLACE_REG &&
			 way->use.place.reg == e->dst.reg &&
			 way->use.place.width == 8 && way->bias >= 0;
}

/* The instruction at the way's use makes the value; true: look back on. */
static bool
way_made(struct bounding *s, struct way *way)
{
	const struct effect *e = values_effect(s->v, way->use.insn);
	int64_t mask = LIMIT_MAX;

	switch (e->op) {
	case EFFECT_COPY:
		if (way_copied(way, e))
			return true;
		break;
	case EFFECT_SUM:
		if (e->src.index != REG_NONE)
			break;
		if (e->src.reg == REG_NONE) {
			way_constant(way, e->src.disp + way->bias);
			break;
		}
		way->bias += e->src.disp;
		way->use.place = e->src;
		way->use.place.kind = PLACE_REG;
		way->use.place.disp = 0;
		return true;
	case EFFECT_MASK:
		mask = (int64_t)(e->imm < LIMIT_MAX ? e->imm : LIMIT_MAX);
		if (e->operand.kind != PLACE_NONE &&
		    !register_constant(s->v, &e->operand, &way->use, &mask))
			register_constant(s->v, &e->dst, &way->use, &mask);
		if (mask < LIMIT_MAX)
			way_limit(way, (uint64_t)mask + 1);
		if (e->src.kind != PLACE_REG || way->bias)
			break;
		way->use.place = e->src;
		return true;
	case EFFECT_SHIFT:
		if (e->imm < 64 && e->dst.width * 8u > e->imm &&
		    e->dst.width * 8u - e->imm <= 16)
			way_limit(way, UINT64_C(1)
					       << (e->dst.width * 8u - e->imm));
		break;
	}
	way_end(s, way);
	return false;
}

static void
way_follow(struct bounding *s, struct way way)
{
	for (int hops = 0; hops < HOPS_MAX; hops++)
		switch (values_back(s->v, &way.use)) {
		case BACK_START:
			way_before(s, &way);
			return;
		case BACK_UNKNOWN:
			way_changed(s, &way);
			way_end(s, &way);
			return;
		case BACK_MADE:
			way_changed(s, &way);
			if (!way_made(s, &way))
				return;
			break;
		}
	way_end(s, &way);
}

struct bound
bound_find(struct values *v, const struct use *index)
{
	struct bounding s = {
		.v = v,
		.search = search_begin(v, SEARCH_INNER),
	};

	*vec_push(s.ways, s.n) = (struct way){
		.use = *index,
		.limit = BOUND_NONE,
		.cap = BOUND_NONE,
	};
	while (s.n && !s.failed)
		way_follow(&s, s.ways[--s.n]);
	free(s.ways);
	if (s.failed || !s.any)
		return (struct bound){
			.limit = BOUND_NONE,
			.above = true,
			.below = true,
		};
	return s.found;
}
