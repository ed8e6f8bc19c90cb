/*
 * Makes copies, writes them and the patches that lead to them, and says what
 * a pc in one stands for.
 */
#include "copy/copy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "copy/layout.h"
#include "copy/points.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/search.h"

/* Copied instructions, by address: those of the blocks are in order. */
static void
addrs_make(const struct cfg *cfg, struct copy *copy)
{
	uint32_t *pieces = mem_alloc((cfg->ninsns + 1) * sizeof(*pieces));

	for (size_t i = 0; i < cfg->ninsns; i++)
		pieces[i] = PIECE_OUT;
	for (uint32_t i = 0; i < copy->npieces; i++) {
		const struct piece *piece = &copy->pieces[i];
		long insn;

		if (!piece->len)
			continue;
		insn = cfg_insn(cfg, piece->addr);
		must(insn >= 0);
		/* In an unrolled loop, the first round. */
		if (pieces[insn] == PIECE_OUT)
			pieces[insn] = i;
	}
	for (size_t i = 0; i < cfg->ninsns; i++)
		if (pieces[i] != PIECE_OUT)
			pieces[copy->nby_addr++] = pieces[i];
	copy->by_addr = pieces;
}

static void
stays_make(const struct shape *shape, struct copy *copy)
{
	const struct insn *insns = shape->cfg->insns;

	for (uint32_t i = 0; i < shape->nsegments; i++) {
		const struct segment *segment = &shape->segments[i];
		uint32_t last = segment->first + segment->count - 1;

		if (segment->copied && segment->stays)
			*vec_push(copy->stays, copy->nstays) =
				(struct copy_spare){
				insns[segment->first].addr,
				insns[last].addr + insns[last].len,
			};
	}
}

/* Is it a call whose target is all that another has otherwise? */
static bool
call_plain(const struct shape *shape, const struct insn *insn)
{
	const struct copy_input *in = shape->in;
	uint8_t bytes[INSN_MAX];
	size_t avail;
	const uint8_t *code = in->text(in->ctx, insn->addr, &avail);

	return insn->kind == INSN_CALL && insn->len == in->arch->call_len &&
	       code && avail >= insn->len &&
	       !in->arch->call_write(insn->addr, insn->target, bytes) &&
	       !memcmp(code, bytes, insn->len);
}

/* Only what is code for sure: what follows a call that never returns is not. */
static void
calls_make(const struct shape *shape, struct copy *copy)
{
	for (uint32_t i = 0; i < shape->nsegments; i++) {
		const struct segment *segment = &shape->segments[i];
		const struct insn *anchor;

		if (segment->end == END_BLOCK || segment->moved ||
		    shape->kinds[segment->block] != BLOCK_CODE)
			continue;
		anchor = segment_anchor(shape, segment);
		if (call_plain(shape, anchor))
			*vec_push(copy->calls, copy->ncalls) =
				(struct copy_call){
					anchor->addr, anchor->target,
				};
	}
}

struct copy *
copy_make(const struct copy_input *in)
{
	struct shape shape;
	struct copy *copy = mem_alloc(sizeof(*copy));

	must(in->placement->narcs < NO_COUNTER - in->counter);
	copy->arch = in->arch;
	copy->text = in->text;
	copy->ctx = in->ctx;
	copy->narcs = in->placement->narcs;
	copy->entry = in->cfg->entry < 0 ? UINT64_MAX :
		      in->cfg->insns[in->cfg->entry].addr;
	if (shape_open(&shape, in))
		goto failed;
	points_make(&shape, copy);
	if (shape_check(&shape) || layout_make(&shape, copy))
		goto failed;
	points_lead(&shape, copy);
	addrs_make(in->cfg, copy);
	stays_make(&shape, copy);
	calls_make(&shape, copy);
	shape_close(&shape);
	return copy;
failed:
	shape_close(&shape);
	copy_free(copy);
	return NULL;
}

struct copy_spare
copy_padding(const struct arch *arch, cfg_text *text, void *ctx, uint64_t lo,
	     uint64_t hi)
{
	struct copy_spare spare = { lo, lo };

	while (spare.hi < hi) {
		struct motion motion;
		struct insn insn;
		size_t avail;
		const uint8_t *code = text(ctx, spare.hi, &avail);

		if (!code || arch->decode(code, avail, spare.hi, &insn) ||
		    arch->motion(code, avail, spare.hi, &motion) ||
		    motion.lands ||
		    (!motion.idle && insn.kind != INSN_TRAP) ||
		    insn.len > hi - spare.hi)
			break;
		spare.hi += insn.len;
	}
	return spare;
}

void
copy_free(struct copy *copy)
{
	if (!copy)
		return;
	free(copy->pieces);
	free(copy->by_addr);
	free(copy->points);
	free(copy->extras);
	free(copy->stays);
	free(copy->calls);
	free(copy);
}

int
copy_write(const struct copy *copy, const struct copy_place *place,
	   uint8_t *bytes)
{
	must(place->va % copy->align == 0);
	for (uint32_t i = 0; i < copy->npieces; i++) {
		const struct piece *piece = &copy->pieces[i];
		struct piece_at at = {
			.va = place->va + piece->offset,
			.original = place->bias + piece->addr,
			.to = place->bias + piece->target,
			.counter = place->counters + UINT64_C(8) *
						     piece->counter,
			.scratch = place->scratch,
		};
		size_t avail = 0;

		if (piece->to != PIECE_OUT)
			at.to = place->va + copy->pieces[piece->to].offset;
		if (piece->len)
			at.code = copy->text(copy->ctx, piece->addr, &avail);
		must(avail >= piece->len);
		if (copy->arch->piece_write(piece, &at,
					    bytes + piece->offset))
			return fail("the copy of the code at %#" PRIx64
				    " is too far from what it uses",
				    piece->addr);
	}
	return 0;
}

void
copy_sum(const struct copy *copy, const uint64_t *slots, uint64_t *counters)
{
	memcpy(counters, slots, copy->narcs * sizeof(*counters));
	for (uint32_t i = 0; i < copy->nextras; i++)
		counters[copy->extras[i]] += slots[copy->narcs + i];
}

static int
jump_patch(const struct copy *copy, struct copy_patch *patch, uint64_t from,
	   uint64_t to, unsigned len)
{
	patch->va = from;
	patch->len = (uint8_t)len;
	if (copy->arch->jump_write(from, to, len, patch->bytes))
		return fail("the code at %#" PRIx64 " is too far from its "
			    "copy", from);
	return 0;
}

int
copy_patches(const struct copy *copy, const struct point *point,
	     const struct copy_place *place, struct copy_patch patches[2])
{
	const struct arch *arch = copy->arch;
	uint64_t va = place->bias + point->addr;
	uint64_t hole = place->bias + point->hole;
	uint64_t to = place->va + point->offset;

	switch ((enum point_via)point->via) {
	case VIA_JUMP:
		return jump_patch(copy, patches, va, to, arch->jump_len) ?
			-1 : 1;
	case VIA_HOP:
		return jump_patch(copy, patches, va, hole, arch->hop_len) ||
		       jump_patch(copy, patches + 1, hole, to,
				  arch->jump_len) ? -1 : 2;
	default:
		patches->va = va;
		patches->len = arch->trap_len;
		memcpy(patches->bytes, arch->trap, arch->trap_len);
		return 1;
	}
}

const struct point *
copy_entry(const struct copy *copy)
{
	/* An instruction that marks the entry may stay before it. */
	size_t lo = search_first(copy->npoints, i,
				 copy->points[i].addr >= copy->entry);

	return lo < copy->npoints && copy->points[lo].kind == POINT_ENTRY ?
		&copy->points[lo] : NULL;
}

int
copy_link(const struct copy *copy, const struct copy_place *place,
	  const struct copy_call *call, struct copy_patch *patch)
{
	const struct point *point = copy_entry(copy);

	if (!point || call->target != copy->entry)
		return -1;
	patch->va = place->bias + call->addr;
	patch->len = copy->arch->call_len;
	return copy->arch->call_write(patch->va, place->va + point->offset,
				      patch->bytes);
}

/* The piece that has the offset: of those of no size the last. */
static const struct piece *
piece_find(const struct copy *copy, uint32_t offset)
{
	if (offset >= copy->size)
		return NULL;
	return &copy->pieces[search_first(copy->npieces, i,
					  copy->pieces[i].offset > offset) - 1];
}

int
copy_spot(const struct copy *copy, uint32_t offset, struct copy_spot *spot)
{
	const struct piece *piece = piece_find(copy, offset);
	enum piece_inside inside;

	if (!piece)
		return -1;
	inside = copy->arch->piece_inside(piece, offset - piece->offset);
	if (inside == INSIDE_NOT)
		return -1;
	*spot = (struct copy_spot){
		.addr = piece->addr, .arc = piece->arc,
		.added = inside == INSIDE_ADDED || piece->len,
		.arrived = piece->arrived,
		.saved = inside == INSIDE_SAVED || inside == INSIDE_ADDED,
		.begins = inside == INSIDE_START && piece->len,
		.between = inside == INSIDE_BETWEEN,
	};
	if (spot->arc == ARC_NONE)
		spot->added = false;
	return 0;
}

int64_t
copy_offset(const struct copy *copy, uint64_t addr)
{
	size_t lo = search_first(copy->nby_addr, i,
				 copy->pieces[copy->by_addr[i]].addr >= addr);

	if (lo == copy->nby_addr ||
	    copy->pieces[copy->by_addr[lo]].addr != addr)
		return -1;
	return copy->pieces[copy->by_addr[lo]].offset;
}

bool
copy_stays(const struct copy *copy, uint64_t addr)
{
	size_t lo = search_first(copy->nstays, i, copy->stays[i].hi > addr);

	return (lo < copy->nstays && copy->stays[lo].lo <= addr) ||
	       copy_offset(copy, addr) < 0;
}

const struct point *
copy_point(const struct copy *copy, uint64_t addr)
{
	size_t lo = search_first(copy->npoints, i,
				 copy->points[i].addr >= addr);

	return lo < copy->npoints && copy->points[lo].addr == addr ?
		&copy->points[lo] : NULL;
}

/* Does the block lead back to itself? */
static bool
vert_spins(const struct flow *flow, uint32_t v)
{
	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++)
		if (flow->edges[e].to == v)
			return true;
	return false;
}

double
copy_cost(void *ctx, const struct flow *flow, const struct weights *weights,
	  uint32_t arc)
{
	double weight = weight_of_arc(flow, weights, arc);
	const struct flow_edge *edge;

	if (arc >= flow->nedges)
		return weight * (vert_spins(flow, arc_block(flow, arc)) ?
				 COST_AGAIN : COST_COUNT);
	edge = &flow->edges[arc];
	if (edge->from == edge->to)
		return weight * COST_AGAIN;
	return weight * (edge->by == BY_TAKEN ? COST_COUNT + COST_JUMP :
						COST_COUNT);
}
