/*
 * Tells labels from data whose address the code takes.  Changes no graph.
 *
 * An interpreter that fills its table of labels when it starts (R's does) takes
 * their addresses one by one, and stores them.  What is behind such a label is
 * proven by nothing else, and data in the midst of code may have its address
 * taken, too.  So a label must look like one in three ways:
 *
 *	Its address is stored, before anything else is done with it.  Who takes
 *	the address of data reads the data.
 *
 *	All ways on from there are sound: instructions only, up to a return, an
 *	indirect jump, a call that does not come back, another function or
 *	proven code; nothing falls out of the function.
 *
 *	One of these ways ends with an indirect jump, or with a jump or branch
 *	of 5 bytes and more to proven code.  Data hardly have these.  Where
 *	there are many such labels, one that only falls into proven code, say,
 *	is a label as well.
 */
#include "flow/labels.h"

#include <stdlib.h>
#include <string.h>

#include "flow/cfg_graph.h"
#include "flow/proof.h"
#include "util/addrs.h"
#include "util/mem.h"

enum {
	STORE_NEAR = 3,		/* instructions up to the store */
	JOIN_LEN = 5,		/* a jump by 4 bytes */
	LABELS_MANY = 4,	/* so many are no chance */
};

/* ---- the address is stored */

static bool
effect_get(const struct cfg_input *in, const struct insn *insn,
	   struct effect *effect)
{
	size_t avail;
	const uint8_t *code = in->text(in->ctx, insn->addr, &avail);

	return code && !in->arch->effect(code, avail, insn->addr, effect);
}

static bool
place_uses(const struct place *place, uint8_t reg)
{
	return (place->kind == PLACE_REG && place->reg == reg) ||
	       (place->kind == PLACE_MEM &&
		(place->reg == reg || place->index == reg));
}

/* Whether the instruction sets another register or memory to what is known. */
static bool
effect_passes(const struct effect *e, uint8_t reg)
{
	return (e->op == EFFECT_COPY || e->op == EFFECT_SUM) && !e->sp &&
	       !place_uses(&e->src, reg) && !place_uses(&e->dst, reg);
}

/* The address that instruction i takes and a near one stores, or 0. */
static uint64_t
address_stored(const struct cfg *cfg, const struct cfg_input *in, size_t i,
	       size_t end)
{
	struct effect taken, e;

	if (!cfg->insns[i].mentions ||
	    !effect_get(in, &cfg->insns[i], &taken) || taken.op != EFFECT_SUM ||
	    taken.dst.kind != PLACE_REG || taken.src.kind != PLACE_MEM ||
	    taken.src.reg != REG_NONE || taken.src.index != REG_NONE)
		return 0;
	if (end > i + 1 + STORE_NEAR)
		end = i + 1 + STORE_NEAR;
	for (size_t k = i + 1; k < end; k++) {
		if (!effect_get(in, &cfg->insns[k], &e))
			return 0;
		if (e.op == EFFECT_COPY && e.dst.kind == PLACE_MEM &&
		    e.src.kind == PLACE_REG && e.src.reg == taken.dst.reg &&
		    e.src.width == taken.dst.width &&
		    !place_uses(&e.dst, taken.dst.reg))
			return (uint64_t)taken.src.disp;
		if (!effect_passes(&e, taken.dst.reg))
			return 0;
	}
	return 0;
}

/* The addresses that proven code stores, ascending. */
static uint64_t *
stored_find(const struct cfg *cfg, const struct cfg_input *in, size_t *n)
{
	uint64_t *stored = NULL;

	*n = 0;
	for (size_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];
		size_t end = block->first + block->count;

		for (size_t i = block->first;
		     block->proof == PROOF_FLOW && i < end; i++) {
			uint64_t addr = address_stored(cfg, in, i, end);

			if (addr && cfg_inside(in, addr))
				*vec_push(stored, *n) = addr;
		}
	}
	addrs_sort(stored, *n);
	return stored;
}

/* ---- where the code leads */

/* A walk over blocks that are not proven. */
struct walk {
	const struct cfg *cfg;
	const struct cfg_input *in;
	uint32_t *out, *order;	/* see cfg_out */
	uint8_t *seen;		/* by block */
	uint32_t *stack;
	size_t n;
	bool joins;		/* a way ends as none of data's does */
};

static void
walk_push(struct walk *walk, uint32_t block)
{
	if (walk->cfg->blocks[block].proof == PROOF_FLOW || walk->seen[block])
		return;
	walk->seen[block] = true;
	walk->stack[walk->n++] = block;
}

/* Whether a direct jump, branch or call leads to an instruction. */
static bool
target_sound(const struct walk *walk, const struct insn *insn)
{
	const struct cfg_input *in = walk->in;
	enum cfg_place place;
	size_t avail;

	if (cfg_inside(in, insn->target))
		return cfg_insn(walk->cfg, insn->target) >= 0;
	if (!in->place || !in->text(in->ctx, insn->target, &avail))
		return false;
	/* A stub of the procedure linkage table may be unknown. */
	place = in->place(in->ctx, insn->target);
	return place == CFG_ENTRY || place == CFG_UNKNOWN;
}

/* Whether the instruction is what compilers make, and goes where it may. */
static bool
insn_sound(struct walk *walk, size_t i)
{
	const struct insn *insn = &walk->cfg->insns[i];
	long to;

	switch (insn->kind) {
	case INSN_JUMP:
	case INSN_BRANCH:
		to = cfg_target(walk->cfg, i);
		walk->joins |= to >= 0 && insn->len >= JOIN_LEN &&
			       cfg_proven(walk->cfg, (size_t)to);
		return target_sound(walk, insn);
	case INSN_CALL:
		return target_sound(walk, insn);
	case INSN_JUMP_INDIRECT:
		walk->joins = true;
		return true;
	case INSN_PLAIN:
	case INSN_CALL_INDIRECT:
	case INSN_RETURN:
	case INSN_STOP:
		return true;
	default:
		return false;
	}
}

/* Whether all ways on from the block are sound; sets walk->joins. */
static bool
block_leads(struct walk *walk, uint32_t first)
{
	const struct cfg *cfg = walk->cfg;

	memset(walk->seen, 0, cfg->nblocks);
	walk->n = 0;
	walk->joins = false;
	walk_push(walk, first);
	while (walk->n) {
		uint32_t b = walk->stack[--walk->n];
		const struct block *block = &cfg->blocks[b];
		size_t end = block->first + block->count;

		for (size_t i = block->first; i < end; i++)
			if (!insn_sound(walk, i))
				return false;
		if (insn_goes_on(&cfg->insns[end - 1]) &&
		    !cfg_falls(cfg, end - 1) &&
		    cfg->insns[end - 1].kind != INSN_CALL)
			return false;
		for (uint32_t i = walk->out[b]; i < walk->out[b + 1]; i++)
			walk_push(walk, cfg->edges[walk->order[i]].to);
	}
	return true;
}

static void
walk_open(struct walk *walk, const struct cfg *cfg, const struct cfg_input *in)
{
	*walk = (struct walk){
		.cfg = cfg,
		.in = in,
		.seen = mem_alloc(cfg->nblocks + 1),
		.stack = mem_alloc((cfg->nblocks + 1) * sizeof(*walk->stack)),
	};
	walk->order = cfg_out(cfg, &walk->out);
}

static void
walk_close(struct walk *walk)
{
	free(walk->order);
	free(walk->out);
	free(walk->seen);
	free(walk->stack);
}

/* The unproven block that begins at addr, or BLOCK_NONE. */
static long
block_unproven(const struct cfg *cfg, uint64_t addr)
{
	long insn = cfg_insn(cfg, addr);
	long block = insn < 0 ? BLOCK_NONE : cfg_block_at(cfg, (size_t)insn);

	return block == BLOCK_NONE || cfg->blocks[block].proof == PROOF_FLOW ?
		       BLOCK_NONE :
		       block;
}

bool
labels_find(const struct cfg *cfg, const struct cfg_input *in,
	    uint64_t **labels, size_t *n)
{
	struct walk walk;
	size_t nstored, nsound = 0, before = *n;
	uint64_t *stored = stored_find(cfg, in, &nstored), *sound = NULL;

	walk_open(&walk, cfg, in);
	for (size_t i = 0; i < nstored; i++) {
		long block = block_unproven(cfg, stored[i]);

		if (block == BLOCK_NONE || !block_leads(&walk, (uint32_t)block))
			continue;
		if (walk.joins)
			addrs_add(labels, n, stored[i]);
		else
			*vec_push(sound, nsound) = stored[i];
	}
	for (size_t i = 0; *n >= LABELS_MANY && i < nsound; i++)
		addrs_add(labels, n, sound[i]);
	walk_close(&walk);
	free(stored);
	free(sound);
	return *n > before;
}
