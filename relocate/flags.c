/*
 * Liveness of flags: propagates backwards over a function's blocks until
 * nothing changes, and looks at the code that the function jumps to.  Knows
 * nothing of probes.
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

/* How many instructions behind a jump out of the function are looked at. */
enum { AHEAD_MAX = 32 };

uint32_t
flags_at(const struct relocate_input *in, uint64_t addr)
{
	uint32_t open = in->arch->all_flags, live = 0;
	bool begun = false;

	for (unsigned i = 0; i < AHEAD_MAX && open; i++) {
		struct motion motion;
		struct insn insn;
		size_t avail;
		const uint8_t *code = in->text(in->ctx, addr, &avail);

		if (!code || in->arch->decode(code, avail, addr, &insn) ||
		    in->arch->motion(code, avail, addr, &motion))
			break;
		live |= motion.reads & open;
		switch ((enum insn_kind)insn.kind) {
		case INSN_CALL:
		case INSN_CALL_INDIRECT:
		case INSN_RETURN:
		case INSN_STOP:
			return live;
		case INSN_JUMP_INDIRECT:
			/* Alone it is how another object's function is called. */
			return begun ? live | open : live;
		case INSN_BRANCH:
		case INSN_TRAP:
			return live | open;
		case INSN_JUMP:
			addr = insn.target;
			break;
		default:
			open &= ~motion.writes;
			begun |= !motion.idle;
			addr += insn.len;
		}
	}
	return live | open;
}

/*
 * Whether the code only jumps on, as a stub of the linker's does.  It is called
 * in place of a function of another object, so that it takes no flags on.
 */
static bool
code_forwards(const struct relocate_input *in)
{
	const struct cfg *cfg = in->cfg;

	for (size_t i = 0; i + 1 < cfg->ninsns; i++) {
		const struct insn *insn = &cfg->insns[i];
		struct motion motion;
		size_t avail;
		const uint8_t *code = in->text(in->ctx, insn->addr, &avail);

		if (!code ||
		    in->arch->motion(code, avail, insn->addr, &motion) ||
		    !motion.idle)
			return false;
	}
	return cfg->nblocks == 1;
}

/*
 * The flags live behind the block because control may leave the function there:
 * all, if it may go to somewhere unknown.  taken and fall: the block has such an
 * edge.
 */
static uint32_t
block_out(const struct relocate_input *in, uint32_t block, bool taken,
	  bool fall)
{
	const struct block *b = &in->cfg->blocks[block];
	const struct insn *last = &in->cfg->insns[b->first + b->count - 1];
	uint32_t all = in->arch->all_flags;

	switch (last->kind) {
	case INSN_JUMP:
		return taken ? 0 : flags_at(in, last->target);
	case INSN_BRANCH:
		return (taken ? 0 : flags_at(in, last->target)) |
		       (fall ? 0 : all);
	case INSN_JUMP_INDIRECT:
		return last->flow == FLOW_TABLE || code_forwards(in) ? 0 : all;
	case INSN_RETURN:
	case INSN_STOP:
		return 0;
	default:
		return fall ? 0 : all;
	}
}

/* Per block, the flags live behind it as far as is known at first. */
static uint32_t *
outs_make(const struct relocate_input *in)
{
	const struct cfg *cfg = in->cfg;
	uint32_t *outs = mem_alloc((cfg->nblocks + 1) * sizeof(*outs));
	bool *taken = mem_alloc(2 * cfg->nblocks + 1);
	bool *fall = taken + cfg->nblocks;

	for (size_t i = 0; i < cfg->nedges; i++)
		if (cfg->edges[i].kind == EDGE_FALL)
			fall[cfg->edges[i].from] = true;
		else
			taken[cfg->edges[i].from] = true;
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		outs[b] = block_out(in, b, taken[b], fall[b]);
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
flags_live(const struct relocate_input *in, const struct motion *motions)
{
	const struct cfg *cfg = in->cfg;
	uint32_t *live = mem_alloc((cfg->nblocks + 1) * sizeof(*live));
	uint32_t *outs = outs_make(in);
	struct transfer *blocks = mem_alloc((cfg->nblocks + 1) *
					    sizeof(*blocks));
	bool changed = true;

	for (uint32_t b = 0; b < cfg->nblocks; b++)
		blocks[b] = (struct transfer){
			block_live(cfg, motions, b, 0),
			block_live(cfg, motions, b, in->arch->all_flags)
		};
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
flags_before(const struct relocate_input *in, const struct motion *motions,
	     const uint32_t *live, uint32_t block, uint32_t insn)
{
	const struct cfg *cfg = in->cfg;
	const struct block *b = &cfg->blocks[block];
	bool taken = false, fall = false;
	uint32_t out = 0;

	for (size_t i = 0; i < cfg->nedges; i++) {
		if (cfg->edges[i].from != block)
			continue;
		out |= live[cfg->edges[i].to];
		if (cfg->edges[i].kind == EDGE_FALL)
			fall = true;
		else
			taken = true;
	}
	out |= block_out(in, block, taken, fall);
	for (uint32_t i = b->first + b->count; i-- > insn;)
		out = live_before(&cfg->insns[i], &motions[i], out);
	return out;
}

uint32_t
flags_before_last(const struct relocate_input *in, const struct motion *motions,
		  const uint32_t *live, uint32_t block)
{
	const struct block *b = &in->cfg->blocks[block];

	return flags_before(in, motions, live, block, b->first + b->count - 1);
}
