/*
 * Resolves indirect jumps: follows the target address backwards along all ways
 * in which it may come about.  Never reads a table itself.
 */
#include "flow/tables.h"

#include <stdlib.h>
#include <string.h>

#include "flow/ocaml.h"
#include "flow/table_find.h"
#include "flow/table_read.h"
#include "flow/values.h"
#include "util/addrs.h"
#include "util/mem.h"

enum {
	BUDGET = 200 * 1000,	/* instructions to pass for one jump */
	HOPS_MAX = 64,
	ENTRIES_MAX = 1 << 20,	/* of all jumps of the function */
};

struct tables {
	const struct cfg *cfg;
	const struct cfg_input *in;
	struct values values;
	struct jump *jumps;
	size_t njumps;
	struct marks marks;
	bool taken;		/* the code takes addresses of its own labels */
	bool asked, answer;	/* code_taken's result; asked: it is valid */
	uint64_t read;		/* entries of tables, in this round */
};

/* A way in which the target address may come about. */
struct way {
	struct spot spot;	/* of the address, or if `entry` of a value: */
	bool entry;		/* the address is base + value * scale */
	bool sign;
	uint8_t scale;
	uint64_t base;
};

/* One jump being looked at. */
struct hunt {
	struct tables *t;
	struct search search;
	struct way *ways;
	size_t n;
	struct targets targets;
	bool pointer;		/* some ways are pointers to anywhere */
	bool failed;
};

static int
by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Collect the constant addresses in instructions; set `frame` and `taken`. */
static void
marks_find(struct tables *t)
{
	const struct cfg *cfg = t->cfg;

	for (uint32_t i = 0; i < cfg->ninsns; i++) {
		const struct effect *e;
		uint64_t addr;

		if (cfg->insns[i].kind != INSN_PLAIN ||
		    values_addressless(&t->values, i))
			continue;
		e = values_effect(&t->values, i);
		addr = values_address(&t->values, (uint64_t)e->src.disp);
		/* The frame pointer is set from the stack pointer. */
		if (((e->op == EFFECT_COPY && e->src.kind == PLACE_REG) ||
		     (e->op == EFFECT_SUM && e->sp)) &&
		    e->src.reg == t->in->arch->reg_sp &&
		    e->dst.kind == PLACE_REG &&
		    e->dst.reg == t->in->arch->reg_fp)
			t->values.frame = true;
		if (e->src.kind != PLACE_MEM || e->src.reg != REG_NONE)
			continue;
		*vec_push(t->marks.addrs, t->marks.n) = addr;
		if (e->op == EFFECT_SUM && cfg_inside(t->in, addr) &&
		    addr != t->in->lo[0] && !ocaml_handles(t->in, addr))
			t->taken = true;
	}
	addrs_sort(t->marks.addrs, t->marks.n);
}

static bool
refs_taken(const struct tables *t)
{
	for (size_t i = 0; i < t->in->nrefs; i++) {
		long insn = cfg_insn(t->cfg, t->in->refs[i]);
		bool known = !cfg_inside(t->in, t->in->refs[i]) ||
			     t->in->refs[i] == t->in->lo[0] ||
			     ocaml_returns(t->cfg, t->in, t->in->refs[i]);

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
	return false;
}

/*
 * Whether an address in the function's code, other than its entry, is taken
 * for anything but a table that is known.
 */
static bool
code_taken(struct tables *t)
{
	if (!t->asked)
		t->answer = t->taken || refs_taken(t);
	t->asked = true;
	return t->answer;
}

struct tables *
tables_open(const struct cfg *cfg, const struct cfg_input *in)
{
	struct tables *t;
	struct jump *jumps = NULL;
	size_t n = 0;

	if (!in->arch->targets && (!in->data || !in->arch->effect))
		return NULL;
	for (uint32_t i = 0; i < cfg->ninsns; i++)
		if (cfg->insns[i].kind == INSN_JUMP_INDIRECT)
			*vec_push(jumps, n) = (struct jump){ .insn = i };
	if (!n)
		return NULL;
	t = mem_alloc(sizeof(*t));
	*t = (struct tables){
		.cfg = cfg,
		.in = in,
		.jumps = jumps,
		.njumps = n,
	};
	values_open(&t->values, cfg, in);
	if (in->data && in->arch->effect)
		marks_find(t);
	return t;
}

static void
jump_clear(struct jump *jump)
{
	free(jump->targets);
	free(jump->outs);
	*jump = (struct jump){ .insn = jump->insn };
}

void
tables_close(struct tables *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->njumps; i++)
		jump_clear(&t->jumps[i]);
	free(t->jumps);
	free(t->marks.addrs);
	values_close(&t->values);
	free(t);
}

const struct jump *
tables_jumps(const struct tables *t, size_t *n)
{
	*n = t ? t->njumps : 0;
	return t ? t->jumps : NULL;
}

/* The way's place is in memory: it is a table's entry, or a pointer. */
static void
way_load(struct hunt *hunt, const struct way *way)
{
	struct table table = {
		.base = way->base,
		.sign = way->sign,
		.scale = way->scale,
	};
	enum table_goes goes = TABLE_NONE;

	switch (table_find(&hunt->t->values, &way->spot, &table)) {
	case CONSTANT_UNREACHED:
		return;
	case CONSTANT_FOUND:
		goes = table_read(&hunt->t->values, &hunt->t->marks, &table,
				  &hunt->targets);
		break;
	case CONSTANT_NONE:
		break;
	}
	if (goes == TABLE_BAD || (goes == TABLE_NONE && way->entry))
		hunt->failed = true;
	else if (goes == TABLE_NONE)
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

		if (!values_edge_runs(&t->values, &cfg->edges[i]))
			continue;
		way_push(hunt, way,
			 &(struct spot){ way->spot.place, from,
					 before->first + before->count });
	}
}

/* Add a target elsewhere. */
static void
target_away(const struct tables *t, struct targets *targets, uint64_t addr)
{
	targets->leaves = true;
	if (t->in->place && t->in->place(t->in->ctx, addr) == CFG_MIDDLE)
		*vec_push(targets->outs, targets->nouts) = addr;
}

/* The target address is a constant. */
static void
way_constant(struct hunt *hunt, uint64_t addr)
{
	long insn = cfg_insn(hunt->t->cfg, addr);

	if (insn >= 0)
		target_push(&hunt->targets, insn);
	else if (cfg_inside(hunt->t->in, addr))
		hunt->failed = true;
	else
		target_away(hunt->t, &hunt->targets, addr);
}

/*
 * The target address is a sum of a constant base and a table's entry.  If it is
 * the sum of two registers, find out which of them holds the base.
 */
static void
way_sum(struct hunt *hunt, struct way *way, const struct place *src)
{
	struct values *v = &hunt->t->values;
	struct spot a = spot_reg(src->reg, &way->spot);
	struct spot b = spot_index(src, &way->spot);
	enum constant ca = CONSTANT_FOUND, cb = CONSTANT_NONE;
	uint64_t base = 0;

	if (src->reg == REG_NONE && src->index == REG_NONE) {
		if (way->entry)
			hunt->failed = true;
		else
			way_constant(hunt,
				     values_address(v, (uint64_t)src->disp));
		return;
	}
	if (way->entry) {
		hunt->failed = true;
		return;
	}
	way->entry = true;
	way->sign = false;
	way->scale = 1;
	if (src->index != REG_NONE && src->reg != REG_NONE) {
		ca = values_constant(v, &a, &base);
		if (ca != CONSTANT_FOUND && src->scale == 1 &&
		    !src->index_width)
			cb = values_constant(v, &b, &base);
	}
	if (ca == CONSTANT_UNREACHED || cb == CONSTANT_UNREACHED)
		return;
	if (ca == cb)
		hunt->failed = true;
	way->spot = a;
	if (src->index != REG_NONE && ca == CONSTANT_FOUND) {
		way->spot = b;
		way->scale = src->scale;
		way->sign = src->index_sign;
	}
	way->base = base + (uint64_t)src->disp;
	if (!hunt->failed)
		way_push(hunt, way, &way->spot);
}

/*
 * The value was made by another kind of instruction.  A call returns a pointer;
 * a value made of mixed bits is an address that was mangled, as in a jmp_buf.
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
					 &way.spot.place, way.base, 0,
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
		if (e->src.width < way.spot.place.width)
			way.sign = e->sign;
		way.spot.place = e->src;
	}
	hunt->failed = true;
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

/*
 * Set what is known of the jump; true if that is news.  The jump takes
 * ownership of the arrays in `found`.
 */
static bool
jump_set(struct tables *t, struct jump *jump, uint8_t flow,
	 struct targets *found)
{
	bool leads = flow == FLOW_TABLE || flow == FLOW_TABLE_LEAVES, same;
	bool known = leads || flow == FLOW_LEAVES;
	struct jump is = {
		.insn = jump->insn,
		.flow = flow,
		.targets = found->insns,
		.ntargets = leads ? targets_sort(found->insns, found->n) : 0,
		.unknown = known && found->unknown,
		.outs = found->outs,
		.nouts = known ? found->nouts : 0,
	};

	t->read += found->read;
	same = jump->ntargets == is.ntargets &&
	       (!is.ntargets || !memcmp(jump->targets, is.targets,
					is.ntargets * sizeof(*is.targets)));
	t->asked &= same;
	same = same && jump->flow == flow && jump->unknown == is.unknown &&
	       jump->nouts == is.nouts;
	jump_clear(jump);
	*jump = is;
	return !same;
}

/*
 * Resolve a jump that has its table behind it, as the arch says.  0, or -1 if
 * the jump has no such table.
 */
static int
jump_own(struct tables *t, struct jump *jump, bool *news)
{
	uint64_t addr = t->cfg->insns[jump->insn].addr, *addrs = NULL;
	uint8_t flow = FLOW_TABLE;
	const uint8_t *code;
	struct targets found = { 0 };
	size_t avail, naddrs = 0;

	code = t->in->arch->targets ? t->in->text(t->in->ctx, addr, &avail) :
				      NULL;
	if (!code ||
	    t->in->arch->targets(code, avail, addr, &addrs, &naddrs) < 0)
		return -1;
	for (size_t i = 0; i < naddrs && flow != FLOW_PLAIN; i++) {
		long insn = cfg_insn(t->cfg, addrs[i]);

		if (insn >= 0) {
			target_push(&found, insn);
		} else if (cfg_inside(t->in, addrs[i])) {
			flow = FLOW_PLAIN;
		} else {
			flow = FLOW_TABLE_LEAVES;
			target_away(t, &found, addrs[i]);
		}
	}
	found.read = naddrs;
	free(addrs);
	*news = jump_set(t, jump, flow, &found);
	return 0;
}

static bool
jump_look(struct tables *t, struct jump *jump)
{
	struct hunt hunt = { .t = t };
	const struct effect *e;
	struct way way = { .scale = 1 };
	uint8_t flow = FLOW_PLAIN;
	bool news;

	/* One table may be that of all jumps. */
	if (t->read > ENTRIES_MAX)
		return jump_set(t, jump, FLOW_PLAIN, &hunt.targets);
	if (!jump_own(t, jump, &news))
		return news;
	if (!t->in->data || !t->in->arch->effect)
		return false;
	e = values_effect(&t->values, jump->insn);
	way.spot = (struct spot){ e->src, cfg_block_of(t->cfg, jump->insn),
				  jump->insn };
	t->values.budget = BUDGET;
	if (e->src.kind == PLACE_NONE)
		return false;
	hunt.search = search_begin(&t->values, SEARCH_OUTER);
	if (e->op == EFFECT_SUM)
		way_sum(&hunt, &way, &e->src);
	else
		*vec_push(hunt.ways, hunt.n) = way;
	while (hunt.n && !hunt.failed)
		way_follow(&hunt, hunt.ways[--hunt.n]);
	free(hunt.ways);
	if (!hunt.failed && !hunt.pointer && hunt.targets.n)
		flow = hunt.targets.leaves || hunt.targets.unknown ?
			       FLOW_TABLE_LEAVES :
			       FLOW_TABLE;
	else if (!hunt.failed && !hunt.targets.n &&
		 (hunt.pointer ? !code_taken(t) : hunt.targets.leaves))
		flow = FLOW_LEAVES;
	return jump_set(t, jump, flow, &hunt.targets);
}

bool
tables_look(struct tables *t)
{
	bool news = false;

	t->read = 0;
	t->asked = false;
	for (size_t i = 0; i < t->njumps; i++)
		news |= jump_look(t, &t->jumps[i]);
	return news;
}

/*
 * Set the width, sign and index of the table whose entry is the value at the
 * spot; false if that does not come from memory.
 */
static bool
behind_find(struct values *v, struct spot spot, struct table *table)
{
	struct table found = { .width = 0 };
	const struct effect *e;

	do {
		if (values_back(v, &spot) != BACK_MADE)
			return false;
		e = values_effect(v, spot.insn);
		if (e->op != EFFECT_COPY)
			return false;
		if (e->src.width < spot.place.width)
			table->sign = e->sign;
		spot.place = e->src;
	} while (spot.place.kind != PLACE_MEM ||
		 values_on_stack(v, &spot.place));
	table->width = spot.place.width;
	/* Trust the index only if the address found is the known one. */
	if (table_find(v, &spot, &found) == CONSTANT_FOUND &&
	    found.addr == table->addr)
		table->index = found.index;
	return table->width && table->width <= 4;
}

bool
tables_behind(const struct cfg_input *in, const struct insn *jump)
{
	const uint8_t *code;
	struct effect e;
	size_t avail;

	if (jump->kind != INSN_JUMP_INDIRECT || !in->arch->effect)
		return false;
	code = in->text(in->ctx, jump->addr, &avail);
	return code && !in->arch->effect(code, avail, jump->addr, &e) &&
	       e.op == EFFECT_SUM && e.src.reg == REG_NONE &&
	       e.src.index != REG_NONE && e.src.scale == 1 &&
	       (uint64_t)e.src.disp == jump->addr + jump->len;
}

uint64_t
tables_extent(const struct cfg *cfg, const struct cfg_input *in,
	      const uint8_t *p, size_t avail)
{
	uint32_t last = (uint32_t)cfg->ninsns - 1;
	uint64_t end = cfg->insns[last].addr + cfg->insns[last].len;
	struct spot spot = { .block = (uint32_t)cfg->nblocks - 1,
			     .insn = last };
	struct table table = { .addr = end, .base = end, .scale = 1 };
	struct values v;
	uint64_t extent = 0;

	values_open(&v, cfg, in);
	v.budget = BUDGET;
	spot = spot_index(&values_effect(&v, last)->src, &spot);
	table.sign = values_effect(&v, last)->src.index_sign;
	if (behind_find(&v, spot, &table))
		extent = table_extent(&v, &table, p, avail);
	values_close(&v);
	return extent;
}

void
tables_forget(struct tables *t)
{
	for (size_t i = 0; i < t->njumps; i++)
		jump_clear(&t->jumps[i]);
}
