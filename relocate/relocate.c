/*
 * Makes relocated functions and writes their bytes.  Decides no layout and
 * touches no process.
 */
#include "relocate/relocate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "relocate/dispatch.h"
#include "relocate/entry_patches.h"
#include "relocate/flags.h"
#include "relocate/layout.h"
#include "relocate/shape.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/search.h"

/*
 * List the fragments that are relocated instructions by address: a cfg's
 * instructions are in that order.
 */
static void
addrs_make(const struct cfg *cfg, struct relocated *relocated)
{
	uint32_t *fragments = mem_alloc((cfg->ninsns + 1) * sizeof(*fragments));
	long insn = -1;

	for (size_t i = 0; i < cfg->ninsns; i++)
		fragments[i] = FRAGMENT_OUT;
	for (uint32_t i = 0; i < relocated->nfragments; i++) {
		const struct fragment *fragment = &relocated->fragments[i];

		/* Who comes to counted ones from elsewhere has not counted. */
		if (!fragment->len || fragment->counted)
			continue;
		/* Most are the one behind the last. */
		insn++;
		if (insn >= (long)cfg->ninsns ||
		    cfg->insns[insn].addr != fragment->addr)
			insn = cfg_insn(cfg, fragment->addr);
		must(insn >= 0);
		/* Of an unrolled loop, take the first round. */
		if (fragments[insn] == FRAGMENT_OUT)
			fragments[insn] = i;
	}
	for (size_t i = 0; i < cfg->ninsns; i++)
		if (fragments[i] != FRAGMENT_OUT)
			fragments[relocated->nby_addr++] = fragments[i];
	relocated->by_addr = fragments;
}

static void
stays_make(const struct shape *shape, struct relocated *relocated)
{
	const struct insn *insns = shape->cfg->insns;

	for (uint32_t i = 0; i < shape->nsegments; i++) {
		const struct segment *segment = &shape->segments[i];
		uint32_t last = segment->first + segment->count - 1;

		if (segment->relocated && segment->stays)
			*vec_push(relocated->stays,
				  relocated->nstays) = (struct spare){
				insns[segment->first].addr,
				insns[last].addr + insns[last].len,
			};
	}
}

/*
 * Is it a direct call in the form that arch->emit.call_write makes, so that only the
 * target differs?
 */
static bool
call_plain(const struct shape *shape, const struct insn *insn)
{
	const struct relocate_input *in = shape->in;
	uint8_t bytes[INSN_MAX];
	size_t avail;
	const uint8_t *code = in->text(in->ctx, insn->addr, &avail);

	return insn->kind == INSN_CALL &&
	       insn->len == in->arch->emit.call_len && code &&
	       avail >= insn->len &&
	       !in->arch->emit.call_write(insn->addr, insn->target, bytes) &&
	       !memcmp(code, bytes, insn->len);
}

/*
 * List only calls that are certainly code: what follows a call that never
 * returns may not be.
 */
static void
calls_make(const struct shape *shape, struct relocated *relocated)
{
	for (uint32_t i = 0; i < shape->nsegments; i++) {
		const struct segment *segment = &shape->segments[i];
		const struct insn *anchor;

		if (segment->end == END_BLOCK || segment->moved ||
		    shape->kinds[segment->block] != BLOCK_CODE)
			continue;
		anchor = segment_anchor(shape, segment);
		if (call_plain(shape, anchor))
			*vec_push(relocated->calls,
				  relocated->ncalls) = (struct direct_call){
				anchor->addr,
				anchor->target,
			};
	}
}

/*
 * Unknown jumps may lead to any byte: leave all as it was but for a jump at the
 * entry, whose other bytes trap.
 */
static int
entry_alone(const struct relocated *relocated)
{
	const struct entry_patch *entry_patch = relocated->entry_patches;

	if (relocated->nentry_patches != 1 ||
	    entry_patch->kind != ENTRY_PATCH_ENTRY ||
	    entry_patch->via != VIA_SPRING)
		return fail("it has a jump whose targets are not known");
	return 0;
}

struct relocated *
relocated_make(const struct relocate_input *in)
{
	struct shape shape;
	struct relocated *relocated = mem_alloc(sizeof(*relocated));

	relocated->arch = in->arch;
	relocated->text = in->text;
	relocated->ctx = in->ctx;
	for (uint32_t i = 0; i < in->nprobes; i++)
		*vec_push(relocated->probes,
			  relocated->nprobes) = in->probes[i];
	relocated->entry = in->cfg->entry < 0 ?
				   UINT64_MAX :
				   in->cfg->insns[in->cfg->entry].addr;
	if (shape_open(&shape, in))
		goto failed;
	entry_patches_make(&shape, relocated);
	if ((in->unknown && in->extent == EXTENT_PROBED &&
	     entry_alone(relocated)) ||
	    shape_check(&shape, relocated) ||
	    dispatches_make(&shape, relocated))
		goto failed;
	indexes_make(&shape, relocated);
	if (layout_make(&shape, relocated))
		goto failed;
	entry_patches_lead(&shape, relocated);
	addrs_make(in->cfg, relocated);
	stays_make(&shape, relocated);
	calls_make(&shape, relocated);
	shape_close(&shape);
	return relocated;
failed:
	shape_close(&shape);
	relocated_free(relocated);
	return NULL;
}

struct spare
spare_padding(const struct arch *arch, cfg_text *text, void *ctx, uint64_t lo,
	      uint64_t hi)
{
	struct spare spare = { lo, lo };

	while (spare.hi < hi) {
		struct motion motion;
		struct insn insn;
		size_t avail;
		const uint8_t *code = text(ctx, spare.hi, &avail);

		if (!code || arch->decode(code, avail, spare.hi, &insn) ||
		    arch->motion(code, avail, spare.hi, &motion) ||
		    motion.lands || (!motion.idle && insn.kind != INSN_TRAP) ||
		    insn.len > hi - spare.hi)
			break;
		spare.hi += insn.len;
	}
	return spare;
}

void
relocated_free(struct relocated *relocated)
{
	if (!relocated)
		return;
	free(relocated->fragments);
	free(relocated->by_addr);
	free(relocated->entry_patches);
	free(relocated->probes);
	free(relocated->extras);
	free(relocated->stays);
	free(relocated->calls);
	dispatch_maps_free(relocated->maps, relocated->nmaps);
	free(relocated->indexes);
	free(relocated);
}

/* The addresses that a fragment is written for. */
static struct fragment_at
fragment_at(const struct relocated *relocated,
	    const struct relocated_place *place,
	    const struct fragment *fragment)
{
	struct fragment_at at = {
		.va = place->va + fragment->offset,
		.original = place->bias + fragment->addr,
		.to = place->bias + fragment->target,
		.page = place->page,
	};
	size_t avail = 0;

	if (fragment->kind == FRAGMENT_PROBE ||
	    fragment->kind == FRAGMENT_DISPATCH)
		at.slot = place->slots +
			  UINT64_C(8) * relocated->probes[fragment->probe].slot;
	if (fragment->kind == FRAGMENT_PROBE && fragment->op == PROBE_EVENTS)
		at.slot = place->page.events;
	if (fragment->kind == FRAGMENT_DISPATCH) {
		at.map = &relocated->maps[fragment->map];
		at.map_va = place->va + at.map->offset;
	}
	if (fragment->kind == FRAGMENT_INDEX) {
		const struct edge_index *index =
			&relocated->indexes[fragment->map];

		at.entries = index->entries;
		at.slot = place->slots +
			  UINT64_C(8) * relocated->probes[index->probe].slot;
	}
	if (fragment->to != FRAGMENT_OUT)
		at.to = place->va + relocated->fragments[fragment->to].offset;
	if (fragment->len || fragment->kind == FRAGMENT_INDEX)
		at.code = relocated->text(relocated->ctx, fragment->addr,
					  &avail);
	must(avail >= fragment->len);
	return at;
}

int
relocated_write(const struct relocated *relocated,
		const struct relocated_place *place, uint8_t *bytes)
{
	must(place->va % relocated->align == 0);
	for (uint32_t i = 0; i < relocated->nfragments; i++) {
		const struct fragment *fragment = &relocated->fragments[i];
		struct fragment_at at = fragment_at(relocated, place, fragment);

		if (relocated->arch->emit.fragment_write(
			    fragment, &at, bytes + fragment->offset))
			return fail("the relocated code of %#" PRIx64 " is too "
				    "far from an address that it uses",
				    fragment->addr);
	}
	for (uint32_t i = 0; i < relocated->nmaps; i++)
		dispatch_map_write(&relocated->maps[i], place->bias,
				   bytes + relocated->maps[i].offset);
	return 0;
}

void
relocated_sum(const struct relocated *relocated, const uint64_t *slots,
	      size_t n, uint64_t *sums, size_t nsums)
{
	uint32_t ngiven = relocated->nprobes - relocated->nextras;

	must(nsums <= ngiven);
	for (size_t i = 0; i < nsums; i++)
		sums[i] = 0;
	for (uint32_t i = 0; i < relocated->nprobes; i++) {
		uint32_t slot = relocated->probes[i].slot;
		uint32_t of = i < ngiven ? i : relocated->extras[i - ngiven];

		if (of < nsums && slot < n)
			sums[of] += slots[slot];
	}
}

/* The flags live where the counter of an edge would be. */
static uint32_t
edge_live(const struct relocate_input *in, const struct motion *motions,
	  const uint32_t *live, const struct flow_edge *edge)
{
	const struct block *from;
	const struct insn *last;

	if (edge->to >= FLOW_BLOCK)
		return live[edge->to - FLOW_BLOCK];
	if (edge->from < FLOW_BLOCK)
		return 0;
	from = &in->cfg->blocks[edge->from - FLOW_BLOCK];
	last = &in->cfg->insns[from->first + from->count - 1];
	if (edge->by == BY_TAKEN && last->kind == INSN_BRANCH)
		return flags_at(in, last->target);
	return flags_before_last(in, motions, live, edge->from - FLOW_BLOCK);
}

bool *
relocated_spoilt(const struct relocate_input *in)
{
	const struct flow *flow = in->flow;
	uint32_t changed = in->arch->emit.probe_flags(PROBE_ADD, 1);
	struct motion *motions = motions_make(in, NULL);
	uint32_t *live;
	bool *spoilt;

	if (!motions)
		return NULL;
	live = flags_live(in, motions);
	spoilt = mem_alloc(flow_arcs(flow) + 1);
	for (uint32_t e = 0; e < flow->nedges; e++)
		spoilt[e] = edge_live(in, motions, live, &flow->edges[e]) &
			    changed;
	for (uint32_t b = 0; b < in->cfg->nblocks; b++)
		spoilt[arc_of_block(flow, b + FLOW_BLOCK)] = live[b] & changed;
	free(live);
	free(motions);
	return spoilt;
}

const struct probe *
relocated_probe(const struct relocated *relocated, uint32_t element)
{
	uint32_t n = relocated->nprobes - relocated->nextras;

	for (uint32_t i = 0; i < n; i++)
		if (relocated->probes[i].element == element &&
		    relocated->probes[i].op == PROBE_ADD)
			return &relocated->probes[i];
	return NULL;
}

const struct entry_patch *
relocated_entry(const struct relocated *relocated)
{
	/*
	 * An instruction that marks the entry may stay in front of the patch.
	 */
	size_t lo = search_first(relocated->nentry_patches, i,
				 relocated->entry_patches[i].addr >=
					 relocated->entry);

	return lo < relocated->nentry_patches &&
			       relocated->entry_patches[lo].kind ==
				       ENTRY_PATCH_ENTRY ?
		       &relocated->entry_patches[lo] :
		       NULL;
}

const struct entry_patch *
relocated_entry_patch(const struct relocated *relocated, uint64_t addr)
{
	size_t lo = search_first(relocated->nentry_patches, i,
				 relocated->entry_patches[i].addr >= addr);

	return lo < relocated->nentry_patches &&
			       relocated->entry_patches[lo].addr == addr ?
		       &relocated->entry_patches[lo] :
		       NULL;
}

const struct entry_patch *
relocated_called(const struct relocated *relocated, uint64_t addr)
{
	const struct entry_patch *patch;

	if (addr == relocated->entry)
		return relocated_entry(relocated);
	patch = relocated_entry_patch(relocated, addr);
	return patch && patch->kind != ENTRY_PATCH_GUARD ? patch : NULL;
}

/* Does an edge lead from the block back to itself? */
static bool
vert_spins(const struct flow *flow, uint32_t v)
{
	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++)
		if (flow->edges[e].to == v)
			return true;
	return false;
}

double
relocated_cost(void *ctx, const struct flow *flow,
	       const struct weights *weights, uint32_t arc)
{
	double weight = weight_of_arc(flow, weights, arc);
	const struct flow_edge *edge;
	const bool *spoilt = ctx;

	if (spoilt && spoilt[arc])
		return (weight + 1) * COST_SPOILT;
	if (arc >= flow->nedges)
		return weight * (vert_spins(flow, arc_block(flow, arc)) ?
					 COST_AGAIN :
					 COST_COUNT);
	edge = &flow->edges[arc];
	if (edge->from == edge->to)
		return weight * COST_AGAIN;
	return weight *
	       (edge->by == BY_TAKEN ? COST_COUNT + COST_JUMP : COST_COUNT);
}
