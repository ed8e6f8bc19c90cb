/*
 * Looks at functions: has their graphs made (plan_graph.c), and places counters
 * for the arcs that the units asked for need (wanted.c).  Knows nothing of
 * processes; the monitor plants the sites added here.
 */
#include "probe/beginning.h"
#include "probe/build.h"
#include "probe/probes.h"

#include <stdlib.h>

#include "util/addrs.h"
#include "util/fail.h"
#include "util/mem.h"

/* ---- sites */

struct addrs {
	uint64_t *addrs;
	size_t n;
};

/*
 * Count how often each call in the middle of a counted block came back, for
 * placements from which that is not derived.
 */
static void
passes_place(struct func_plan *fplan, struct addrs *addrs)
{
	const struct placement *placement = fplan->placement;
	const struct cfg *cfg = fplan->cfg;
	bool *counted = mem_alloc(flow_arcs(fplan->flow));

	for (uint32_t i = 0; i < placement->narcs; i++)
		counted[placement->arcs[i]] = true;
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];

		if (!counted[arc_of_block(fplan->flow, FLOW_BLOCK + b)])
			continue;
		for (uint32_t i = 1; i < block->count; i++) {
			uint32_t insn = block->first + i;

			if (!insn_comes_back(&cfg->insns[insn - 1]))
				continue;
			*vec_push(fplan->passes, fplan->npasses) =
				(struct pass){ .insn = insn };
			*vec_push(addrs->addrs,
				  addrs->n) = cfg->insns[insn].addr;
		}
	}
	free(counted);
}

/*
 * Whether it is to be counted where the instruction goes.  A jump with unknown
 * targets may go to the middle of a block, which has no trap.
 */
static bool
insn_targets(const struct plan *plan, const struct func_plan *fplan, size_t i)
{
	const struct insn *insn = &fplan->cfg->insns[i];

	if (!cfg_proven(fplan->cfg, i))
		return false;
	if (fplan->units & 1U << UNIT_CALL && insn_calls_indirect(insn))
		return true;
	return insn->kind == INSN_JUMP_INDIRECT && insn->flow == FLOW_PLAIN &&
	       plan->image->arch->emit.jump_write &&
	       plan->options.method != PLACE_ONCE;
}

static void
targets_place(const struct plan *plan, const struct func_plan *fplan,
	      struct addrs *addrs)
{
	for (size_t i = 0; i < fplan->cfg->ninsns; i++)
		if (insn_targets(plan, fplan, i))
			*vec_push(addrs->addrs,
				  addrs->n) = fplan->cfg->insns[i].addr;
}

static void
passes_make(struct plan *plan, struct func_plan *fplan)
{
	const struct cfg *cfg = fplan->cfg;

	for (size_t i = 0; i < fplan->npasses; i++) {
		struct pass *pass = &fplan->passes[i];
		uint32_t block = cfg_block_of(cfg, pass->insn);
		uint32_t first = cfg->blocks[block].first;

		pass->site = plan_site(plan, cfg->insns[pass->insn].addr) -
			     plan->sites;
		pass->first = plan_site(plan, cfg->insns[first].addr) -
			      plan->sites;
	}
}

static void
counter_refs_make(struct build *build, struct func_plan *fplan,
		  const struct probe_list *list)
{
	struct plan *plan = build->plan;
	struct term term;

	for (uint32_t i = 0; i < list->n; i++) {
		must(arc_term(fplan->flow, fplan->cfg, list->probes[i].element,
			      &term));
		if (i < fplan->placement->narcs)
			fplan_counter_ref(plan, fplan, &term);
		else
			site_read(plan, &term);
	}
	passes_make(plan, fplan);
	for (size_t i = 0; i < fplan->cfg->ninsns; i++)
		if (insn_targets(plan, fplan, i))
			plan_site(plan, fplan->cfg->insns[i].addr)->targets =
				true;
}

/* Give sites to jumps past a prefix, which could bypass a trap there. */
static void
skips_place(struct build *build, uint32_t index)
{
	const struct cfg *cfg = build->plan->fplans[index].cfg;

	for (size_t i = 0; i < cfg->ninsns; i++) {
		uint32_t site;

		if (!cfg->insns[i].skips || !cfg_proven(cfg, i))
			continue;
		site = build_site(build, cfg->insns[i].addr, index);
		build->plan->sites[site].idle = false;
		build->plan->sites[site].skips = true;
	}
}

/*
 * Place the sites of a function plan that counts by traps: where its probes'
 * elements are, and where else counting needs them.
 */
static void
sites_place(struct build *build, uint32_t index)
{
	struct func_plan *fplan = &build->plan->fplans[index];
	struct probe_list list = fplan_probes(build->plan, fplan);
	struct addrs addrs = { 0 };
	struct term term;

	for (uint32_t i = 0; i < list.n; i++) {
		must(arc_term(fplan->flow, fplan->cfg, list.probes[i].element,
			      &term));
		*vec_push(addrs.addrs, addrs.n) = term.addr;
	}
	if (build->plan->options.method == PLACE_EVERY ||
	    build->plan->options.method == PLACE_ONCE)
		passes_place(fplan, &addrs);
	targets_place(build->plan, fplan, &addrs);
	site_rest(build->plan, fplan->site);
	addrs_sort(addrs.addrs, addrs.n);
	for (size_t i = 0; i < addrs.n; i++) {
		uint32_t site = build_site(build, addrs.addrs[i], index);

		build->plan->sites[site].idle = false;
	}
	free(addrs.addrs);
	skips_place(build, index);
	counter_refs_make(build, fplan, &list);
	probe_list_free(&list);
}

static void
counters_place(struct build *build, uint32_t index, size_t hooks)
{
	struct func_plan *fplan = &build->plan->fplans[index];
	bool *wanted = arcs_want(build, fplan);
	const struct plan_options *plan_options = &build->plan->options;
	struct weights *weights = NULL;
	struct placement_input input = {
		.method = plan_options->method,
		.wanted = wanted,
		.traps = true,
		.tables = true,
	};

	if (plan_options->weigh)
		weights = plan_options->weigh(plan_options->ctx, build->plan,
					      fplan);
	if (!weights)
		weights = weights_guess(fplan->flow, fplan->cfg);
	if (relocated_place_counters(build, index, wanted, weights, hooks)) {
		/* The relocated function counts. */
	} else if ((fplan_calls_alone(fplan) && !plan_options->whole) ||
		   plan_options->no_traps) {
		calls_place(build, index);
	} else {
		fplan->placement = placement_make(fplan->flow, weights, &input);
		sites_place(build, index);
	}
	weights_free(weights);
	free(wanted);
}

/* ---- looking at functions and placing their counters */

/*
 * If instructions overlap a trap at one would change the other: then make the
 * function plan FPLAN_FAULTY, with nothing planted.
 */
static bool
fplan_overlaps(struct build *build, struct func_plan *fplan)
{
	if (!fplan->cfg->overlap)
		return false;
	site_rest(build->plan, fplan->site);
	fplan_ready(build, fplan);
	fplan_clear(fplan);
	fplan->state = FPLAN_FAULTY;
	fplan->why = "its instructions overlap";
	return true;
}

/*
 * Make the graph and note its mid-entries into other functions, which must be
 * looked at, too.  If the graph was made before, note them again: more of it
 * may be reached now.
 */
static void
fplan_look(struct build *build, uint32_t index)
{
	struct plan *plan = build->plan;
	struct func_plan *fplan = &plan->fplans[index];
	uint64_t end;

	if (fplan->state == FPLAN_READY && fplan->cfg && fplan->mid_entered)
		mid_entries_note(build, index);
	if (fplan->state != FPLAN_WAITING)
		return;
	/* A counter in a relocated function costs less than a trap. */
	if (fplan_calls_alone(fplan) &&
	    !((plan->options.relocated || plan->options.whole) &&
	      fplan->nranges && fplan->entry)) {
		fplan_ready(build, fplan);
		calls_place(build, index);
		return;
	}
	if (!fplan->cfg && beginning_find(build, index, &end))
		fplan_graph_beginning(build, fplan, end);
	else if (!fplan->cfg)
		fplan_graph(build, fplan);
	if (fplan_overlaps(build, fplan) || neighbours_enter(build, index))
		return;
	fplan->looked = true;
	fplan_parts(build, index);
	mid_entries_note(build, index);
	*vec_push(build->looked, build->nlooked) = index;
}

/*
 * Place the counter of a function plan that has the graph of its beginning
 * alone.  If that is not as cheap as with its whole graph, have it looked at
 * again, to get that.
 */
static void
beginning_place(struct build *build, uint32_t index)
{
	struct func_plan *fplan = &build->plan->fplans[index];
	struct weights *weights = weights_guess(fplan->flow, fplan->cfg);
	bool *wanted = arcs_want(build, fplan);
	bool placed = relocated_place_counters(build, index, wanted, weights,
					       build->plan->nhooks);

	weights_free(weights);
	free(wanted);
	if (placed) {
		fplan_ready(build, fplan);
		return;
	}
	free(fplan->stays);
	fplan->stays = NULL;
	fplan->whole = true;
	fplan_clear(fplan);
	*vec_push(build->todo, build->ntodo) = index;
}

static void
fplan_place(struct build *build, uint32_t index)
{
	struct func_plan *fplan = &build->plan->fplans[index];
	size_t hooks = build->plan->nhooks;

	if (fplan->state != FPLAN_WAITING)
		return;
	if (fplan->partial) {
		beginning_place(build, index);
		return;
	}
	fplan_ready(build, fplan);
	if (fplan->units & ~(1U << UNIT_FUNC) && !build->plan->options.unhooked)
		fplan_hooks(build, fplan, hooks_wanted(build->plan));
	counters_place(build, index, hooks);
	hooks_place(build, hooks);
}

bool
build_goes_on(struct build *build)
{
	if (build->progress && !build->stopped)
		build->stopped = !build->progress(build->arg);
	return !build->stopped;
}

/*
 * Make all graphs before placing any counter: one function may jump into the
 * middle of another.
 */
void
build_analyse(struct build *build)
{
	while ((build->ntodo || build->nlooked) && build_goes_on(build))
		if (build->ntodo)
			fplan_look(build, build->todo[--build->ntodo]);
		else
			fplan_place(build, build->looked[--build->nlooked]);
}

/* ---- taking relocated functions back */

/* Make the function plan wait again, with a trap at its entry if it is named. */
static void
fplan_withdraw(struct build *build, uint32_t index)
{
	struct plan *plan = build->plan;
	struct func_plan *fplan = &plan->fplans[index];

	fplan_unplace(fplan);
	fplan_clear(fplan);
	fplan->state = FPLAN_WAITING;
	*vec_push(build->todo, build->ntodo) = index;
	if (fplan->func == FUNC_NONE)
		return;
	fplan->site = build_site(build,
				 build->image->arch->first(
					 build->image->funcs[fplan->func].addr),
				 index);
	plan->sites[fplan->site].waiting = true;
	plan->sites[fplan->site].idle = false;
}

/*
 * Take back the sites that led into relocated functions, none of which is
 * planted any more.  Returns their numbers, *n of them, in an array owned by
 * the caller.
 */
static uint32_t *
leads_withdraw(struct plan *plan, size_t *n)
{
	uint32_t *list = NULL;

	*n = 0;
	for (size_t i = 0; i < plan->nsites; i++) {
		struct site *site = &plan->sites[i];

		if (!site->leads || plan->fplans[site->fplan].lost)
			continue;
		site->leads = false;
		site->idle = !site->hook;
		*vec_push(list, *n) = i;
	}
	return list;
}

void
plan_relocation_withdraw(struct plan *plan)
{
	struct build *build = plan->build;
	size_t n;
	uint32_t *leads = leads_withdraw(plan, &n);

	for (size_t i = 0; i < plan->nrelocated; i++)
		if (!plan->fplans[plan->relocated_fplans[i]].lost)
			fplan_withdraw(build, plan->relocated_fplans[i]);
	plan->nrelocated = 0;
	build_analyse(build);
	/* Wake sites that are traps again; entries have been woken already. */
	for (size_t i = 0; i < n; i++) {
		const struct site *site = &plan->sites[leads[i]];

		if (!site->idle && (site->fplan == FPLAN_NONE ||
				    plan->fplans[site->fplan].site != leads[i]))
			*vec_push(plan->woken, plan->nwoken) = leads[i];
	}
	free(leads);
}
