/*
 * Resolves indirect jumps: what the address jumped to is made of, how far
 * the index goes, and what the table has.
 */
#include "flow/tables.h"

#include <stdlib.h>
#include <string.h>

#include "flow/bounds.h"
#include "flow/values.h"
#include "util/mem.h"

enum {
	BUDGET = 200 * 1000,	/* instructions passed for one jump */
	HOPS_MAX = 64,
	TERMS_MAX = 4,
	ENTRIES_MAX = 1 << 16,
};

struct tables {
	const struct cfg *cfg;
	const struct cfg_input *in;
	struct values values;
	struct jump *jumps;
	size_t njumps;
	uint64_t *marks;	/* addresses that the code mentions, ascending */
	size_t nmarks;
	bool taken;		/* ... of its own code: labels */
};

/* A way in which the address jumped to may come about. */
struct way {
	struct spot spot;	/* of the address, or of what is added to base */
	bool entry;		/* the latter */
	bool sign;
	uint64_t base;
};

/* One jump being looked at. */
struct hunt {
	struct tables *t;
	struct search search;
	struct way *ways;
	size_t n;
	uint32_t *targets;
	size_t ntargets;
	bool pointer;		/* some ways are pointers, of anywhere */
	bool leaves;		/* tables have entries of other functions */
	bool failed;
};

/* A table found: entries are base plus `width` bytes. */
struct table {
	uint64_t addr, base;
	uint8_t width;
	bool sign;
	struct spot index;
};

static int
by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int
by_addr(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool
inside(const struct cfg_input *in, uint64_t addr)
{
	for (size_t i = 0; i < in->n; i++)
		if (addr >= in->lo[i] && addr < in->hi[i])
			return true;
	return false;
}

/* Addresses that instructions have as constants. */
static void
marks_find(struct tables *t)
{
	const struct cfg *cfg = t->cfg;

	for (uint32_t i = 0; i < cfg->ninsns; i++) {
		const struct effect *e;
		uint64_t addr;

		if (cfg->insns[i].kind != INSN_PLAIN)
			continue;
		e = values_effect(&t->values, i);
		addr = (uint64_t)e->src.disp;
		if (e->op == EFFECT_COPY && e->src.kind == PLACE_REG &&
		    e->src.reg == t->in->arch->reg_sp &&
		    e->dst.kind == PLACE_REG &&
		    e->dst.reg == t->in->arch->reg_fp)
			t->values.frame = true;
		if (e->src.kind != PLACE_MEM || e->src.reg != REG_NONE)
			continue;
		*vec_push(t->marks, t->nmarks) = addr;
		if (e->op == EFFECT_SUM && inside(t->in, addr) &&
		    addr != t->in->lo[0])
			t->taken = true;
	}
	if (t->nmarks)
		qsort(t->marks, t->nmarks, sizeof(*t->marks), by_addr);
}

/*
 * The address of some of the function's code but its entry is taken, and not
 * for the tables that are known.
 */
static bool
code_taken(const struct tables *t)
{
	for (size_t i = 0; i < t->in->nrefs; i++) {
		long insn = cfg_insn(t->cfg, t->in->refs[i]);
		bool known = !inside(t->in, t->in->refs[i]) ||
			     t->in->refs[i] == t->in->lo[0];

		for (size_t k = 0; k < t->njumps && !known; k++)
			known = t->jumps[k].ntargets &&
				bsearch(&(uint32_t){ (uint32_t)insn },
					t->jumps[k].targets,
					t->jumps[k].ntargets,
					sizeof(*t->jumps[k].targets),
					by_number);
		if (!known)
			return true;
	}
	return t->taken;
}

struct tables *
tables_open(const struct cfg *cfg, const struct cfg_input *in)
{
	struct tables *t;
	struct jump *jumps = NULL;
	size_t n = 0;

	if (!in->data || !in->arch->effect)
		return NULL;
	for (uint32_t i = 0; i < cfg->ninsns; i++)
		if (cfg->insns[i].kind == INSN_JUMP_INDIRECT)
			*vec_push(jumps, n) = (struct jump){ .insn = i };
	if (!n)
		return NULL;
	t = mem_alloc(sizeof(*t));
	*t = (struct tables){
		.cfg = cfg, .in = in, .jumps = jumps, .njumps = n,
	};
	values_open(&t->values, cfg, in);
	marks_find(t);
	return t;
}

void
tables_close(struct tables *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->njumps; i++)
		free(t->jumps[i].targets);
	free(t->jumps);
	free(t->marks);
	values_close(&t->values);
	free(t);
}

const struct jump *
tables_jumps(const struct tables *t, size_t *n)
{
	*n = t ? t->njumps : 0;
	return t ? t->jumps : NULL;
}

static struct spot
spot_reg(uint8_t reg, const struct spot *at)
{
	struct spot spot = *at;

	spot.place = (struct place){
		.kind = PLACE_REG, .width = 8, .reg = reg, .index = REG_NONE,
	};
	return spot;
}

/* An address as a sum: constant + coefficients times registers. */
struct term {
	struct spot spot;
	uint64_t times;
};

struct sum {
	struct term terms[TERMS_MAX];
	unsigned n;
	uint64_t constant;
	bool unreached;
};

static bool
sum_add(struct sum *sum, const struct place *place, const struct spot *at,
	uint64_t times)
{
	if (sum->n + 2 > TERMS_MAX)
		return false;
	sum->constant += (uint64_t)place->disp * times;
	if (place->reg != REG_NONE)
		sum->terms[sum->n++] = (struct term){
			spot_reg(place->reg, at), times
		};
	if (place->index != REG_NONE)
		sum->terms[sum->n++] = (struct term){
			spot_reg(place->index, at), times * place->scale
		};
	return true;
}

/* What makes the value, if only one way leads to it. */
static const struct effect *
made_by(struct values *v, struct spot *spot)
{
	for (int hops = 0; hops < HOPS_MAX; hops++)
		switch (values_back(v, spot)) {
		case BACK_MADE:
			return values_effect(v, spot->insn);
		case BACK_LOST:
			return NULL;
		case BACK_START:
			if (!values_only_before(v, spot))
				return NULL;
		}
	return NULL;
}

/* Put in place of a term what it is the sum of, if it is. */
static bool
term_expand(struct values *v, struct sum *sum, unsigned i)
{
	struct term term = sum->terms[i];
	const struct effect *e;

	for (int hops = 0; hops < HOPS_MAX; hops++) {
		e = made_by(v, &term.spot);
		if (!e)
			return false;
		if (e->op == EFFECT_COPY && (e->src.kind == PLACE_REG ||
					     values_on_stack(v, &e->src))) {
			term.spot.place = e->src;
			continue;
		}
		if (e->op != EFFECT_SUM)
			return false;
		sum->terms[i] = sum->terms[--sum->n];
		return sum_add(sum, &e->src, &term.spot, term.times);
	}
	return false;
}

static void
constants_fold(struct values *v, struct sum *sum)
{
	uint64_t value;

	for (unsigned i = 0; i < sum->n;) {
		enum constant c = sum->terms[i].times != 1 ? CONSTANT_NONE :
			values_constant(v, &sum->terms[i].spot, &value);

		sum->unreached |= c == CONSTANT_UNREACHED;
		if (c == CONSTANT_FOUND) {
			sum->constant += value;
			sum->terms[i] = sum->terms[--sum->n];
		} else {
			i++;
		}
	}
}

/*
 * What is at `at`'s place is an entry of a table: find the table's address
 * and its index.
 */
static enum constant
table_find(struct values *v, const struct spot *at, struct table *table)
{
	struct sum sum = { 0 };

	table->width = at->place.width;
	if (!table->width || table->width > 8 ||
	    table->width & (table->width - 1) ||
	    !sum_add(&sum, &at->place, at, 1))
		return CONSTANT_NONE;
	for (int hops = 0; hops < HOPS_MAX; hops++) {
		unsigned i;

		constants_fold(v, &sum);
		if (sum.unreached)
			return CONSTANT_UNREACHED;
		if (sum.n == 1 && sum.terms[0].times == table->width) {
			table->addr = sum.constant;
			table->index = sum.terms[0].spot;
			return CONSTANT_FOUND;
		}
		for (i = 0; i < sum.n; i++)
			if (sum.terms[i].times < table->width &&
			    term_expand(v, &sum, i))
				break;
		if (i == sum.n)
			break;
	}
	return CONSTANT_NONE;
}

static uint64_t
entry_read(const struct table *table, const uint8_t *p)
{
	uint64_t value = 0;
	unsigned shift = 64 - table->width * 8;

	for (unsigned i = table->width; i-- > 0;)
		value = value << 8 | p[i];
	if (table->sign && shift)
		value = (uint64_t)((int64_t)(value << shift) >> shift);
	return table->base + value;
}

/* How many entries there is room for before the next thing known. */
static uint64_t
table_room(const struct tables *t, const struct table *table, size_t avail)
{
	uint64_t room = avail;
	size_t lo = 0, hi = t->nmarks;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->marks[mid] <= table->addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < t->nmarks && t->marks[lo] - table->addr < room)
		room = t->marks[lo] - table->addr;
	return room / table->width;
}

/* clang: an entry of what cannot happen goes behind the function's end. */
static bool
target_never(const struct cfg_input *in, uint64_t target)
{
	for (size_t i = 0; i < in->n; i++)
		if (target == in->hi[i])
			return !inside(in, target);
	return false;
}

/* What an entry of a table may be. */
enum entry {
	ENTRY_HERE,		/* an instruction of the function */
	ENTRY_NEVER,
	ENTRY_LEAVES,		/* another function */
	ENTRY_ABSURD,		/* no entry: the table has ended before */
	ENTRY_UNKNOWN,		/* may be of code that is not known */
};

static enum entry
entry_kind(const struct tables *t, uint64_t target, long *insn)
{
	const struct cfg_input *in = t->in;
	size_t avail;

	*insn = cfg_insn(t->cfg, target);
	if (*insn >= 0)
		return ENTRY_HERE;
	if (target_never(in, target))
		return ENTRY_NEVER;
	if (inside(in, target) || !in->text(in->ctx, target, &avail))
		return ENTRY_ABSURD;
	switch (in->place ? in->place(in->ctx, target) : CFG_UNKNOWN) {
	case CFG_ENTRY:
		return ENTRY_LEAVES;
	case CFG_FOREIGN:
		return ENTRY_ABSURD;
	default:
		return ENTRY_UNKNOWN;
	}
}

enum { ENTRIES_MIN = 2 };	/* where nothing says how many */

/* How many of n entries are some; *here of them are in the function. */
static uint64_t
entries_read(struct hunt *hunt, const struct table *table, const uint8_t *p,
	     uint64_t n, bool exact, uint64_t *here)
{
	long insn;

	*here = 0;
	for (uint64_t i = 0; i < n; i++, p += table->width) {
		switch (entry_kind(hunt->t, entry_read(table, p), &insn)) {
		case ENTRY_HERE:
			*vec_push(hunt->targets, hunt->ntargets) =
				(uint32_t)insn;
			++*here;
			break;
		case ENTRY_NEVER:
			break;
		case ENTRY_LEAVES:
			if (!exact)
				return i < ENTRIES_MIN ? i : n;
			hunt->leaves = true;
			break;
		case ENTRY_ABSURD:
			return exact || i < ENTRIES_MIN ? i : n;
		case ENTRY_UNKNOWN:
			return i;
		}
	}
	return n;
}

/*
 * The table's targets.  1, or 0 if none is in the function, or -1 if not all
 * can be told.
 */
static int
table_read(struct hunt *hunt, const struct table *table)
{
	struct tables *t = hunt->t;
	struct bound bound = bound_find(&t->values, &table->index);
	uint64_t room, n, here;
	const uint8_t *p;
	size_t avail;

	p = t->in->data(t->in->ctx, table->addr, &avail);
	if (!p)
		return 0;
	/* A compare may be of a switch that this one is a part of. */
	room = table_room(t, table, avail);
	n = bound.limit < room ? bound.limit : room;
	if (n > ENTRIES_MAX)
		n = ENTRIES_MAX;
	if (entries_read(hunt, table, p, n, bound.exact, &here) == n && here)
		return 1;
	return here ? -1 : 0;
}

/* The way's place is memory: what is read there. */
static void
way_load(struct hunt *hunt, const struct way *way)
{
	struct table table = { .base = way->base, .sign = way->sign };
	int found = 0;

	switch (table_find(&hunt->t->values, &way->spot, &table)) {
	case CONSTANT_UNREACHED:
		return;
	case CONSTANT_FOUND:
		found = table_read(hunt, &table);
		break;
	case CONSTANT_NONE:
		break;
	}
	if (found < 0 || (!found && way->entry))
		hunt->failed = true;
	else if (!found)
		hunt->pointer = true;
}

static void
way_push(struct hunt *hunt, const struct way *way, const struct spot *spot)
{
	struct way *to;
	struct way copy = *way;

	copy.spot = *spot;
	to = vec_push(hunt->ways, hunt->n);
	*to = copy;
}

static void
way_before(struct hunt *hunt, const struct way *way)
{
	struct tables *t = hunt->t;
	const struct cfg *cfg = t->cfg;
	uint32_t block = way->spot.block;

	if (cfg->blocks[block].first == cfg->entry) {
		hunt->pointer = true;
		hunt->failed |= way->entry;
	}
	for (uint32_t i = cfg->in[block]; i < cfg->in[block + 1]; i++) {
		uint32_t from = cfg->edges[i].from;
		const struct block *before = &cfg->blocks[from];

		way_push(hunt, way, &(struct spot){
			way->spot.place, from, before->first + before->count
		});
	}
}

/* An address that is a constant: a label's. */
static void
way_constant(struct hunt *hunt, uint64_t addr)
{
	long insn = cfg_insn(hunt->t->cfg, addr);

	if (insn >= 0)
		*vec_push(hunt->targets, hunt->ntargets) = (uint32_t)insn;
	else if (inside(hunt->t->in, addr))
		hunt->failed = true;
	else
		hunt->pointer = true;
}

/*
 * The address is a sum: of a constant base, and what the table has; which of
 * two registers is which must be found out.
 */
static void
way_sum(struct hunt *hunt, struct way *way, const struct place *src)
{
	struct values *v = &hunt->t->values;
	struct spot a = spot_reg(src->reg, &way->spot);
	struct spot b = spot_reg(src->index, &way->spot);
	enum constant ca = CONSTANT_FOUND, cb = CONSTANT_NONE;
	uint64_t base = 0;

	if (src->reg == REG_NONE && src->index == REG_NONE) {
		if (way->entry)
			hunt->failed = true;
		else
			way_constant(hunt, (uint64_t)src->disp);
		return;
	}
	if (way->entry || src->reg == REG_NONE ||
	    (src->index != REG_NONE && src->scale != 1)) {
		hunt->failed = true;
		return;
	}
	way->entry = true;
	way->sign = false;
	if (src->index != REG_NONE) {
		ca = values_constant(v, &a, &base);
		if (ca != CONSTANT_FOUND)
			cb = values_constant(v, &b, &base);
	}
	if (ca == CONSTANT_UNREACHED || cb == CONSTANT_UNREACHED)
		return;
	if (ca == cb)
		hunt->failed = true;
	way->spot = src->index != REG_NONE && ca == CONSTANT_FOUND ? b : a;
	way->base = base + (uint64_t)src->disp;
	if (!hunt->failed)
		way_push(hunt, way, &way->spot);
}

/*
 * Something else made the value.  A call returns an address; what was made
 * of mixed bits is one that was hidden, as in a jmp_buf, not a sum.
 */
static void
way_lost(struct hunt *hunt, const struct way *way)
{
	const struct effect *e;

	switch (hunt->t->cfg->insns[way->spot.insn].kind) {
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		hunt->pointer = true;
		hunt->failed |= way->entry;
		break;
	case INSN_PLAIN:
		e = values_effect(&hunt->t->values, way->spot.insn);
		if (e->op == EFFECT_MIX && !way->entry)
			hunt->pointer = true;
		else
			hunt->failed = true;
		break;
	default:
		hunt->failed = true;
		break;
	}
}

static void
way_follow(struct hunt *hunt, struct way way)
{
	struct values *v = &hunt->t->values;
	const struct effect *e;

	for (int hops = 0; hops < HOPS_MAX; hops++) {
		if (way.spot.place.kind == PLACE_MEM &&
		    !values_on_stack(v, &way.spot.place)) {
			way_load(hunt, &way);
			return;
		}
		switch (values_back(v, &way.spot)) {
		case BACK_START:
			if (!search_pass(&hunt->search, way.spot.block,
					 &way.spot.place, way.base,
					 &hunt->failed))
				return;
			way_before(hunt, &way);
			return;
		case BACK_LOST:
			way_lost(hunt, &way);
			return;
		case BACK_MADE:
			break;
		}
		e = values_effect(v, way.spot.insn);
		if (e->op == EFFECT_SUM) {
			way_sum(hunt, &way, &e->src);
			return;
		}
		if (e->op != EFFECT_COPY) {
			way_lost(hunt, &way);
			return;
		}
		way.sign |= e->sign;
		way.spot.place = e->src;
	}
	hunt->failed = true;
}

static uint32_t
block_of(const struct cfg *cfg, uint32_t insn)
{
	uint32_t lo = 0, hi = (uint32_t)cfg->nblocks;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (cfg->blocks[mid].first <= insn)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static size_t
targets_sort(uint32_t *targets, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(targets, n, sizeof(*targets), by_number);
	for (size_t i = 0; i < n; i++)
		if (!i || targets[i] != targets[kept - 1])
			targets[kept++] = targets[i];
	return kept;
}

/* True if the jump turned out otherwise than before. */
static bool
jump_set(struct jump *jump, uint8_t flow, uint32_t *targets, size_t n)
{
	bool same;

	n = targets_sort(targets, n);
	same = jump->flow == flow && jump->ntargets == n &&
	       (!n || !memcmp(jump->targets, targets, n * sizeof(*targets)));
	free(jump->targets);
	jump->flow = flow;
	jump->targets = targets;
	jump->ntargets = n;
	return !same;
}

static bool
jump_look(struct tables *t, struct jump *jump)
{
	struct hunt hunt = { .t = t };
	const struct effect *e = values_effect(&t->values, jump->insn);
	struct way way = {
		.spot = { e->src, block_of(t->cfg, jump->insn), jump->insn },
	};
	uint8_t flow = FLOW_PLAIN;

	t->values.budget = BUDGET;
	if (e->src.kind == PLACE_NONE)
		return false;
	*vec_push(hunt.ways, hunt.n) = way;
	hunt.search = search_begin(&t->values, SEARCH_OUTER);
	while (hunt.n && !hunt.failed)
		way_follow(&hunt, hunt.ways[--hunt.n]);
	free(hunt.ways);
	if (!hunt.failed && !hunt.pointer && hunt.ntargets)
		flow = hunt.leaves ? FLOW_TABLE_LEAVES : FLOW_TABLE;
	else if (!hunt.failed && hunt.pointer && !hunt.ntargets &&
		 !code_taken(t))
		flow = FLOW_LEAVES;
	if (flow == FLOW_PLAIN || flow == FLOW_LEAVES)
		hunt.ntargets = 0;
	return jump_set(jump, flow, hunt.targets, hunt.ntargets);
}

bool
tables_look(struct tables *t)
{
	bool news = false;

	for (size_t i = 0; i < t->njumps; i++)
		news |= jump_look(t, &t->jumps[i]);
	return news;
}

void
tables_forget(struct tables *t)
{
	for (size_t i = 0; i < t->njumps; i++) {
		t->jumps[i].flow = FLOW_PLAIN;
		t->jumps[i].ntargets = 0;
	}
}
