/*
 * Finds where an indirect jump goes: follows the target's address backwards
 * along all ways in which it may come about.  Never reads a table itself.
 */
#include "flow/target_find.h"

#include <stdlib.h>

#include "util/mem.h"

enum { HOPS_MAX = 64 };

/* A way in which the target address may come about. */
struct way {
	struct use use;		/* of the address, or if `entry` of a value: */
	bool entry;		/* the address is base + value * scale */
	bool sign;
	uint8_t scale;
	uint64_t base;
};

/* One jump whose targets are looked for. */
struct finding {
	struct values *values;
	const struct marks *marks;
	struct search search;
	struct way *ways;	/* still to be followed */
	size_t n;
	struct targets *targets;
};

void
target_away(const struct cfg_input *in, struct targets *targets, uint64_t addr)
{
	targets->leaves = true;
	if (in->place && in->place(in->ctx, addr) == CFG_MIDDLE)
		*vec_push(targets->outs, targets->nouts) = addr;
}

/* The way's place is in memory: it is a table's entry, or a pointer. */
static void
way_load(struct finding *f, const struct way *way)
{
	struct table table = {
		.base = way->base,
		.sign = way->sign,
		.scale = way->scale,
	};
	enum table_goes goes = TABLE_NONE;

	switch (table_find(f->values, &way->use, &table)) {
	case CONSTANT_UNREACHED:
		return;
	case CONSTANT_FOUND:
		goes = table_read(f->values, f->marks, &table, f->targets);
		break;
	case CONSTANT_NONE:
		break;
	}
	if (goes == TABLE_BAD || (goes == TABLE_NONE && way->entry))
		f->targets->failed = true;
	else if (goes == TABLE_NONE)
		f->targets->pointer = true;
}

static void
way_push(struct finding *f, const struct way *way, const struct use *use)
{
	struct way *to;
	struct way copy = *way;

	copy.use = *use;
	to = vec_push(f->ways, f->n);
	*to = copy;
}

static void
way_before(struct finding *f, const struct way *way)
{
	const struct cfg *cfg = f->values->cfg;
	uint32_t block = way->use.block;

	if (cfg->blocks[block].first == cfg->entry) {
		f->targets->pointer = true;
		f->targets->failed |= way->entry;
	}
	for (uint32_t i = cfg->in[block]; i < cfg->in[block + 1]; i++) {
		uint32_t from = cfg->edges[i].from;
		const struct block *before = &cfg->blocks[from];

		if (!values_edge_runs(f->values, &cfg->edges[i]))
			continue;
		way_push(f, way,
			 &(struct use){ way->use.place, from,
					before->first + before->count });
	}
}

/* The target address is a constant. */
static void
way_constant(struct finding *f, uint64_t addr)
{
	long insn = cfg_insn(f->values->cfg, addr);

	if (insn >= 0)
		target_push(f->targets, insn);
	else if (cfg_inside(f->values->in, addr))
		f->targets->failed = true;
	else
		target_away(f->values->in, f->targets, addr);
}

/*
 * The target address is a sum of a constant base and a table's entry.  If it is
 * the sum of two registers, find out which of them holds the base.
 */
static void
way_sum(struct finding *f, struct way *way, const struct place *src)
{
	struct values *v = f->values;
	struct use a = use_reg(src->reg, &way->use);
	struct use b = use_index(src, &way->use);
	enum constant ca = CONSTANT_FOUND, cb = CONSTANT_NONE;
	uint64_t base = 0;

	if (src->reg == REG_NONE && src->index == REG_NONE) {
		if (way->entry)
			f->targets->failed = true;
		else
			way_constant(f, values_address(v, (uint64_t)src->disp));
		return;
	}
	if (way->entry) {
		f->targets->failed = true;
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
		f->targets->failed = true;
	way->use = a;
	if (src->index != REG_NONE && ca == CONSTANT_FOUND) {
		way->use = b;
		way->scale = src->scale;
		way->sign = src->index_sign;
	}
	way->base = base + (uint64_t)src->disp;
	if (!f->targets->failed)
		way_push(f, way, &way->use);
}

/*
 * The value was made by another kind of instruction.  A call returns a pointer;
 * a value made of mixed bits is an address that was mangled, as in a jmp_buf.
 */
static void
way_unknown(struct finding *f, const struct way *way)
{
	const struct effect *e;

	switch (f->values->cfg->insns[way->use.insn].kind) {
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		f->targets->pointer = true;
		f->targets->failed |= way->entry;
		break;
	case INSN_PLAIN:
		e = values_effect(f->values, way->use.insn);
		if (e->op == EFFECT_MIX && !way->entry)
			f->targets->pointer = true;
		else
			f->targets->failed = true;
		break;
	default:
		f->targets->failed = true;
		break;
	}
}

static void
way_follow(struct finding *f, struct way way)
{
	struct values *v = f->values;
	const struct effect *e;

	for (int hops = 0; hops < HOPS_MAX; hops++) {
		if (way.use.place.kind == PLACE_MEM &&
		    !values_on_stack(v, &way.use.place)) {
			way_load(f, &way);
			return;
		}
		switch (values_back(v, &way.use)) {
		case BACK_START:
			if (!search_pass(&f->search, way.use.block,
					 &way.use.place, way.base, 0,
					 &f->targets->failed))
				return;
			way_before(f, &way);
			return;
		case BACK_UNKNOWN:
			way_unknown(f, &way);
			return;
		case BACK_MADE:
			break;
		}
		e = values_effect(v, way.use.insn);
		if (e->op == EFFECT_SUM) {
			way_sum(f, &way, &e->src);
			return;
		}
		if (e->op != EFFECT_COPY) {
			way_unknown(f, &way);
			return;
		}
		if (e->src.width < way.use.place.width)
			way.sign = e->sign;
		way.use.place = e->src;
	}
	f->targets->failed = true;
}

void
targets_find(struct values *v, const struct marks *marks, uint32_t insn,
	     struct targets *targets)
{
	struct finding f = {
		.values = v,
		.marks = marks,
		.search = search_begin(v, SEARCH_OUTER),
		.targets = targets,
	};
	const struct effect *e = values_effect(v, insn);
	struct way way = {
		.use = { e->src, cfg_block_of(v->cfg, insn), insn },
		.scale = 1,
	};

	if (e->op == EFFECT_SUM)
		way_sum(&f, &way, &e->src);
	else
		*vec_push(f.ways, f.n) = way;
	while (f.n && !targets->failed)
		way_follow(&f, f.ways[--f.n]);
	free(f.ways);
}
