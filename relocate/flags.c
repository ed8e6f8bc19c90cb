/*
 * Liveness of flags: propagates backwards over a function's blocks until
 * nothing changes.  Knows nothing of probes.
 */
#include "relocate/flags.h"

#include <stdlib.h>

#include "util/mem.h"

/* The flags live before an instruction, from those live behind it. */
static uint32_t
live_before(const struct insn *insn, const struct motion *motion, uint32_t live)
{
	switch (insn->kind) {
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
	case INSN_RETURN:
	case INSN_STOP:
		return motion->reads;
	default:
		return (live & ~motion->writes) | motion->reads;
	}
}

/* May control go from the block to somewhere unknown? */
static bool
block_leaves(const struct cfg *cfg, uint32_t block, bool taken, bool fall)
{
	const struct block *b = &cfg->blocks[block];
	const struct insn *last = &cfg->insns[b->first + b->count - 1];

	switch (last->kind) {
	case INSN_JUMP:
		return !taken;
	case INSN_BRANCH:
		return !taken || !fall;
	case INSN_JUMP_INDIRECT:
		return last->flow != FLOW_TABLE;
	case INSN_RETURN:
	case INSN_STOP:
		return false;
	default:
		return !fall;
	}
}

/*
 * Per block, the flags live behind it as far as is known at first: all of them
 * if control may leave it for somewhere unknown, else none.
 */
static uint32_t *
outs_make(const struct arch *arch, const struct cfg *cfg)
{
	uint32_t *outs = mem_alloc((cfg->nblocks + 1) * sizeof(*outs));
	bool *taken = mem_alloc(2 * cfg->nblocks + 1);
	bool *fall = taken + cfg->nblocks;

	for (size_t i = 0; i < cfg->nedges; i++)
		if (cfg->edges[i].kind == EDGE_FALL)
			fall[cfg->edges[i].from] = true;
		else
			taken[cfg->edges[i].from] = true;
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		if (block_leaves(cfg, b, taken[b], fall[b]))
			outs[b] = arch->all_flags;
	free(taken);
	return outs;
}

static uint32_t
block_live(const struct cfg *cfg, const struct motion *motions, uint32_t block,
	   uint32_t live)
{
	const struct block *b = &cfg->blocks[block];

	for (uint32_t i = b->first + b->count; i-- > b->first;)
		live = live_before(&cfg->insns[i], &motions[i], live);
	return live;
}

/*
 * The flags live before a block as a function of those live behind it, out:
 * none | (out & all).
 */
struct transfer {
	uint32_t none, all;
};

uint32_t *
flags_live(const struct arch *arch, const struct cfg *cfg,
	   const struct motion *motions)
{
	uint32_t *live = mem_alloc((cfg->nblocks + 1) * sizeof(*live));
	uint32_t *outs = outs_make(arch, cfg);
	struct transfer *blocks = mem_alloc((cfg->nblocks + 1) *
					    sizeof(*blocks));
	bool changed = true;

	for (uint32_t b = 0; b < cfg->nblocks; b++)
		blocks[b] = (struct transfer){ block_live(cfg, motions, b, 0),
					       block_live(cfg, motions, b,
							  arch->all_flags) };
	while (changed) {
		changed = false;
		for (uint32_t b = (uint32_t)cfg->nblocks; b-- > 0;) {
			live[b] = blocks[b].none | (outs[b] & blocks[b].all);
			for (uint32_t e = cfg->in[b]; e < cfg->in[b + 1]; e++) {
				uint32_t *out = &outs[cfg->edges[e].from];

				if (!(live[b] & ~*out))
					continue;
				*out |= live[b];
				changed = true;
			}
		}
	}
	free(blocks);
	free(outs);
	return live;
}

uint32_t
flags_before_last(const struct arch *arch, const struct cfg *cfg,
		  const struct motion *motions, const uint32_t *live,
		  uint32_t block)
{
	const struct block *b = &cfg->blocks[block];
	uint32_t last = b->first + b->count - 1, out = 0;
	bool taken = false, fall = false;

	for (size_t i = 0; i < cfg->nedges; i++) {
		if (cfg->edges[i].from != block)
			continue;
		out |= live[cfg->edges[i].to];
		if (cfg->edges[i].kind == EDGE_FALL)
			fall = true;
		else
			taken = true;
	}
	if (block_leaves(cfg, block, taken, fall))
		out |= arch->all_flags;
	return live_before(&cfg->insns[last], &motions[last], out);
}
