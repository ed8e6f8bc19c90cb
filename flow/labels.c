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

/* What is known of blocks that are not proven. */
struct ways {
	const struct cfg *cfg;
	const struct cfg_input *in;
	bool *unsound;		/* by block: some way on from it is no code */
	bool *joins;		/* ... a way on ends as none of data's does */
	uint32_t *stack;
};

/* Whether a direct jump, branch or call leads to an instruction. */
static bool
target_sound(const struct ways *ways, const struct insn *insn)
{
	const struct cfg_input *in = ways->in;
	enum cfg_place place;
	size_t avail;

	if (cfg_inside(in, insn->target))
		return cfg_insn(ways->cfg, insn->target) >= 0;
	if (!in->place || !in->text(in->ctx, insn->target, &avail))
		return false;
	/* A stub of the procedure linkage table may be unknown. */
	place = in->place(in->ctx, insn->target);
	return place == CFG_ENTRY || place == CFG_UNKNOWN;
}

/* Whether the instruction is what compilers make, and goes where it may. */
static bool
insn_sound(const struct ways *ways, size_t i, bool *joins)
{
	const struct insn *insn = &ways->cfg->insns[i];
	long to;

	switch (insn->kind) {
	case INSN_JUMP:
	case INSN_BRANCH:
		to = cfg_target(ways->cfg, i);
		*joins |= to >= 0 && insn->len >= JOIN_LEN &&
			  cfg_proven(ways->cfg, (size_t)to);
		return target_sound(ways, insn);
	case INSN_CALL:
		return target_sound(ways, insn);
	case INSN_JUMP_INDIRECT:
		*joins = true;
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

/* Look at the block alone. */
static void
block_look(const struct ways *ways, uint32_t b)
{
	const struct cfg *cfg = ways->cfg;
	const struct block *block = &cfg->blocks[b];
	size_t end = block->first + block->count;
	const struct insn *last = &cfg->insns[end - 1];

	for (size_t i = block->first; i < end; i++)
		if (!insn_sound(ways, i, &ways->joins[b]))
			ways->unsound[b] = true;
	if (insn_goes_on(last) && !cfg_falls(cfg, end - 1) &&
	    last->kind != INSN_CALL)
		ways->unsound[b] = true;
}

/* Mark the unproven blocks from which ways lead to marked ones. */
static void
marks_spread(const struct ways *ways, bool *marks)
{
	const struct cfg *cfg = ways->cfg;
	size_t n = 0;

	for (uint32_t b = 0; b < cfg->nblocks; b++)
		if (marks[b])
			ways->stack[n++] = b;
	while (n) {
		uint32_t b = ways->stack[--n];

		for (uint32_t i = cfg->in[b]; i < cfg->in[b + 1]; i++) {
			uint32_t from = cfg->edges[i].from;

			if (cfg->blocks[from].proof == PROOF_FLOW ||
			    marks[from])
				continue;
			marks[from] = true;
			ways->stack[n++] = from;
		}
	}
}

static void
ways_open(struct ways *ways, const struct cfg *cfg, const struct cfg_input *in)
{
	*ways = (struct ways){
		.cfg = cfg,
		.in = in,
		.unsound = mem_alloc(cfg->nblocks + 1),
		.joins = mem_alloc(cfg->nblocks + 1),
		.stack = mem_alloc((cfg->nblocks + 1) * sizeof(*ways->stack)),
	};
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		if (cfg->blocks[b].proof != PROOF_FLOW)
			block_look(ways, b);
	marks_spread(ways, ways->unsound);
	marks_spread(ways, ways->joins);
}

static void
ways_close(struct ways *ways)
{
	free(ways->unsound);
	free(ways->joins);
	free(ways->stack);
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
	size_t nstored, nsound = 0, before = *n;
	uint64_t *stored = stored_find(cfg, in, &nstored), *sound = NULL;
	struct ways ways;

	if (!nstored)
		return false;
	ways_open(&ways, cfg, in);
	for (size_t i = 0; i < nstored; i++) {
		long block = block_unproven(cfg, stored[i]);

		if (block == BLOCK_NONE || ways.unsound[block])
			continue;
		if (ways.joins[block])
			addrs_add(labels, n, stored[i]);
		else
			*vec_push(sound, nsound) = stored[i];
	}
	for (size_t i = 0; *n >= LABELS_MANY && i < nsound; i++)
		addrs_add(labels, n, sound[i]);
	ways_close(&ways);
	free(stored);
	free(sound);
	return *n > before;
}
