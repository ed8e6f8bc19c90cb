/*
 * Functions that are counted in relocated functions (relocate/): decides
 * whether a function can be, where its counters go, and which traps the
 * relocated function needs.  The monitor writes all that into processes.
 */
#include <stdlib.h>

#include "probe/build.h"
#include "probe/probes.h"
#include "relocate/pc_map.h"
#include "relocate/relocate.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/search.h"

/* Compilers align functions to multiples of this. */
enum { FUNC_ALIGN = 16 };

static const uint8_t *
relocated_text(void *ctx, uint64_t addr, size_t *avail)
{
	return image_text(ctx, addr, avail);
}

/*
 * Why a function with the hooks from number `first` on runs in place, or NULL.
 * A system call that returns to its caller as any other is made in its place
 * anyway, where the hook has its trap.
 */
static const char *
hooks_stay(const struct plan *plan, size_t first)
{
	const char *why = NULL;

	for (size_t i = first; i < plan->nhooks; i++)
		switch ((enum hook_kind)plan->hooks[i].kind) {
		case HOOK_STACK_SWITCH:
		case HOOK_ENTRY:
			return "it switches stacks";
		case HOOK_MAP:
		case HOOK_SIGACTION:
		case HOOK_SIGPROCMASK:
			break;
		default:
			why = "pmon stops at a system call in it";
		}
	return why;
}

/*
 * Why the function must run in place, or NULL.  Its own hooks are those from
 * number `hooks` on.
 */
static const char *
fplan_stays(const struct build *build, const struct func_plan *fplan,
	    size_t hooks)
{
	const struct site *site;
	const char *why;

	if ((fplan->func == FUNC_NONE && !fplan->stub) || fplan->cfg->entry < 0)
		return "code outside any function";
	/* The jump may go to the middle of a patch. */
	if (fplan->cfg->unresolved && !build->plan->options.springs)
		return "it has a jump whose targets are not known";
	why = hooks_stay(build->plan, hooks);
	if (why)
		return why;
	if (image_restarts(build->image, fplan->ranges, fplan->nranges))
		return "it has a restartable sequence (rseq)";
	for (size_t i = 0; i < fplan->cfg->ninsns; i++)
		if (fplan->units & 1U << UNIT_CALL &&
		    fplan->cfg->insns[i].kind == INSN_JUMP_INDIRECT &&
		    insn_calls_indirect(&fplan->cfg->insns[i]))
			return "pmon records its jump targets";
	if (fplan_calls_alone(fplan) && !calls_want_ways(fplan, NULL))
		return "it jumps to its own entry, and the jump has no counter";
	site = plan_site(build->plan,
			 fplan->cfg->insns[fplan->cfg->entry].addr);
	return site && site->hook ? "pmon walks stacks at its entry" : NULL;
}

/*
 * The addresses of the instructions from which control comes back to the entry.
 * If unknown jumps lead to code that runs in place, these must not be reached
 * there: the patch at the entry would count a call.  The caller frees them.
 */
static uint64_t *
fplan_returns(const struct func_plan *fplan, size_t *n)
{
	const struct flow *flow = fplan->flow;
	const struct cfg *cfg = fplan->cfg;
	uint64_t *addrs = NULL;
	uint32_t v;

	*n = 0;
	if (!cfg->unresolved || !fplan_calls_alone(fplan))
		return NULL;
	v = flow->edges[0].to;
	for (uint32_t i = flow->in[v]; i < flow->in[v + 1]; i++) {
		uint32_t from = flow->edges[flow->ins[i]].from;
		const struct block *block;

		if (from < FLOW_BLOCK)
			continue;
		block = &cfg->blocks[from - FLOW_BLOCK];
		*vec_push(addrs, *n) =
			cfg->insns[block->first + block->count - 1].addr;
	}
	return addrs;
}

/* Whether a trap can lead from where control comes back to the entry. */
static bool
returns_led(const struct func_plan *fplan)
{
	size_t n;
	uint64_t *addrs = fplan_returns(fplan, &n);
	bool led = true;

	for (size_t i = 0; i < n && led; i++)
		led = relocated_offset(fplan->relocated, addrs[i]) >= 0 ||
		      fail("it may jump to its own entry in place") == 0;
	free(addrs);
	return led;
}

/*
 * Place the traps that lead into the relocated function, and those that see
 * where indirect calls go.
 */
static void
relocated_sites(struct build *build, uint32_t index)
{
	struct plan *plan = build->plan;
	struct func_plan *fplan = &plan->fplans[index];
	size_t n;
	uint64_t *addrs = fplan_returns(fplan, &n);

	site_rest(plan, fplan->site);
	for (uint32_t i = 0; i < fplan->relocated->nentry_patches; i++)
		if (fplan->relocated->entry_patches[i].via == VIA_TRAP ||
		    fplan->relocated->entry_patches[i].via == VIA_SPRING)
			*vec_push(addrs,
				  n) = fplan->relocated->entry_patches[i].addr;
	for (size_t i = 0; i < n; i++) {
		uint32_t site = build_site(build, addrs[i], index);

		plan->sites[site].idle = false;
		plan->sites[site].leads = true;
	}
	free(addrs);
	relocated_middles(build, index);
	for (size_t i = 0; i < fplan->cfg->ninsns; i++)
		if (fplan->units & 1U << UNIT_CALL &&
		    insn_calls_indirect(&fplan->cfg->insns[i]) &&
		    cfg_proven(fplan->cfg, i)) {
			uint32_t site = build_site(build,
						   fplan->cfg->insns[i].addr,
						   index);

			plan->sites[site].idle = false;
			plan->sites[site].targets = true;
		}
}

/*
 * Whether the only probe is at the entry and counts the calls.  Then nothing is
 * derived, and the rest of the function may run in place.
 */
static bool
entry_alone(const struct probe_list *list)
{
	const struct flow *flow = list->fplan->flow;
	uint32_t v;

	if (list->fplan->units & ~(1U << UNIT_FUNC) || list->n != 1 ||
	    !flow->nedges || flow->edges[0].from != FLOW_ROOT)
		return false;
	v = flow->edges[0].to;
	return list->probes[0].element == arc_of_block(flow, v) &&
	       flow->in[v + 1] - flow->in[v] == 1;
}

/*
 * Whether an indirect call is done in the relocated function, where no trap
 * sees its target; then the message is set.
 */
static bool
targets_hidden(const struct func_plan *fplan)
{
	for (size_t i = 0; i < fplan->cfg->ninsns; i++)
		if (fplan->units & 1U << UNIT_CALL &&
		    insn_calls_indirect(&fplan->cfg->insns[i]) &&
		    relocated_offset(fplan->relocated,
				     fplan->cfg->insns[i].addr) >= 0)
			return fail("pmon would not see the targets of its "
				    "indirect calls") != 0;
	return false;
}

/* Whether one of its counters saves flags; then the message is set. */
static bool
counters_save_flags(const struct relocated *relocated)
{
	for (uint32_t i = 0; i < relocated->nfragments; i++)
		if (relocated->fragments[i].kind == FRAGMENT_PROBE &&
		    relocated->fragments[i].form == PROBE_THREAD_KEEP)
			return fail("its counters must save the flags") != 0;
	return false;
}

/*
 * Whether the relocated function needs no traps, after its guards are dropped;
 * if it does the message is set.  A counter that has to keep flags will not do:
 * it needs the monitor if a signal comes.
 */
static bool
relocated_trapless(struct relocated *relocated)
{
	uint32_t n = 0;

	if (counters_save_flags(relocated))
		return false;
	for (uint32_t i = 0; i < relocated->nentry_patches; i++) {
		const struct entry_patch *entry_patch =
			&relocated->entry_patches[i];

		if (entry_patch->kind == ENTRY_PATCH_GUARD)
			continue;
		if (entry_patch->via == VIA_TRAP ||
		    entry_patch->via == VIA_SPRING)
			return fail("there is no room for a jump") == 0;
		relocated->entry_patches[n++] = *entry_patch;
	}
	relocated->nentry_patches = n;
	return true;
}

/*
 * Whether nothing but a jump leads into the relocated function, and its counter
 * saves no flags; if not the message is set.  With its whole graph a function
 * may have that where its beginning alone does not.
 */
static bool
relocated_suffices(const struct relocated *relocated)
{
	const struct entry_patch *patch = relocated_entry(relocated);

	if (counters_save_flags(relocated))
		return false;
	return (relocated->nentry_patches == 1 && patch &&
		patch->via == VIA_JUMP) ||
	       fail("there is no room for a jump") == 0;
}

/*
 * Whether the plan can use the relocated function, from which guards may be
 * dropped; if not the message is set.
 */
static bool
relocated_usable(const struct plan *plan, const struct func_plan *fplan)
{
	if (fplan->partial && !relocated_suffices(fplan->relocated))
		return false;
	return !targets_hidden(fplan) && returns_led(fplan) &&
	       (!plan->options.no_traps ||
		relocated_trapless(fplan->relocated));
}

/* Whether the range's last instruction never goes on behind the range. */
static bool
range_closed(const struct cfg *cfg, const struct range *range)
{
	size_t at = search_first(cfg->ninsns, i,
				 cfg->insns[i].addr + cfg->insns[i].len >=
					 range->hi);
	const struct insn *last = &cfg->insns[at];

	if (at == cfg->ninsns || last->addr + last->len != range->hi)
		return false;
	return last->kind == INSN_JUMP || last->kind == INSN_JUMP_INDIRECT ||
	       last->kind == INSN_RETURN || last->kind == INSN_STOP;
}

/*
 * The padding behind a range, up to where the next function may begin: even a
 * function without a name or frame begins at a round address.  One byte shorter
 * than a jump at most, so that no jump begins there: a task at it would be in
 * no function.
 */
static struct spare
range_spare(const struct build *build, const struct func_plan *fplan,
	    const struct range *range)
{
	const struct arch *arch = build->image->arch;
	uint64_t hi = range->hi;
	struct spare spare;

	if (!range_closed(fplan->cfg, range))
		return (struct spare){ hi, hi };
	while (hi % FUNC_ALIGN && !image_func(build->image, hi) &&
	       plan_func(build->plan, hi) == FPLAN_NONE)
		hi++;
	spare = spare_padding(arch, relocated_text, (void *)build->image,
			      range->hi, hi);
	if (spare.hi > spare.lo + arch->emit.jump_len - 1)
		spare.hi = spare.lo + arch->emit.jump_len - 1;
	return spare;
}

/* The padding behind its ranges, for relocated_make; the caller frees it. */
static struct spare *
fplan_spares(const struct build *build, const struct func_plan *fplan,
	     size_t *n)
{
	struct spare *spares = NULL;

	*n = 0;
	for (size_t i = 0; i < fplan->nranges; i++) {
		struct spare spare = range_spare(build, fplan,
						 &fplan->ranges[i]);

		if (spare.lo < spare.hi)
			*vec_push(spares, *n) = spare;
	}
	return spares;
}

/*
 * Whether no trap is where a patch at the entry of a function with unknown
 * jumps would be; if not the message is set.
 */
static bool
unknown_allowed(const struct build *build, const struct func_plan *fplan)
{
	uint64_t addr = fplan->cfg->insns[fplan->cfg->entry].addr;

	for (unsigned i = 1; i < build->image->arch->emit.jump_len; i++)
		if (plan_site(build->plan, addr + i))
			return fail("there is a trap near its entry") == 0;
	return true;
}

static struct relocated *
fplan_relocate(const struct build *build, const struct probe_list *list,
	       const struct weights *weights)
{
	const struct func_plan *fplan = list->fplan;
	bool unknown = fplan->cfg->unresolved;
	size_t nspares;
	struct spare *spares = fplan_spares(build, fplan, &nspares);
	struct relocated *relocated = relocated_make(&(struct relocate_input){
		.arch = build->image->arch,
		.cfg = fplan->cfg,
		.flow = fplan->flow,
		.weights = weights,
		.probes = list->probes,
		.nprobes = list->n,
		.slot = list->slot,
		.shared = build->plan->options.shared,
		.extent = entry_alone(list) ? EXTENT_PROBED : EXTENT_WHOLE,
		.unknown = unknown,
		.absolute = !build->image->dyn,
		.text = relocated_text,
		.ctx = (void *)build->image,
		.spares = spares,
		.nspares = unknown ? 0 : nspares,
	});

	free(spares);
	return relocated;
}

/*
 * Record the relocated function's direct calls with their callees, which may
 * have or get relocated functions to which the calls can be redirected.
 */
static void
relocated_calls(struct plan *plan, const struct relocated *relocated)
{
	for (uint32_t i = 0; i < relocated->ncalls; i++) {
		uint32_t to = plan_func(plan, relocated->calls[i].target);
		struct func_plan *fplan;

		if (to == FPLAN_NONE || !plan->fplans[to].units)
			continue;
		fplan = &plan->fplans[to];
		*vec_push(fplan->callers,
			  fplan->ncallers) = relocated->calls[i];
	}
}

/* Reserve a slot to which nothing adds: a stray write may change it. */
static void
guard_place(struct plan *plan)
{
	*vec_push(plan->guards, plan->nguards) = plan->nslots++;
}

uint32_t
plan_tables_max(const struct image *image)
{
	return (uint32_t)(image_size(image) / 16 + 512);
}

/* How many edges of its indirect jumps have a counter. */
static uint32_t
tables_counted(const struct func_plan *fplan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fplan->placement->narcs; i++) {
		uint32_t arc = fplan->placement->arcs[i];

		n += arc < fplan->flow->nedges &&
		     fplan->flow->edges[arc].by == BY_TABLE;
	}
	return n;
}

/*
 * Whether the function has got a relocated function with counters as wished.
 * *tables: how many edges of its jumps have, or would have had, one.
 */
static bool
relocated_try(struct build *build, struct func_plan *fplan,
	      const struct weights *weights,
	      const struct placement_input *input, uint32_t *tables)
{
	struct probe_list list;

	fplan->placement = placement_make(fplan->flow, weights, input);
	list = fplan_probes(build->plan, fplan);
	*tables = tables_counted(fplan);
	if (build->plan->ntables + *tables > plan_tables_max(build->image))
		fail("there is no room for the counters of its jumps");
	else if (!fplan->cfg->unresolved || unknown_allowed(build, fplan))
		fplan->relocated = fplan_relocate(build, &list, weights);
	probe_list_free(&list);
	if (fplan->relocated && !relocated_usable(build->plan, fplan)) {
		relocated_free(fplan->relocated);
		fplan->relocated = NULL;
	}
	if (fplan->relocated) {
		build->plan->ntables += *tables;
		return true;
	}
	placement_free(fplan->placement);
	fplan->placement = NULL;
	return false;
}

/*
 * Whether the function has got a relocated function with counters as wished, or
 * else without those of its jumps' edges.  Locked counters are placed where no
 * flags are in use, if there are such places.
 */
static bool
relocated_tries(struct build *build, struct func_plan *fplan,
		const struct weights *weights, struct placement_input *input)
{
	bool *spoilt = NULL, placed;
	uint32_t tables;

	if (build->plan->options.shared)
		spoilt = relocated_spoilt(&(struct relocate_input){
			.arch = build->image->arch,
			.cfg = fplan->cfg,
			.flow = fplan->flow,
			.text = relocated_text,
			.ctx = (void *)build->image,
		});
	input->ctx = spoilt;
	placed = relocated_try(build, fplan, weights, input, &tables);
	if (!placed && tables) {
		input->tables = false;
		placed = relocated_try(build, fplan, weights, input, &tables);
	}
	free(spoilt);
	return placed;
}

bool
relocated_place_counters(struct build *build, uint32_t index,
			 const bool *wanted, const struct weights *weights,
			 size_t hooks)
{
	struct plan *plan = build->plan;
	struct func_plan *fplan = &plan->fplans[index];
	struct placement_input input = {
		.method = plan->options.method,
		.wanted = wanted,
		.tables = !plan->options.no_traps,
		.whole = true,
		.ends = fplan_calls_alone(fplan),
		.cost = relocated_cost,
	};
	const char *why;

	/*
	 * For calls alone no stacks are walked, so nothing is derived.  Once a
	 * walk was truncated, as little as possible is derived.
	 */
	if (!(fplan->units & ~(1U << UNIT_FUNC)) || plan->options.no_traps ||
	    (plan->calls_underivable && !plan->options.leaks))
		input.method = PLACE_EVERY;
	if (!plan->options.relocated)
		return false;
	why = fplan_stays(build, fplan, hooks);
	if (why) {
		fplan->stays = mem_strdup(why);
		return false;
	}
	if (!plan->nguards)
		guard_place(plan);
	if (!relocated_tries(build, fplan, weights, &input)) {
		fplan->stays = mem_strdup(fail_message());
		return false;
	}
	plan->nslots += fplan->relocated->nprobes;
	guard_place(plan);
	fplan->relocated_at = (plan->relocated_size + fplan->relocated->align -
			       1) /
			      fplan->relocated->align * fplan->relocated->align;
	plan->relocated_size = fplan->relocated_at + fplan->relocated->size;
	*vec_push(plan->relocated_fplans, plan->nrelocated) = index;
	relocated_sites(build, index);
	relocated_calls(plan, fplan->relocated);
	return true;
}

void
plan_relocation_refuse(struct plan *plan, const char *why)
{
	plan->options.relocated = false;
	if (!plan->stays)
		plan->stays = mem_strdup(why);
}

void
fplan_unplace(struct func_plan *fplan)
{
	relocated_free(fplan->relocated);
	placement_free(fplan->placement);
	free(fplan->former);
	free(fplan->callers);
	fplan->relocated = NULL;
	fplan->placement = NULL;
	fplan->former = NULL;
	fplan->callers = NULL;
	fplan->nformer = fplan->ncallers = 0;
}
