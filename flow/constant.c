/*
 * Finds registers that hold a constant: asks values.c, where control cannot
 * come along ways that the graph does not have.  Changes nothing.
 */
#include "flow/constant.h"

#include "flow/cfg_graph.h"
#include "flow/values.h"
#include "util/mem.h"

enum {
	BUDGET = 4096,
	COPIES_MAX = 8,		/* from one register to another */
};

/* Whether all ways to the function's instructions are in the graph. */
static bool
ways_known(const struct cfg *cfg)
{
	if (cfg->unresolved || cfg->entry < 0)
		return false;
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		if (cfg->blocks[b].external &&
		    cfg->blocks[b].first != cfg->entry)
			return false;
	return true;
}

bool
constant_at(const struct cfg *cfg, const struct cfg_input *in, size_t insn,
	    uint8_t reg, uint64_t *value)
{
	struct use use = {
		.block = cfg_block_of(cfg, insn),
		.insn = (uint32_t)insn,
	};
	struct values values;
	bool found;

	if (!in->arch->effect || !ways_known(cfg))
		return false;
	use = use_reg(reg, &use);
	values_open(&values, cfg, in);
	values.budget = BUDGET;
	values.strict = true;
	found = values_constant(&values, &use, value) == CONSTANT_FOUND;
	values_close(&values);
	return found;
}

/* The constant that the block itself makes of the register's value, or 0. */
static uint64_t
block_constant(struct values *values, struct use use)
{
	for (int i = 0; i < COPIES_MAX && use.place.kind == PLACE_REG; i++) {
		const struct effect *e;

		if (values_back(values, &use) != BACK_MADE)
			return 0;
		e = values_effect(values, use.insn);
		if (e->op == EFFECT_SUM && e->src.reg == REG_NONE &&
		    e->src.index == REG_NONE)
			return values_address(values, (uint64_t)e->src.disp);
		if (e->op != EFFECT_COPY)
			return 0;
		use.place = e->src;
	}
	return 0;
}

void
constants_called(struct cfg *cfg, const struct cfg_input *in)
{
	struct values values = { 0 };

	if (!in->arch->effect || !in->place)
		return;
	for (uint32_t i = 0; i < cfg->ninsns; i++) {
		struct use use = { .insn = i };
		uint64_t to;

		if (cfg->insns[i].kind != INSN_CALL_INDIRECT ||
		    !cfg_proven(cfg, i))
			continue;
		if (!values.cfg)
			values_open(&values, cfg, in);
		values.budget = BUDGET;
		use.place = values_effect(&values, i)->src;
		use.block = cfg_block_of(cfg, i);
		to = block_constant(&values, use);
		if (to && !cfg_inside(in, to) &&
		    in->place(in->ctx, to) == CFG_MIDDLE)
			*vec_push(cfg->outs, cfg->nouts) = to;
	}
	values_close(&values);
}
