/*
 * Intrusions: control that comes to the middle of a function over no edge of
 * its graph, by a jump or call from elsewhere or a call from within.  Knows
 * what the graphs tell; of a jump in a function that is never looked at it
 * knows nothing.
 */
#include "plan/build.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/search.h"

/* Index of the first intruded address at addr or behind it. */
static size_t
intruded_from(const struct build *build, uint64_t addr)
{
	return search_first(build->nintruded, i, build->intruded[i] >= addr);
}

static void
intruded_add(struct build *build, uint64_t addr)
{
	size_t at = intruded_from(build, addr);

	if (at < build->nintruded && build->intruded[at] == addr)
		return;
	(void)vec_push(build->intruded, build->nintruded);
	memmove(build->intruded + at + 1, build->intruded + at,
		(build->nintruded - 1 - at) * sizeof(*build->intruded));
	build->intruded[at] = addr;
}

void
build_enters(struct build *build, uint32_t index, uint64_t addr)
{
	struct body *body = &build->plan->bodies[index];

	intruded_add(build, addr);
	if (!body->units)
		return;
	if (body->state == BODY_WAITING)
		body_forget(body);
	*vec_push(build->todo, build->ntodo) = index;
}

bool
intrusions_known(const struct build *build, const struct body *body)
{
	for (size_t i = 0; i < body->nranges; i++) {
		const struct range *range = &body->ranges[i];
		size_t k = intruded_from(build, range->lo);

		for (; k < build->nintruded &&
		     build->intruded[k] < range->hi; k++)
			if (cfg_insn(body->cfg, build->intruded[k]) < 0)
				return false;
	}
	return true;
}

/* Does the body's graph have control come to addr from elsewhere? */
static bool
body_expects(const struct body *body, uint64_t addr)
{
	long block = body->cfg ? cfg_block(body->cfg, addr) : BLOCK_NONE;

	return block >= 0 && body->cfg->blocks[block].external;
}

/* Where the body is entered in the usual way. */
static uint64_t
body_entry(const struct build *build, const struct body *body)
{
	const struct image *image = build->image;

	return body->func == FUNC_NONE ? body->ranges[0].lo :
	       image->arch->first(image->funcs[body->func].addr);
}

/* Where control begins in the body that is called or jumped to at addr. */
static uint64_t
body_begun(const struct build *build, const struct body *body, uint64_t addr)
{
	const struct image *image = build->image;

	if (body->func != FUNC_NONE && image->funcs[body->func].addr == addr)
		return image->arch->first(addr);
	return addr;
}

bool
insn_may_intrude(const struct build *build, uint32_t index,
		 const struct insn *insn)
{
	const struct plan *plan = build->plan;
	uint32_t into;

	if (insn->kind != INSN_JUMP && insn->kind != INSN_BRANCH &&
	    insn->kind != INSN_CALL)
		return false;
	into = plan_body(plan, insn->target);
	return into != BODY_NONE && into != index &&
	       body_entry(build, &plan->bodies[into]) !=
	       body_begun(build, &plan->bodies[into], insn->target);
}

/* Is anything known to lead to the block? */
static bool
block_reached(const struct body *body, uint32_t block)
{
	const uint32_t *in = body->flow->in + FLOW_BLOCK + block;

	return in[0] != in[1];
}

bool
calls_inside(struct build *build, const struct body *body)
{
	const struct cfg *cfg = body->cfg;
	bool found = false;

	for (uint32_t i = 0; i < cfg->ninsns; i++) {
		const struct insn *insn = &cfg->insns[i];

		if (insn->kind != INSN_CALL ||
		    cfg_insn(cfg, insn->target) < 0 ||
		    !block_reached(body, cfg_block_of(cfg, i)))
			continue;
		if (body_expects(body, insn->target))
			continue;
		intruded_add(build, insn->target);
		found = true;
	}
	return found;
}

void
intrusion_note(struct build *build, uint32_t from, uint64_t target)
{
	struct plan *plan = build->plan;
	uint32_t into = plan_body(plan, target);
	struct body *body;

	if (into == BODY_NONE)
		return;
	body = &plan->bodies[into];
	target = body_begun(build, body, target);
	if (into == from && body->cfg && cfg_insn(body->cfg, target) < 0)
		body->intruded = true;
	if (into == from || body->state == BODY_FAULTY || body->guest ||
	    !body->units || body_entry(build, body) == target)
		return;
	if (body->state == BODY_WAITING && !body_expects(body, target)) {
		build_enters(build, into, target);
	} else if (body->state == BODY_WAITING && !body->looked) {
		*vec_push(build->todo, build->ntodo) = into;
	} else if (body->state == BODY_READY && body->copy) {
		copy_intrude(build, into, target);
	} else if (body->state == BODY_READY && body->cfg &&
		   !body->intruded && !body_expects(body, target)) {
		body->intruded = true;
		*vec_push(build->todo, build->ntodo) = into;
	}
}

/*
 * Control runs on into other code.  If that is a function within this one it
 * may well come back in the same way: it is looked at together with this one.
 * In the same body it is no instruction, and that is the end.
 */
static void
body_runs_on(struct build *build, uint32_t from, uint64_t addr)
{
	uint32_t into = plan_body(build->plan, addr);
	const struct body *body;

	if (into == BODY_NONE || into == from)
		return;
	body = &build->plan->bodies[into];
	if (body->units && body_entry(build, body) == addr && !body->looked)
		*vec_push(build->todo, build->ntodo) = into;
	intrusion_note(build, from, addr);
}

/* What may be data, or code that runs, has a jump to the middle of another. */
static void
insn_suspects(struct build *build, uint32_t from, const struct insn *insn)
{
	struct plan *plan = build->plan;
	struct body *body;
	uint32_t into;

	if (!insn_may_intrude(build, from, insn))
		return;
	into = plan_body(plan, insn->target);
	body = &plan->bodies[into];
	if (body->state == BODY_FAULTY || body->guest || !body->units ||
	    body_expects(body, insn->target))
		return;
	body->intruded = true;
	if (body->state == BODY_READY && body->copy)
		copy_intrude(build, into, insn->target);
}

/* Where control goes from an instruction but over edges. */
static void
insn_intrudes(struct build *build, uint32_t index, const struct insn *insn)
{
	const struct cfg *cfg = build->plan->bodies[index].cfg;
	bool goes_on = insn->flow != FLOW_NO_RETURN;

	switch (insn->kind) {
	case INSN_JUMP:
	case INSN_JUMP_INDIRECT:
	case INSN_RETURN:
	case INSN_STOP:
		goes_on = false;
		break;
	}
	if ((insn->kind == INSN_JUMP || insn->kind == INSN_BRANCH ||
	     insn->kind == INSN_CALL) && cfg_insn(cfg, insn->target) < 0)
		intrusion_note(build, index, insn->target);
	if (goes_on && cfg_insn(cfg, insn->addr + insn->len) < 0)
		body_runs_on(build, index, insn->addr + insn->len);
}

void
intrusions_note(struct build *build, uint32_t index)
{
	const struct body *body = &build->plan->bodies[index];
	const struct cfg *cfg = body->cfg;

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];
		const struct insn *insn = &cfg->insns[block->first];

		/* Once it is entered unseen, all of it may be reached. */
		if (block->proof == PROOF_FLOW &&
		    (body->intruded || block_reached(body, b)))
			for (uint32_t i = 0; i < block->count; i++)
				insn_intrudes(build, index, &insn[i]);
		else if (block->proof == PROOF_NONE && cfg->unresolved)
			for (uint32_t i = 0; i < block->count; i++)
				insn_suspects(build, index, &insn[i]);
	}
	for (size_t i = 0; i < cfg->nouts; i++)
		intrusion_note(build, index, cfg->outs[i]);
}

enum { NEAR = 128 };	/* bytes in front of a function */

/*
 * The function's direct jumps from lo to hi, as far as control comes to them
 * straight on or over branches that lead on.
 */
static bool
range_enters(struct build *build, uint32_t index, uint64_t lo, uint64_t hi)
{
	const struct body *body = &build->plan->bodies[index];
	const struct image *image = build->image;
	bool led[NEAR + 1] = { true }, jumps;
	const uint8_t *code;
	struct insn insn;
	uint64_t at = lo;
	size_t avail;

	for (; lo < hi; lo += insn.len) {
		code = image_text(image, lo, &avail);
		if (!code || image->arch->decode(code, avail, lo, &insn))
			return false;
		if (image->arch->motion && !led[lo - at])
			continue;
		jumps = insn.kind == INSN_JUMP || insn.kind == INSN_BRANCH;
		if (jumps && insn.target > lo && insn.target < hi)
			led[insn.target - at] = true;
		if (insn_goes_on(&insn) && lo + insn.len < hi)
			led[lo + insn.len - at] = true;
		if ((insn.kind != INSN_JUMP && insn.kind != INSN_BRANCH) ||
		    insn.target == body_entry(build, body) ||
		    cfg_insn(body->cfg, insn.target) < 0 ||
		    body_expects(body, insn.target))
			continue;
		build_enters(build, index, insn.target);
		return true;
	}
	return false;
}

/*
 * Assembly language has variants of a function in front of it that jump into
 * its middle: glibc's mempcpy, of memmove.  That is known before any patch is
 * made, which might cover the place, or anything is derived.
 */
bool
neighbours_enter(struct build *build, uint32_t index)
{
	const struct body *body = &build->plan->bodies[index];
	const struct image *image = build->image;
	uint64_t entry = body_entry(build, body);

	if (body->func == FUNC_NONE)
		return false;
	for (uint32_t i = body->func; i--;) {
		const struct func *func = &image->funcs[i];
		uint64_t hi = func->addr + func->size;

		if (func->addr + NEAR < entry)
			break;
		if (range_enters(build, index, image->arch->first(func->addr),
				 hi < entry ? hi : entry))
			return true;
	}
	return false;
}
