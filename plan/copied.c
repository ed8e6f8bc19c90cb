/*
 * Functions that are counted in copies (copy/): whether one can be, where its
 * counters go, and the traps that the copy needs.  What is written into a
 * process is the monitor's.
 */
#include "copy/copy.h"
#include "plan/build.h"

#include <stdlib.h>

#include "util/fail.h"
#include "util/mem.h"
#include "util/search.h"

/* As compilers align functions, or more. */
enum { FUNC_ALIGN = 16 };

static const uint8_t *
copy_text(void *ctx, uint64_t addr, size_t *avail)
{
	return image_text(ctx, addr, avail);
}

/*
 * Why the monitor has to see instructions of the body run where they are, or
 * NULL.
 */
static const char *
body_stays(const struct build *build, const struct body *body, size_t hooks)
{
	const struct site *site;

	if (body->func == FUNC_NONE || body->cfg->entry < 0)
		return "code of no function";
	/* It may go to the middle of a patch. */
	if (body->cfg->unresolved)
		return "it has a jump whose targets are not known";
	if (hooks != build->plan->nhooks)
		return "it switches stacks";
	for (size_t i = 0; i < body->cfg->ninsns; i++)
		if (body->units & 1U << UNIT_CALL &&
		    body->cfg->insns[i].kind == INSN_JUMP_INDIRECT &&
		    insn_calls_indirect(&body->cfg->insns[i]))
			return "it is recorded where it jumps to";
	if (body_calls_alone(body) && !calls_want_ways(body, NULL))
		return "it jumps to its own beginning, uncounted";
	site = plan_site(build->plan,
			 body->cfg->insns[body->cfg->entry].addr);
	return site && site->hook ? "stacks are looked at where it begins" :
				    NULL;
}

/* Traps that lead into the copy, and those that see where calls go. */
static void
copy_sites(struct build *build, uint32_t index)
{
	struct plan *plan = build->plan;
	struct body *body = &plan->bodies[index];
	uint64_t *addrs = NULL;
	size_t n = 0;

	if (body->site != SITE_NONE)
		plan->sites[body->site].idle = true;
	for (uint32_t i = 0; i < body->copy->npoints; i++)
		if (body->copy->points[i].via == VIA_TRAP)
			*vec_push(addrs, n) =
				body->copy->points[i].addr;
	for (size_t i = 0; i < n; i++) {
		uint32_t site = build_site(build, addrs[i], index);

		plan->sites[site].idle = false;
		plan->sites[site].leads = true;
	}
	free(addrs);
	for (size_t i = 0; i < body->cfg->ninsns; i++)
		if (body->units & 1U << UNIT_CALL &&
		    insn_calls_indirect(&body->cfg->insns[i]) &&
		    cfg_proven(body->cfg, i)) {
			uint32_t site = build_site(build,
				body->cfg->insns[i].addr, index);

			plan->sites[site].idle = false;
			plan->sites[site].targets = true;
		}
}

/*
 * Is all that is counted the entry, at the entry?  Then nothing is derived, and
 * the rest of the function may run in place.
 */
static bool
entry_alone(const struct body *body)
{
	const struct flow *flow = body->flow;
	uint32_t n = body->placement->narcs, v;

	if (body->units & ~(1U << UNIT_FUNC) || n != 1 || !flow->nedges ||
	    flow->edges[0].from != FLOW_ROOT)
		return false;
	v = flow->edges[0].to;
	return body->placement->arcs[0] == arc_of_block(flow, v) &&
	       flow->in[v + 1] - flow->in[v] == 1;
}

/*
 * Traps in the original see where calls go, but not those done in the copy:
 * if there are any the message is set.
 */
static bool
targets_hidden(const struct body *body)
{
	for (size_t i = 0; i < body->cfg->ninsns; i++)
		if (body->units & 1U << UNIT_CALL &&
		    insn_calls_indirect(&body->cfg->insns[i]) &&
		    copy_offset(body->copy, body->cfg->insns[i].addr) >= 0)
			return fail("where an indirect call in it goes would "
				    "not be seen") != 0;
	return false;
}

/*
 * Can all be done without traps?  Guards are left out.  A counter that has to
 * keep flags is not taken: it needs the monitor if a signal comes.
 */
static bool
copy_trapless(struct copy *copy)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < copy->npieces; i++)
		if (copy->pieces[i].kind == PIECE_COUNT_KEEP)
			return fail("it has flags to be kept") == 0;
	for (uint32_t i = 0; i < copy->npoints; i++) {
		const struct point *point = &copy->points[i];

		if (point->kind == POINT_GUARD)
			continue;
		if (point->via == VIA_TRAP)
			return fail("there is no room for a jump") == 0;
		copy->points[n++] = *point;
	}
	copy->npoints = n;
	return true;
}

/* Control never goes on behind a range: its last instruction leaves. */
static bool
range_closed(const struct cfg *cfg, const struct range *range)
{
	size_t at = search_first(cfg->ninsns, i, cfg->insns[i].addr +
				 cfg->insns[i].len >= range->hi);
	const struct insn *last = &cfg->insns[at];

	if (at == cfg->ninsns || last->addr + last->len != range->hi)
		return false;
	return last->kind == INSN_JUMP || last->kind == INSN_JUMP_INDIRECT ||
	       last->kind == INSN_RETURN || last->kind == INSN_STOP;
}

/*
 * The padding behind a range, up to where the next function may begin: also
 * one without a name or a frame begins at a round address.  So little that no
 * jump begins there: a task at it would be in no function.
 */
static struct copy_spare
range_spare(const struct build *build, const struct body *body,
	    const struct range *range)
{
	const struct arch *arch = build->image->arch;
	uint64_t hi = range->hi;
	struct copy_spare spare;

	if (!range_closed(body->cfg, range))
		return (struct copy_spare){ hi, hi };
	while (hi % FUNC_ALIGN && !image_func(build->image, hi) &&
	       plan_body(build->plan, hi) == BODY_NONE)
		hi++;
	spare = copy_padding(arch, copy_text, (void *)build->image, range->hi,
			     hi);
	if (spare.hi > spare.lo + arch->jump_len - 1)
		spare.hi = spare.lo + arch->jump_len - 1;
	return spare;
}

/* Those behind its ranges, for copy_make; *n of them, to be freed. */
static struct copy_spare *
body_spares(const struct build *build, const struct body *body, size_t *n)
{
	struct copy_spare *spares = NULL;

	*n = 0;
	for (size_t i = 0; i < body->nranges; i++) {
		struct copy_spare spare = range_spare(build, body,
						      &body->ranges[i]);

		if (spare.lo < spare.hi)
			*vec_push(spares, *n) = spare;
	}
	return spares;
}

static struct copy *
body_copy(const struct build *build, const struct body *body,
	  const struct weights *weights)
{
	size_t nspares;
	struct copy_spare *spares = body_spares(build, body, &nspares);
	struct copy *copy = copy_make(&(struct copy_input){
		.arch = build->image->arch, .cfg = body->cfg,
		.flow = body->flow, .placement = body->placement,
		.weights = weights, .counter = build->plan->ncounters,
		.extent = entry_alone(body) ? EXTENT_COUNTED : EXTENT_WHOLE,
		.absolute = !build->image->dyn, .text = copy_text,
		.ctx = (void *)build->image,
		.spares = spares, .nspares = nspares,
	});

	free(spares);
	return copy;
}

/* Whom it calls: that may get, or have, a copy to be led to. */
static void
copy_calls(struct plan *plan, const struct copy *copy)
{
	for (uint32_t i = 0; i < copy->ncalls; i++) {
		uint32_t to = plan_body(plan, copy->calls[i].target);
		struct body *body;

		if (to == BODY_NONE || !plan->bodies[to].units)
			continue;
		body = &plan->bodies[to];
		*vec_push(body->callers, body->ncallers) = copy->calls[i];
	}
}

/* A counter that nothing adds to: who writes over others may hit it. */
static void
guard_place(struct plan *plan)
{
	*vec_push(plan->guards, plan->nguards) = plan->ncounters++;
}

bool
copy_place_counters(struct build *build, uint32_t index, const bool *wanted,
		    const struct weights *weights, size_t hooks)
{
	struct plan *plan = build->plan;
	struct body *body = &plan->bodies[index];
	struct placement_wish wish = {
		.method = plan->wish.method, .wanted = wanted,
		.cost = copy_cost,
	};
	const char *why;

	/*
	 * Stacks are not looked at for calls alone: nothing is derived.  Once
	 * a stack was lost as little as can be is.
	 */
	if (!(body->units & ~(1U << UNIT_FUNC)) || plan->wish.no_traps ||
	    (plan->tainted && !plan->wish.leaks))
		wish.method = PLACE_EVERY;
	if (!plan->wish.copies)
		return false;
	why = body_stays(build, body, hooks);
	if (why) {
		body->stays = mem_strdup(why);
		return false;
	}
	if (!plan->nguards)
		guard_place(plan);
	body->placement = placement_make(body->flow, weights, &wish);
	body->copy = body_copy(build, body, weights);
	if (body->copy && targets_hidden(body)) {
		copy_free(body->copy);
		body->copy = NULL;
	}
	if (body->copy && plan->wish.no_traps && !copy_trapless(body->copy)) {
		copy_free(body->copy);
		body->copy = NULL;
	}
	if (!body->copy) {
		body->stays = mem_strdup(fail_message());
		placement_free(body->placement);
		body->placement = NULL;
		return false;
	}
	body->counter = plan->ncounters;
	plan->ncounters += body->copy->narcs + body->copy->nextras;
	guard_place(plan);
	body->copy_at = (plan->copies_size + body->copy->align - 1) /
			body->copy->align * body->copy->align;
	plan->copies_size = body->copy_at + body->copy->size;
	*vec_push(plan->copied, plan->ncopied) = index;
	copy_sites(build, index);
	copy_calls(plan, body->copy);
	return true;
}

void
plan_copies_refuse(struct plan *plan, const char *why)
{
	plan->wish.copies = false;
	if (!plan->stays)
		plan->stays = mem_strdup(why);
}

/* As it was before it was looked at, with a trap at its entry. */
static void
copy_withdraw(struct build *build, uint32_t index)
{
	struct plan *plan = build->plan;
	struct body *body = &plan->bodies[index];

	copy_free(body->copy);
	placement_free(body->placement);
	free(body->former);
	free(body->callers);
	body->copy = NULL;
	body->placement = NULL;
	body->former = NULL;
	body->callers = NULL;
	body->nformer = body->ncallers = 0;
	body_forget(body);
	body->state = BODY_WAITING;
	body->site = build_site(build, build->image->arch->first(
		build->image->funcs[body->func].addr), index);
	plan->sites[body->site].waiting = true;
	plan->sites[body->site].idle = false;
	*vec_push(build->todo, build->ntodo) = index;
}

/* Sites that led into copies, none of which is planted any more; *n of them. */
static uint32_t *
leads_withdraw(struct plan *plan, size_t *n)
{
	uint32_t *list = NULL;

	*n = 0;
	for (size_t i = 0; i < plan->nsites; i++) {
		struct site *site = &plan->sites[i];

		if (!site->leads || plan->bodies[site->body].lost)
			continue;
		site->leads = false;
		site->idle = !site->hook;
		*vec_push(list, *n) = i;
	}
	return list;
}

void
plan_copies_withdraw(struct plan *plan)
{
	struct build *build = plan->build;
	size_t n;
	uint32_t *leads = leads_withdraw(plan, &n);

	for (size_t i = 0; i < plan->ncopied; i++)
		if (!plan->bodies[plan->copied[i]].lost)
			copy_withdraw(build, plan->copied[i]);
	plan->ncopied = 0;
	build_analyse(build);
	/* What is a trap again; entries have been settled. */
	for (size_t i = 0; i < n; i++) {
		const struct site *site = &plan->sites[leads[i]];

		if (!site->idle && (site->body == BODY_NONE ||
				    plan->bodies[site->body].site != leads[i]))
			*vec_push(plan->settled, plan->nsettled) = leads[i];
	}
	free(leads);
}

static bool
overlaps(uint64_t at, uint64_t len, uint64_t lo, uint64_t size)
{
	return at < lo + size && lo < at + len;
}

/* Is the byte at addr one of the point's patch? */
static bool
point_covers(const struct arch *arch, const struct point *point, uint64_t addr)
{
	unsigned len = point->via == VIA_JUMP ? arch->jump_len :
		       point->via == VIA_HOP ? arch->hop_len :
					       arch->trap_len;

	return overlaps(addr, arch->trap_len, point->addr, len) ||
	       (point->via == VIA_HOP && overlaps(addr, arch->trap_len,
						  point->hole, arch->jump_len));
}

/*
 * A trap, by which control is led into the copy or goes on; its site may have
 * been given up before.
 */
static void
trap_make(struct build *build, uint32_t index, uint64_t addr, bool leads)
{
	struct plan *plan = build->plan;
	uint32_t site = build_site(build, addr, index);

	/* What was there for a hook alone had no body. */
	if (leads)
		plan->sites[site].body = index;
	plan->sites[site].idle = false;
	plan->sites[site].leads = leads;
	*vec_push(plan->settled, plan->nsettled) = site;
}

/* Its patch covers what must be free: a trap takes one byte only. */
static void
point_reopen(struct build *build, uint32_t index, struct point *point)
{
	struct plan *plan = build->plan;
	struct body *body = &plan->bodies[index];

	*vec_push(body->former, body->nformer) = *point;
	*vec_push(plan->reopened, plan->nreopened) = index;
	point->via = VIA_TRAP;
	trap_make(build, index, point->addr, true);
}

/*
 * What is copied is not to be run in the original any more: control is led
 * from there.  What is run in the original may be if nothing is derived.
 */
void
copy_intrude(struct build *build, uint32_t index, uint64_t target)
{
	struct plan *plan = build->plan;
	struct body *body = &plan->bodies[index];
	bool copied = copy_offset(body->copy, target) >= 0 &&
		      !copy_stays(body->copy, target);

	if (body->lost || copy_point(body->copy, target))
		return;
	if (cfg_insn(body->cfg, target) < 0 ||
	    (copied && plan->wish.no_traps) ||
	    (!copied && body->units & ~(1U << UNIT_FUNC))) {
		body->lost = true;
		*vec_push(plan->reverted, plan->nreverted) = index;
		return;
	}
	if (!copied)
		return;
	for (uint32_t i = 0; i < body->copy->npoints; i++)
		if (point_covers(build->image->arch, &body->copy->points[i],
				 target))
			point_reopen(build, index, &body->copy->points[i]);
	trap_make(build, index, target, true);
}

void
copy_hook(struct build *build, uint32_t index, uint64_t addr)
{
	struct body *body = &build->plan->bodies[index];
	bool leads = copy_offset(body->copy, addr) >= 0 &&
		     !copy_stays(body->copy, addr);

	if (body->lost)
		return;
	for (uint32_t i = 0; i < body->copy->npoints; i++) {
		struct point *point = &body->copy->points[i];

		leads |= point->addr == addr;
		if (point->via != VIA_TRAP &&
		    point_covers(build->image->arch, point, addr))
			point_reopen(build, index, point);
	}
	/* Calls that lead past the trap are to do so no more. */
	if (addr == body->copy->entry)
		*vec_push(build->plan->reopened, build->plan->nreopened) =
			index;
	trap_make(build, index, addr, leads);
}
