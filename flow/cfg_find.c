/*
 * Finds instructions and blocks in a control-flow graph, also in one that is
 * still being made.  Changes nothing.
 */
#include "flow/cfg.h"

#include "flow/cfg_graph.h"
#include "util/fail.h"
#include "util/search.h"

bool
cfg_inside(const struct cfg_input *in, uint64_t addr)
{
	for (size_t i = 0; i < in->n; i++)
		if (addr >= in->lo[i] && addr < in->hi[i])
			return true;
	return false;
}

size_t
cfg_insn_from(const struct cfg *cfg, uint64_t addr)
{
	return search_first(cfg->ninsns, i, cfg->insns[i].addr >= addr);
}

long
cfg_insn(const struct cfg *cfg, uint64_t addr)
{
	size_t i;

	/* Most addresses that are asked for are in other functions. */
	if (!cfg->ninsns || addr < cfg->insns[0].addr ||
	    addr > cfg->insns[cfg->ninsns - 1].addr)
		return -1;
	i = cfg_insn_from(cfg, addr);
	return i < cfg->ninsns && cfg->insns[i].addr == addr ? (long)i : -1;
}

bool
insn_goes_on(const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_JUMP:
	case INSN_JUMP_INDIRECT:
	case INSN_RETURN:
	case INSN_STOP:
		return false;
	default:
		return insn->flow != FLOW_NO_RETURN;
	}
}

bool
cfg_falls(const struct cfg *cfg, size_t i)
{
	const struct insn *insn = &cfg->insns[i];

	return insn_goes_on(insn) && i + 1 < cfg->ninsns &&
	       insn[1].addr == insn->addr + insn->len;
}

bool
insn_comes_back(const struct insn *insn)
{
	return (insn->kind == INSN_CALL || insn->kind == INSN_CALL_INDIRECT ||
		insn->kind == INSN_SYSCALL) &&
	       insn->flow != FLOW_NO_RETURN;
}

long
cfg_block_at(const struct cfg *cfg, size_t insn)
{
	size_t lo = search_first(cfg->nblocks, i, cfg->blocks[i].first >= insn);

	return lo < cfg->nblocks && cfg->blocks[lo].first == insn ? (long)lo :
								    BLOCK_NONE;
}

long
cfg_block(const struct cfg *cfg, uint64_t addr)
{
	long insn = cfg_insn(cfg, addr);

	return insn < 0 ? BLOCK_NONE : cfg_block_at(cfg, (size_t)insn);
}

uint32_t
cfg_block_of(const struct cfg *cfg, size_t insn)
{
	must(insn < cfg->ninsns);
	return (uint32_t)search_first(cfg->nblocks, i,
				      cfg->blocks[i].first > insn) -
	       1;
}

bool
cfg_proven(const struct cfg *cfg, size_t insn)
{
	return cfg->blocks[cfg_block_of(cfg, insn)].proof == PROOF_FLOW;
}
