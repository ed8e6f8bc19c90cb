/*
 * Divides a function into the segments that may be relocated, and refuses
 * functions of which a part works only in its place.  choose.c decides which
 * segments are relocated.
 */
#include "relocate/shape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "relocate/entry_patches.h"
#include "relocate/flags.h"
#include "util/fail.h"
#include "util/mem.h"

bool
shape_is_root(const struct shape *shape, uint32_t block)
{
	const struct flow *flow = shape->flow;
	uint32_t v = FLOW_BLOCK + block;

	for (uint32_t i = flow->in[v]; i < flow->in[v + 1]; i++)
		if (flow->edges[flow->ins[i]].from == FLOW_ROOT)
			return true;
	return false;
}

/* Is the address within code, and not at the start of a block? */
static bool
addr_inside(const struct shape *shape, uint64_t addr)
{
	const struct cfg *cfg = shape->cfg;
	size_t i = cfg_insn_from(cfg, addr);
	uint32_t block;

	if (i == cfg->ninsns || cfg->insns[i].addr != addr) {
		if (!i ||
		    addr >= cfg->insns[i - 1].addr + cfg->insns[i - 1].len)
			return false;
		return shape_runs(shape, cfg_block_of(cfg, i - 1));
	}
	block = cfg_block_of(cfg, i);
	return cfg->blocks[block].first != i && shape_runs(shape, block);
}

/*
 * Would control that comes to the address, other than at the start of a block,
 * find the original changed?  Where little is relocated the original may be
 * unchanged.
 */
static bool
addr_disturbed(const struct shape *shape, uint64_t addr)
{
	const struct segment *segment;
	size_t i;

	if (!addr_inside(shape, addr))
		return false;
	if (shape->in->extent == EXTENT_WHOLE)
		return true;
	i = cfg_insn_from(shape->cfg, addr + 1) - 1;
	segment = &shape->segments[shape->leads[cfg_block_of(shape->cfg, i)]];
	while (i > segment->first + segment->count)
		segment++;
	return i == segment->first + segment->count ?
		       segment->moved :
		       segment->relocated && !segment->stays;
}

/* Refuse calls into the function's own code that a patch would disturb. */
static int
call_check(const struct shape *shape, const struct insn *insn)
{
	long block = cfg_block(shape->cfg, insn->target);

	if (insn->target == insn->addr + insn->len ||
	    (block != BLOCK_NONE && shape_is_root(shape, (uint32_t)block)))
		return 0;
	if (block == BLOCK_NONE && !addr_disturbed(shape, insn->target))
		return 0;
	return fail("the call at %#" PRIx64 " leads to the middle of its own "
		    "function",
		    insn->addr);
}

static int
insn_check(const struct shape *shape, const struct relocated *relocated,
	   size_t i)
{
	const struct insn *insn = &shape->cfg->insns[i];
	const struct motion *motion = &shape->motions[i];

	switch (insn->kind) {
	case INSN_CALL:
		return call_check(shape, insn);
	case INSN_JUMP:
	case INSN_BRANCH:
		if (!addr_disturbed(shape, insn->target))
			return 0;
		return fail("the branch at %#" PRIx64 " leads to the middle "
			    "of an instruction",
			    insn->addr);
	default:
		if (!motion->refers ||
		    (!motion->disp && !shape->in->absolute) ||
		    !addr_disturbed(shape, motion->refers) ||
		    (motion->loads &&
		     entry_patches_spare(shape, relocated, motion->refers,
					 motion->loads)))
			return 0;
		return fail("the instruction at %#" PRIx64 " takes the address "
			    "of code in the middle of a block",
			    insn->addr);
	}
}

struct motion *
motions_make(const struct relocate_input *in, bool *tied)
{
	const struct cfg *cfg = in->cfg;
	struct motion *motions = mem_alloc((cfg->ninsns + 1) *
					   sizeof(*motions));

	for (size_t i = 0; i < cfg->ninsns; i++) {
		const struct insn *insn = &cfg->insns[i];
		const uint8_t *code;
		size_t avail;
		int r;

		code = in->text(in->ctx, insn->addr, &avail);
		if (!code || avail < insn->len) {
			free(motions);
			fail("the code at %#" PRIx64 " cannot be read",
			     insn->addr);
			return NULL;
		}
		r = in->arch->motion(code, avail, insn->addr, &motions[i]);
		if (tied)
			tied[i] = r < 0;
	}
	return motions;
}

static int
insns_tied(const struct shape *shape, const bool *tied)
{
	const struct cfg *cfg = shape->cfg;

	for (size_t i = 0; i < cfg->ninsns; i++)
		if (tied[i] && shape_runs(shape, cfg_block_of(cfg, i)))
			return fail("the instruction at %#" PRIx64 " cannot be "
				    "relocated",
				    cfg->insns[i].addr);
	return 0;
}

int
shape_check(const struct shape *shape, const struct relocated *relocated)
{
	const struct cfg *cfg = shape->cfg;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];

		if (!shape_runs(shape, b))
			continue;
		for (size_t i = block->first; i < block->first + block->count;
		     i++)
			if (insn_check(shape, relocated, i))
				return -1;
	}
	return 0;
}

static void
segments_of_block(struct shape *shape, uint32_t b)
{
	const struct block *block = &shape->cfg->blocks[b];
	uint32_t end = block->first + block->count, first = block->first;

	shape->leads[b] = shape->nsegments;
	while (first < end) {
		uint32_t i = first;
		enum segment_end how = END_BLOCK;

		while (i < end && !insn_anchored(&shape->cfg->insns[i]))
			i++;
		if (i < end)
			how = i + 1 < end ? END_ANCHOR : END_ANCHOR_LAST;
		*vec_push(shape->segments, shape->nsegments) = (struct segment){
			.block = b,
			.first = first,
			.count = i - first,
			.end = (uint8_t)how,
			.leads = first == block->first,
			.fragment = FRAGMENT_OUT,
		};
		first = i + 1;
	}
}

uint32_t
shape_spare(const struct shape *shape, uint64_t addr)
{
	const struct spare *spares = shape->in->spares;

	for (size_t i = 0; i < shape->in->nspares; i++)
		if (spares[i].lo <= addr && addr < spares[i].hi)
			return (uint32_t)(spares[i].hi - addr);
	return 0;
}

uint32_t
segment_bytes(const struct shape *shape, const struct segment *segment)
{
	uint32_t skip = segment_skip(shape, segment), bytes = 0;

	for (uint32_t i = skip; i < segment->count; i++)
		bytes += shape->cfg->insns[segment->first + i].len;
	return bytes;
}

struct segment *
segment_trailer(const struct shape *shape, const struct segment *segment)
{
	uint32_t b = segment->block + 1;

	if (segment->end != END_BLOCK || b >= shape->cfg->nblocks ||
	    !shape->trails[b] || !shape->segments[shape->leads[b]].count)
		return NULL;
	return &shape->segments[shape->leads[b]];
}

/* Bytes of padding at an address, from block number b on and behind all. */
static uint32_t
padding_room(const struct shape *shape, uint32_t b, uint64_t addr)
{
	const struct cfg *cfg = shape->cfg;
	uint32_t room = 0;

	for (; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];

		if (shape->kinds[b] != BLOCK_PADDING ||
		    cfg->insns[block->first].addr != addr + room)
			break;
		for (uint32_t i = block->first; i < block->first + block->count;
		     i++)
			room += cfg->insns[i].len;
	}
	return room + shape_spare(shape, addr + room);
}

uint32_t
segment_room(const struct shape *shape, const struct segment *segment)
{
	uint64_t addr =
		shape->cfg->insns[segment->first + segment_skip(shape, segment)]
			.addr;
	uint32_t room = segment_bytes(shape, segment);
	const struct segment *trailer;

	while (room < shape->arch->emit.jump_len &&
	       (trailer = segment_trailer(shape, segment))) {
		segment = trailer;
		room += segment_bytes(shape, segment);
	}
	if (segment->end == END_BLOCK)
		return room +
		       padding_room(shape, segment->block + 1, addr + room);
	return room +
	       (segment->moved ? segment_anchor(shape, segment)->len : 0);
}

static bool
anchor_moves(const struct shape *shape, const struct segment *segment)
{
	const struct insn *anchor = segment_anchor(shape, segment);

	if (segment->end == END_BLOCK)
		return false;
	return anchor->kind == INSN_CALL ||
	       (anchor->kind == INSN_CALL_INDIRECT &&
		!shape->motions[segment->first + segment->count].stack);
}

bool
segment_movable(const struct shape *shape, const struct segment *segment)
{
	return !segment->moved && anchor_moves(shape, segment);
}

static int
segments_check(const struct shape *shape)
{
	for (uint32_t i = 0; i < shape->nsegments; i++) {
		const struct segment *segment = &shape->segments[i];

		if (!segment->moved || anchor_moves(shape, segment))
			continue;
		return fail("control enters at %#" PRIx64 ", which needs a "
			    "counter, but the instruction there cannot be "
			    "relocated",
			    segment_anchor(shape, segment)->addr);
	}
	return 0;
}

static int
segments_make(struct shape *shape)
{
	const struct cfg *cfg = shape->cfg;

	shape->leads = mem_alloc((cfg->nblocks + 1) * sizeof(*shape->leads));
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		segments_of_block(shape, b);
	segments_choose(shape);
	return segments_check(shape);
}

int
shape_open(struct shape *shape, const struct relocate_input *in)
{
	bool *tied;
	int r = -1;

	*shape = (struct shape){
		.in = in,
		.arch = in->arch,
		.cfg = in->cfg,
		.flow = in->flow,
	};
	if (!in->arch->motion)
		return fail("pmon relocates no code on %s", in->arch->name);
	if (in->cfg->bad)
		return fail("there is no instruction at %#" PRIx64,
			    in->cfg->bad);
	tied = mem_alloc(in->cfg->ninsns + 1);
	shape->motions = motions_make(in, tied);
	if (shape->motions) {
		shape_blocks(shape);
		r = insns_tied(shape, tied);
	}
	free(tied);
	if (r)
		return -1;
	shape->live = flags_live(in, shape->motions);
	return segments_make(shape);
}

void
shape_close(struct shape *shape)
{
	free(shape->motions);
	free(shape->live);
	free(shape->probes);
	free(shape->kinds);
	free(shape->taken);
	free(shape->fall);
	free(shape->taken_arc);
	free(shape->fall_arc);
	free(shape->last_arc);
	free(shape->table_arc);
	free(shape->maps);
	free(shape->indexes);
	free(shape->trails);
	free(shape->segments);
	free(shape->leads);
}
