/*
 * Makes the fragments of single blocks.  A block's probe comes at its start, an
 * edge's behind the branch, on the way that control takes, or in a stub behind
 * the function if control seldom takes that way.  Decides nothing about the
 * order of blocks.
 */
#include "relocate/block_code.h"

#include "relocate/flags.h"
#include "util/mem.h"

struct fragment *
fragment_add(struct layout *layout, enum fragment_kind kind, uint64_t addr)
{
	struct relocated *relocated = layout->relocated;
	struct fragment *fragment;

	must(relocated->nfragments < TO_BLOCK);
	fragment = vec_push(relocated->fragments, relocated->nfragments);
	*fragment = (struct fragment){
		.addr = addr,
		.kind = (uint8_t)kind,
		.to = FRAGMENT_OUT,
		.probe = PROBE_NONE,
		.arrived = true,
	};
	return fragment;
}

void
fragment_lead(const struct layout *layout, struct fragment *fragment,
	      uint32_t block, uint64_t target)
{
	const struct shape *shape = layout->shape;

	fragment->target = block == NO_BLOCK ? target :
					       shape_first(shape, block)->addr;
	if (block != NO_BLOCK && shape->segments[shape->leads[block]].relocated)
		fragment->to = TO_BLOCK | block;
}

/* The probe's copy for the present round of an unrolled loop. */
static uint32_t
probe_again(struct layout *layout, uint32_t index)
{
	struct relocated *relocated = layout->relocated;
	struct probe probe = relocated->probes[index];

	probe.slot = layout->shape->in->slot + relocated->nextras;
	*vec_push(relocated->extras, relocated->nextras) = index;
	*vec_push(relocated->probes, relocated->nprobes) = probe;
	return relocated->nprobes - 1;
}

static void
probe_one(struct layout *layout, uint32_t index, uint64_t addr, uint32_t live,
	  bool arrived)
{
	const struct shape *shape = layout->shape;
	const struct probe *probe = &shape->in->probes[index];
	struct fragment *fragment = fragment_add(layout, FRAGMENT_PROBE, addr);

	must(probe->op == PROBE_ADD || !shape->in->shared);
	live &= shape->arch->emit.probe_flags(probe->op, probe->operand);
	fragment->form = PROBE_THREAD;
	if (shape->in->shared)
		fragment->form = PROBE_LOCKED;
	else if (live)
		fragment->form = PROBE_THREAD_KEEP;
	if (live && shape->in->shared) {
		layout->spoils = true;
		layout->spoilt = addr;
	}
	fragment->op = probe->op;
	fragment->operand = probe->operand;
	fragment->probe = layout->round ? probe_again(layout, index) : index;
	fragment->arrived = arrived;
}

void
probe_add(struct layout *layout, uint32_t arc, uint64_t addr, uint32_t live,
	  bool arrived)
{
	const struct probe *probes = layout->shape->in->probes;
	uint32_t index = layout->shape->probes[arc];

	uint32_t order[PROBES_PER_ELEMENT], n = 0;

	for (; index != PROBE_NONE; index = probes[index].before - 1) {
		must(n < PROBES_PER_ELEMENT);
		order[n++] = index;
	}
	while (n--)
		probe_one(layout, order[n], addr, live, arrived);
}

void
way_probe(struct layout *layout, uint32_t arc, uint32_t block, uint64_t target)
{
	const struct shape *shape = layout->shape;

	if (arc == ARC_NONE)
		return;
	if (block == NO_BLOCK)
		probe_add(layout, arc, target, flags_at(shape->in, target),
			  false);
	else
		probe_add(layout, arc, shape_first(shape, block)->addr,
			  shape->live[block], false);
}

void
way_go(struct layout *layout, uint32_t block, uint64_t target, uint32_t next)
{
	const struct shape *shape = layout->shape;
	struct fragment *fragment;

	if (block != NO_BLOCK && block == next &&
	    shape->segments[shape->leads[block]].relocated)
		return;
	fragment = fragment_add(layout, FRAGMENT_GO, target);
	fragment_lead(layout, fragment, block, target);
	fragment->addr = fragment->target;
	fragment->arrived = false;
}

static void
stub_add(struct layout *layout, uint32_t branch, uint32_t arc, uint32_t block,
	 uint64_t target)
{
	*vec_push(layout->stubs,
		  layout->nstubs) = (struct stub){ branch, arc, block, target };
}

struct fragment *
fragment_insn(struct layout *layout, enum fragment_kind kind, uint32_t i)
{
	const struct insn *insn = &layout->shape->cfg->insns[i];
	const struct motion *motion = &layout->shape->motions[i];
	struct fragment *fragment;

	if (kind == FRAGMENT_INSN && motion->idle)
		kind = FRAGMENT_NOTHING;
	fragment = fragment_add(layout, kind, insn->addr);
	fragment->len = insn->len;
	fragment->disp = motion->disp;
	fragment->cond = motion->cond;
	fragment->counted = layout->index != INDEX_NONE;
	if (fragment->counted)
		fragment->map = layout->index;
	return fragment;
}

/* Does the branch go to its target more often than not? */
static bool
branch_likely(const struct layout *layout, uint32_t block)
{
	const struct shape *shape = layout->shape;
	const struct weights *weights = shape->in->weights;
	const struct flow *flow = shape->flow;
	uint32_t v = FLOW_BLOCK + block;
	double taken = 0, fall = 0;

	if (!weights)
		return shape_last(shape, block)->target <=
		       shape_last(shape, block)->addr;
	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++) {
		if (flow->edges[e].by == BY_TAKEN)
			taken = weights->edges[e];
		else if (flow->edges[e].by == BY_FALL)
			fall = weights->edges[e];
	}
	return taken > fall;
}

static void
branch_add(struct layout *layout, uint32_t block, uint32_t last)
{
	const struct shape *shape = layout->shape;
	const struct insn *insn = &shape->cfg->insns[last];
	uint32_t taken = shape->taken[block], fall = shape->fall[block];
	uint32_t arc = shape->taken_arc[block], over;
	uint64_t behind = insn->addr + insn->len;
	struct fragment *fragment;

	if (shape->last_arc[block] != ARC_NONE) {
		/* Both ways lead to the same block. */
		fragment = fragment_insn(layout, FRAGMENT_BRANCH, last);
		fragment->to = layout->relocated->nfragments;
		way_probe(layout, shape->last_arc[block], fall, behind);
	} else if (arc == ARC_NONE) {
		fragment = fragment_insn(layout, FRAGMENT_BRANCH, last);
		fragment_lead(layout, fragment, taken, insn->target);
	} else if (branch_likely(layout, block)) {
		over = layout->relocated->nfragments;
		fragment_insn(layout, FRAGMENT_BRANCH_NOT, last);
		way_probe(layout, arc, taken, insn->target);
		way_go(layout, taken, insn->target, NO_BLOCK);
		layout->relocated->fragments[over].to =
			layout->relocated->nfragments;
	} else {
		stub_add(layout, layout->relocated->nfragments, arc, taken,
			 insn->target);
		fragment_insn(layout, FRAGMENT_BRANCH, last);
	}
	way_probe(layout, shape->fall_arc[block], fall, behind);
	way_go(layout, fall, behind, layout->behind);
}

/*
 * Count a block's last edge before its last instruction, which always takes it.
 */
static void
last_probe(struct layout *layout, uint32_t block)
{
	const struct shape *shape = layout->shape;

	if (shape->last_arc[block] == ARC_NONE)
		return;
	probe_add(layout, shape->last_arc[block],
		  shape_last(shape, block)->addr,
		  flags_before_last(shape->in, shape->motions, shape->live,
				    block),
		  true);
}

void
index_add(struct layout *layout, uint32_t block, uint32_t insn)
{
	struct relocated *relocated = layout->relocated;
	const struct shape *shape = layout->shape;
	uint32_t index = shape->indexes[block];
	struct fragment *fragment;
	size_t avail;

	if (index == INDEX_NONE ||
	    relocated->indexes[index].load != shape->cfg->insns[insn].addr)
		return;
	*vec_push(layout->slow_paths, layout->nslow_paths) = (struct slow_path){
		relocated->nfragments, block
	};
	fragment = fragment_add(layout, FRAGMENT_INDEX,
				shape->cfg->insns[insn].addr);
	fragment->load = shape->arch->emit.index_touch(
		shape->in->text(shape->in->ctx, fragment->addr, &avail),
		shape->cfg->insns[insn].len);
	fragment->map = index;
	fragment->operand =
		relocated->probes[relocated->indexes[index].probe].operand;
	layout->index = index;
}

/* Count the edge that an indirect jump takes, and jump. */
static void
dispatch_add(struct layout *layout, uint32_t block, uint32_t last)
{
	const struct shape *shape = layout->shape;
	uint32_t arc = shape->table_arc[block];
	struct fragment *fragment;
	size_t avail;

	if (arc == ARC_NONE || layout->index != INDEX_NONE)
		return;
	fragment = fragment_insn(layout, FRAGMENT_DISPATCH, last);
	fragment->load = shape->arch->emit.dispatch_load(
		shape->in->text(shape->in->ctx, fragment->addr, &avail),
		fragment->len);
	fragment->map = shape->maps[block];
	fragment->probe = shape->probes[arc];
	fragment->operand = shape->in->probes[fragment->probe].operand;
}

void
last_add(struct layout *layout, uint32_t block, uint32_t last)
{
	const struct shape *shape = layout->shape;
	const struct insn *insn = &shape->cfg->insns[last];
	uint32_t taken = shape->taken[block], fall = shape->fall[block];
	struct fragment *fragment;

	switch (insn->kind) {
	case INSN_BRANCH:
		branch_add(layout, block, last);
		return;
	case INSN_JUMP:
		last_probe(layout, block);
		if (insn->pushes) {
			fragment = fragment_insn(layout, FRAGMENT_CALL, last);
			fragment->direct = true;
			fragment_lead(layout, fragment, taken, insn->target);
		} else if (taken == layout->behind &&
			   shape->segments[shape->leads[taken]].relocated) {
			fragment = fragment_insn(layout, FRAGMENT_NOTHING,
						 last);
		} else {
			fragment = fragment_insn(layout, FRAGMENT_GO, last);
			fragment_lead(layout, fragment, taken, insn->target);
		}
		break;
	case INSN_RETURN:
	case INSN_STOP:
	case INSN_JUMP_INDIRECT:
		last_probe(layout, block);
		index_add(layout, block, last);
		dispatch_add(layout, block, last);
		fragment = fragment_insn(layout, FRAGMENT_INSN, last);
		layout->index = INDEX_NONE;
		break;
	default:
		fragment_insn(layout, FRAGMENT_INSN, last);
		way_probe(layout, shape->last_arc[block], fall,
			  insn->addr + insn->len);
		way_go(layout, fall, insn->addr + insn->len, layout->behind);
		return;
	}
	if (shape->last_arc[block] != ARC_NONE)
		fragment->probe = shape->probes[shape->last_arc[block]];
}

void
stubs_add(struct layout *layout)
{
	for (size_t i = 0; i < layout->nstubs; i++) {
		const struct stub *stub = &layout->stubs[i];

		layout->relocated->fragments[stub->branch].to =
			layout->relocated->nfragments;
		way_probe(layout, stub->arc, stub->block, stub->target);
		way_go(layout, stub->block, stub->target, NO_BLOCK);
	}
}

void
slow_paths_add(struct layout *layout)
{
	const struct shape *shape = layout->shape;

	for (size_t i = 0; i < layout->nslow_paths; i++) {
		const struct slow_path *path = &layout->slow_paths[i];
		const struct block *block = &shape->cfg->blocks[path->block];
		uint32_t last = block->first + block->count - 1;
		long insn = cfg_insn(
			shape->cfg,
			layout->relocated->fragments[path->from].addr);

		layout->relocated->fragments[path->from].to =
			layout->relocated->nfragments;
		for (; insn < last; insn++)
			fragment_insn(layout, FRAGMENT_INSN, (uint32_t)insn);
		dispatch_add(layout, path->block, last);
		fragment_insn(layout, FRAGMENT_INSN, last);
	}
}
