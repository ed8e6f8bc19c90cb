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

/* How long instructions are, about. */
enum { INSN_BYTES = 4 };

/*
 * The first instruction at addr or behind.  Starts at instruction i and takes
 * steps that double: most that are looked for are near.
 */
static size_t
insn_near(const struct cfg *cfg, size_t i, uint64_t addr)
{
	const struct insn *insns = cfg->insns;
	size_t lo = i, hi = i, step = 1;

	if (i < cfg->ninsns && insns[i].addr < addr) {
		while (hi < cfg->ninsns && insns[hi].addr < addr) {
			lo = hi + 1;
			hi = step < cfg->ninsns - hi ? hi + step : cfg->ninsns;
			step *= 2;
		}
	} else {
		while (lo && insns[lo - 1].addr >= addr) {
			hi = lo - 1;
			lo = step < lo ? lo - step : 0;
			step *= 2;
		}
	}
	return lo + search_first(hi - lo, k, insns[lo + k].addr >= addr);
}

size_t
cfg_insn_from(const struct cfg *cfg, uint64_t addr)
{
	return search_first(cfg->ninsns, i, cfg->insns[i].addr >= addr);
}

static bool
insns_span(const struct cfg *cfg, uint64_t addr)
{
	return cfg->ninsns && addr >= cfg->insns[0].addr &&
	       addr <= cfg->insns[cfg->ninsns - 1].addr;
}

long
cfg_insn(const struct cfg *cfg, uint64_t addr)
{
	size_t i;

	/* Most addresses that are asked for are in other functions. */
	if (!insns_span(cfg, addr))
		return -1;
	i = cfg_insn_from(cfg, addr);
	return cfg->insns[i].addr == addr ? (long)i : -1;
}

long
cfg_insn_near(const struct cfg *cfg, size_t i, uint64_t addr)
{
	uint64_t from = cfg->insns[i].addr, n;

	if (!insns_span(cfg, addr))
		return -1;
	if (addr < from) {
		n = (from - addr) / INSN_BYTES;
		i = n < i ? i - n : 0;
	} else {
		n = (addr - from) / INSN_BYTES;
		i = n < cfg->ninsns - i ? i + n : cfg->ninsns - 1;
	}
	i = insn_near(cfg, i, addr);
	return cfg->insns[i].addr == addr ? (long)i : -1;
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
