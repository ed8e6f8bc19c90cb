/*
 * Finds registers that hold a constant: asks values.c, where control cannot
 * come along ways that the graph does not have.  Changes nothing.
 */
#include "flow/constant.h"

#include "flow/cfg_graph.h"
#include "flow/values.h"

enum { BUDGET = 4096 };

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
