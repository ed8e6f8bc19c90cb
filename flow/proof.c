/*
 * Tells a function's code from data in its midst.  Makes no graph: finds which
 * blocks of a finished graph are proven, and where to decode anew.
 */
#include "flow/proof.h"

#include <stdlib.h>

#include "flow/cfg_graph.h"
#include "flow/ocaml.h"
#include "util/addrs.h"
#include "util/mem.h"
#include "util/search.h"

bool
proof_tells(const struct cfg_input *in)
{
	return in->arch->motion && in->arch->effect;
}

/* ---- proven blocks */

static void
blocks_follow(struct cfg *cfg, uint32_t *stack, size_t n)
{
	uint32_t *out, *order = cfg_out(cfg, &out);

	while (n) {
		uint32_t b = stack[--n];

		for (uint32_t i = out[b]; i < out[b + 1]; i++) {
			uint32_t to = cfg->edges[order[i]].to;

			if (cfg->blocks[to].proof == PROOF_FLOW)
				continue;
			cfg->blocks[to].proof = PROOF_FLOW;
			stack[n++] = to;
		}
	}
	free(out);
	free(order);
}

void
proof_reach(struct cfg *cfg, const struct cfg_input *in)
{
	uint32_t *stack = mem_alloc((cfg->nblocks + 1) * sizeof(*stack));
	size_t n = 0;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		struct block *block = &cfg->blocks[b];

		if (!block->given && !block->external && proof_tells(in))
			continue;
		block->proof = PROOF_FLOW;
		stack[n++] = b;
	}
	blocks_follow(cfg, stack, n);
	free(stack);
}

/* ---- padding */

static uint64_t
block_lo(const struct cfg *cfg, size_t b)
{
	return cfg->insns[cfg->blocks[b].first].addr;
}

static uint64_t
block_hi(const struct cfg *cfg, size_t b)
{
	const struct block *block = &cfg->blocks[b];
	const struct insn *last = &cfg->insns[block->first + block->count - 1];

	return last->addr + last->len;
}

/*
 * Whether the instruction belongs to what catches speculation behind a call that
 * is a jump, mostly a loop without effect: lfence, ud2, or a jump within
 * [lo, hi).
 */
static bool
insn_catches(const struct cfg_input *in, const struct insn *insn, uint64_t lo,
	     uint64_t hi)
{
	struct effect e;
	const uint8_t *code;
	size_t avail;

	if (insn->kind == INSN_JUMP)
		return insn->target >= lo && insn->target < hi;
	if (insn->kind == INSN_STOP || insn->kind == INSN_TRAP)
		return true;
	code = in->text(in->ctx, insn->addr, &avail);
	return insn->kind == INSN_PLAIN && code &&
	       !in->arch->effect(code, avail, insn->addr, &e) &&
	       e.dst.kind == PLACE_NONE && !e.kills && !e.stores && !e.sp &&
	       !e.flags;
}

/* Whether blocks first to last are such code. */
static bool
run_catches(const struct cfg *cfg, const struct cfg_input *in, size_t first,
	    size_t last)
{
	uint64_t lo = block_lo(cfg, first), hi = block_hi(cfg, last);
	size_t i = cfg->blocks[first].first;
	size_t end = cfg->blocks[last].first + cfg->blocks[last].count;

	if (!i || !cfg->insns[i - 1].pushes)
		return false;
	while (i < end && insn_catches(in, &cfg->insns[i], lo, hi))
		i++;
	return i == end;
}

static bool
block_idles(const struct cfg *cfg, const struct cfg_input *in, size_t b)
{
	const struct block *block = &cfg->blocks[b];

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		const struct insn *insn = &cfg->insns[i];
		struct motion motion;
		const uint8_t *code;
		size_t avail;

		if (insn->kind == INSN_TRAP)
			continue;
		code = in->text(in->ctx, insn->addr, &avail);
		if (!code ||
		    in->arch->motion(code, avail, insn->addr, &motion) ||
		    !motion.idle || motion.lands)
			return false;
	}
	return true;
}

/* Whether one of the ranges begins or ends at addr. */
static bool
ranges_border(const struct cfg_input *in, uint64_t addr)
{
	for (size_t i = 0; i < in->n; i++)
		if (in->lo[i] == addr || in->hi[i] == addr)
			return true;
	return false;
}

/*
 * Whether blocks first to last, which nothing leads to, fill all bytes between
 * their neighbours (or ends of ranges) and do nothing.
 */
static bool
run_pads(const struct cfg *cfg, const struct cfg_input *in, size_t first,
	 size_t last)
{
	uint64_t lo = block_lo(cfg, first), hi = block_hi(cfg, last);
	bool catches = run_catches(cfg, in, first, last);

	if (!(first && block_hi(cfg, first - 1) == lo) &&
	    !ranges_border(in, lo))
		return false;
	if (!(last + 1 < cfg->nblocks && block_lo(cfg, last + 1) == hi) &&
	    !ranges_border(in, hi))
		return false;
	for (size_t b = first; b <= last; b++) {
		if (b > first && block_hi(cfg, b - 1) != block_lo(cfg, b) &&
		    !(ranges_border(in, block_hi(cfg, b - 1)) &&
		      ranges_border(in, block_lo(cfg, b))))
			return false;
		if (!catches && !block_idles(cfg, in, b))
			return false;
	}
	return true;
}

/* Mark blocks as padding that fill all of a gap and do nothing. */
static void
padding_mark(struct cfg *cfg, const struct cfg_input *in)
{
	size_t end;

	for (size_t b = 0; b < cfg->nblocks; b = end + 1) {
		bool pads;

		end = b;
		if (cfg->blocks[b].proof == PROOF_FLOW)
			continue;
		while (end + 1 < cfg->nblocks &&
		       cfg->blocks[end + 1].proof != PROOF_FLOW)
			end++;
		pads = run_pads(cfg, in, b, end);
		for (size_t i = b; i <= end && pads; i++)
			cfg->blocks[i].proof = PROOF_PADDING;
	}
}

/* ---- gaps */

/*
 * The proof of the block that contains the byte at addr, and in *hi the block's
 * end; PROOF_NONE, and addr + 1, if no block does or it is not proven.
 */
static enum block_proof
byte_proof(const struct cfg *cfg, uint64_t addr, uint64_t *hi)
{
	size_t i = cfg_insn_from(cfg, addr + 1);
	uint32_t block;

	*hi = addr + 1;
	if (!i || addr >= cfg->insns[i - 1].addr + cfg->insns[i - 1].len)
		return PROOF_NONE;
	block = cfg_block_of(cfg, i - 1);
	if (cfg->blocks[block].proof != PROOF_NONE)
		*hi = block_hi(cfg, block);
	return cfg->blocks[block].proof;
}

static bool
in_gap(const struct cfg *cfg, const struct cfg_input *in, uint64_t addr)
{
	uint64_t hi;

	return cfg_inside(in, addr) && byte_proof(cfg, addr, &hi) == PROOF_NONE;
}

/* Whether a byte from addr up to end is in no proven block. */
static bool
range_gaps(const struct cfg *cfg, uint64_t addr, uint64_t end)
{
	size_t b = search_first(cfg->nblocks, k, block_lo(cfg, k) >= addr);
	uint64_t hi;

	for (; addr < end; addr = hi) {
		for (; b < cfg->nblocks && block_lo(cfg, b) < addr; b++)
			;
		if (b < cfg->nblocks && block_lo(cfg, b) == addr &&
		    cfg->blocks[b].proof != PROOF_NONE)
			hi = block_hi(cfg, b);
		else if (byte_proof(cfg, addr, &hi) == PROOF_NONE)
			return true;
	}
	return false;
}

static bool
gaps_any(const struct cfg *cfg, const struct cfg_input *in)
{
	for (size_t i = 0; i < in->n; i++)
		if (range_gaps(cfg, in->lo[i], in->hi[i]))
			return true;
	return false;
}

void
proof_mark(struct cfg *cfg, const struct cfg_input *in)
{
	proof_reach(cfg, in);
	if (!proof_tells(in))
		return;
	padding_mark(cfg, in);
	cfg->gaps = gaps_any(cfg, in);
}

/* The address in the function that an instruction has as a value, or 0. */
static uint64_t
insn_mentions(const struct cfg_input *in, const struct insn *insn)
{
	struct motion motion;
	struct effect effect;
	const uint8_t *code;
	size_t avail;

	if (!insn->mentions)
		return 0;
	code = in->text(in->ctx, insn->addr, &avail);
	if (!code || in->arch->motion(code, avail, insn->addr, &motion) ||
	    !motion.refers || !cfg_inside(in, motion.refers))
		return 0;
	/* A pc-relative operand is read from memory, unless by a lea. */
	if (!motion.disp)
		return in->relocated ? 0 : motion.refers;
	return !in->arch->effect(code, avail, insn->addr, &effect) &&
			       effect.op == EFFECT_SUM ?
		       motion.refers :
		       0;
}

/*
 * Whether control may come to addr unseen if something mentions it.  Code that
 * leaders alone may have proven is treated as a gap here.
 */
static bool
in_doubt(const struct cfg *cfg, const struct cfg_input *in, uint64_t addr)
{
	if (in->nleaders)
		return cfg_inside(in, addr) && addr != in->lo[0];
	return in_gap(cfg, in, addr);
}

bool
proof_mentions(const struct cfg *cfg, const struct cfg_input *in)
{
	if (!proof_tells(in) || (!cfg->gaps && !in->nleaders))
		return false;
	for (size_t i = 0; i < in->nrefs; i++)
		if (in_doubt(cfg, in, in->refs[i]) &&
		    !ocaml_returns(cfg, in, in->refs[i]))
			return true;
	for (size_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];
		const struct insn *insn = &cfg->insns[block->first];

		for (uint32_t i = 0;
		     block->proof == PROOF_FLOW && i < block->count; i++) {
			uint64_t addr = insn_mentions(in, &insn[i]);

			if (addr && in_doubt(cfg, in, addr) &&
			    !ocaml_handles(in, addr))
				return true;
		}
	}
	return false;
}

/*
 * Whether control may come to addr, which proven code takes, from elsewhere:
 * not if addr is known anyway, or nothing but this shows that it is code.
 */
static bool
entered(const struct cfg *cfg, const struct cfg_input *in, uint64_t addr)
{
	long insn = cfg_insn(cfg, addr);

	return insn >= 0 && insn != cfg->entry && cfg_proven(cfg, insn) &&
	       !ocaml_handles(in, addr);
}

/*
 * The address that an instruction takes, or 0.  A call of the function's own
 * code takes its return address: what it calls may pop that and jump there.
 */
static uint64_t
insn_takes(const struct cfg *cfg, const struct cfg_input *in,
	   const struct insn *insn)
{
	uint64_t behind = insn->addr + insn->len;

	if (insn->kind != INSN_CALL)
		return insn_mentions(in, insn);
	return cfg->unresolved && insn->target != behind &&
			       insn->target != in->lo[0] &&
			       cfg_inside(in, insn->target) ?
		       behind :
		       0;
}

uint64_t *
proof_taken(const struct cfg *cfg, const struct cfg_input *in, size_t *n)
{
	uint64_t *taken = NULL;

	*n = 0;
	for (size_t b = 0; b < cfg->nblocks && proof_tells(in); b++) {
		const struct block *block = &cfg->blocks[b];
		const struct insn *insn = &cfg->insns[block->first];

		for (uint32_t i = 0;
		     block->proof == PROOF_FLOW && i < block->count; i++) {
			uint64_t addr = insn_takes(cfg, in, &insn[i]);

			if (addr && (cfg->unresolved || entered(cfg, in, addr)))
				*vec_push(taken, *n) = addr;
		}
	}
	addrs_sort(taken, *n);
	return taken;
}

/* ---- cuts */

uint64_t
cuts_from(const struct cuts *cuts, uint64_t addr)
{
	size_t at = search_first(cuts->n, i, cuts->addrs[i] >= addr);

	return at < cuts->n ? cuts->addrs[at] : UINT64_MAX;
}

static void
lowest_set(uint64_t *lowest, uint64_t addr)
{
	if (!*lowest || addr < *lowest)
		*lowest = addr;
}

/* Record a failure: control comes to addr, where a cut did not help. */
static void
place_fails(struct cfg *cfg, const struct cfg_input *in, uint64_t addr)
{
	struct insn insn;
	const uint8_t *code;
	size_t avail;

	code = in->text(in->ctx, addr, &avail);
	if (code && !in->arch->decode(code, avail, addr, &insn))
		lowest_set(&cfg->overlap, addr);
	else
		lowest_set(&cfg->bad, addr);
}

/* Cut at addr, to which control comes, if need be; true if the cut is new. */
static bool
place_cut(struct cfg *cfg, const struct cfg_input *in, uint64_t addr,
	  struct cuts *cuts)
{
	uint64_t hi;

	if (!cfg_inside(in, addr) || cfg_insn(cfg, addr) >= 0)
		return false;
	if (byte_proof(cfg, addr, &hi) == PROOF_FLOW) {
		lowest_set(&cfg->overlap, addr);
		return false;
	}
	if (addrs_add(&cuts->addrs, &cuts->n, addr))
		return true;
	place_fails(cfg, in, addr);
	return false;
}

static bool
roots_cut(struct cfg *cfg, const struct cfg_input *in, struct cuts *cuts)
{
	bool news = in->n && place_cut(cfg, in, in->lo[0], cuts);
	uint64_t hi;

	for (size_t i = 0; i < in->npads; i++)
		news |= place_cut(cfg, in, in->pads[i], cuts);
	for (size_t i = 0; i < in->nhandlers; i++)
		news |= place_cut(cfg, in, in->handlers[i], cuts);
	/* Ignore rows and pointers inside a proven instruction. */
	for (size_t i = 0; i < in->nleaders; i++)
		if (byte_proof(cfg, in->leaders[i], &hi) != PROOF_FLOW)
			news |= place_cut(cfg, in, in->leaders[i], cuts);
	for (size_t i = 0; in->relocated && cfg->unresolved && i < in->nrefs;
	     i++)
		if (byte_proof(cfg, in->refs[i], &hi) != PROOF_FLOW)
			news |= place_cut(cfg, in, in->refs[i], cuts);
	return news;
}

static bool
block_cut(struct cfg *cfg, const struct cfg_input *in,
	  const struct block *block, struct cuts *cuts)
{
	size_t end = block->first + block->count;
	const struct insn *last = &cfg->insns[end - 1];
	bool news = false;

	for (size_t i = block->first; i < end; i++) {
		const struct insn *insn = &cfg->insns[i];

		if ((insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH ||
		     insn->kind == INSN_CALL) &&
		    cfg_insn_near(cfg, i, insn->target) < 0)
			news |= place_cut(cfg, in, insn->target, cuts);
	}
	if (insn_goes_on(last) && !cfg_falls(cfg, end - 1))
		news |= place_cut(cfg, in, last->addr + last->len, cuts);
	return news;
}

bool
proof_cut(struct cfg *cfg, const struct cfg_input *in, struct cuts *cuts)
{
	bool news;

	if (!proof_tells(in))
		return false;
	news = roots_cut(cfg, in, cuts);
	for (size_t b = 0; b < cfg->nblocks; b++)
		if (cfg->blocks[b].proof == PROOF_FLOW)
			news |= block_cut(cfg, in, &cfg->blocks[b], cuts);
	return news;
}

/* ---- where gaps may lead */

uint64_t *
proof_suspects(struct cfg *cfg, const struct cfg_input *in, size_t *n)
{
	uint64_t *suspects = NULL, hi, end;
	struct insn insn;
	size_t avail;

	*n = 0;
	for (size_t i = 0; cfg->gaps && i < in->n; i++)
		for (uint64_t addr = in->lo[i]; addr < in->hi[i]; addr = hi) {
			const uint8_t *code;

			if (byte_proof(cfg, addr, &hi) != PROOF_NONE)
				continue;
			code = in->text(in->ctx, addr, &avail);
			if (!code ||
			    in->arch->decode(code, avail, addr, &insn) ||
			    (insn.kind != INSN_JUMP &&
			     insn.kind != INSN_BRANCH &&
			     insn.kind != INSN_CALL) ||
			    !cfg_inside(in, insn.target) ||
			    byte_proof(cfg, insn.target, &end) != PROOF_FLOW ||
			    cfg_insn(cfg, insn.target) < 0)
				continue;
			*vec_push(suspects, *n) = insn.target;
			cfg->reentered |= insn.target == in->lo[0] &&
					  insn.kind != INSN_CALL;
		}
	addrs_sort(suspects, *n);
	return suspects;
}
