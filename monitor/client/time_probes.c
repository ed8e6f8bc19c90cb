/*
 * Chooses the probes by which calls are measured: at the entries and exits of
 * functions, and where these handle exceptions.  Knows nothing of tasks.
 */
#include "monitor/client/times_inner.h"

#include <stdlib.h>

#include "monitor/client/slow_calls.h"
#include "monitor/client/tracing.h"
#include "util/addrs.h"
#include "util/mem.h"
#include "util/search.h"

uint32_t
timed_func_number(struct run *run, struct plan *plan, uint32_t fplan)
{
	struct timing *timing = run->timing;
	struct timed_plan *of = NULL;
	uint32_t *number;

	for (size_t i = 0; i < timing->nplans && !of; i++)
		if (timing->plans[i].plan == plan)
			of = &timing->plans[i];
	if (!of) {
		of = vec_push(timing->plans, timing->nplans);
		*of = (struct timed_plan){
			.plan = plan,
			.funcs = mem_numbers(plan->nfplans, 0),
		};
	}
	number = &of->funcs[fplan];
	if (!*number) {
		*vec_push(timing->funcs, timing->nfuncs) = (struct timed_func){
			.plan = plan, .fplan = fplan
		};
		*number = (uint32_t)timing->nfuncs;
		if (run->tracing)
			tracing_func(run->tracing, plan, fplan);
	}
	return *number - 1;
}

/* The probes that are being asked for. */
struct asking {
	struct probe_list *list;
	struct timed_func *func;
	uint32_t number;
	struct func_plan *fplan;
	enum probe_op op;
};

/* Is it recorded before the instruction's events? */
static bool
record_begins(enum record_kind kind)
{
	return kind == RECORD_ENTER || kind == RECORD_LAND;
}

/* Ask for a probe that records; without one, times cannot be known. */
static void
record_ask(struct asking *asking, uint32_t element, enum record_kind kind)
{
	uint32_t what = asking->number * RECORD_KINDS + kind;
	struct timed_func *func = asking->func;
	struct term term;
	size_t i;

	if (probe_ask(asking->list, element, asking->op, (int32_t)what)) {
		if (!asking->fplan->untimed)
			asking->fplan->untimed = mem_strdup(fail_message());
		return;
	}
	must(arc_term(asking->fplan->flow, asking->fplan->cfg, element, &term));
	i = search_first(func->nsites, k,
			 func->sites[k].addr > term.addr ||
				 (func->sites[k].addr == term.addr &&
				  record_begins(kind)));
	*vec_insert(func->sites, func->nsites, i) = (struct timed_site){
		.addr = term.addr,
		.kind = term.kind,
		.record = kind,
	};
}

/* Does the edge come from a block that is known to be code? */
static bool
edge_known(const struct func_plan *fplan, const struct flow_edge *edge)
{
	return edge->from >= FLOW_BLOCK &&
	       fplan->cfg->blocks[edge->from - FLOW_BLOCK].proof == PROOF_FLOW;
}

static bool
edge_goes_back(const struct func_plan *fplan, const struct flow_edge *edge)
{
	return edge->to == fplan->flow->edges[0].to && edge_known(fplan, edge);
}

/* Does control leave the function for good by the edge's last instruction? */
static bool
edge_leaves(const struct func_plan *fplan, const struct flow_edge *edge)
{
	const struct block *from;

	if (edge->to != FLOW_EXIT || !edge_known(fplan, edge) ||
	    edge->by == BY_LEAK)
		return false;
	from = &fplan->cfg->blocks[edge->from - FLOW_BLOCK];
	switch (fplan->cfg->insns[from->first + from->count - 1].kind) {
	case INSN_RETURN:
	case INSN_JUMP:
	case INSN_JUMP_INDIRECT:
	case INSN_BRANCH:
		return true;
	default:
		return false;
	}
}

/* At the exits, and where control goes back to the entry. */
static void
leaves_ask(struct asking *asking)
{
	const struct flow *flow = asking->fplan->flow;

	for (uint32_t e = 0; e < flow->nedges; e++)
		if (edge_leaves(asking->fplan, &flow->edges[e]))
			record_ask(asking, e, RECORD_LEAVE);
		else if (edge_goes_back(asking->fplan, &flow->edges[e]))
			record_ask(asking, e, RECORD_BACK);
}

/* At the entry, and where exceptions are handled. */
static void
enters_ask(struct asking *asking, const struct image *image)
{
	const struct flow *flow = asking->fplan->flow;
	const struct cfg *cfg = asking->fplan->cfg;

	record_ask(asking, arc_of_block(flow, flow->edges[0].to), RECORD_ENTER);
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		if (cfg->blocks[b].proof == PROOF_FLOW &&
		    addrs_has(image->pads, image->npads,
			      cfg->insns[cfg->blocks[b].first].addr))
			record_ask(asking, arc_of_block(flow, FLOW_BLOCK + b),
				   RECORD_LAND);
}

/* Whether the function's calls are measured. */
static bool
func_measured(const struct run *run, const struct plan *plan,
	      const struct func_plan *fplan)
{
	const struct func *func = fplan_func(fplan, plan->image);

	return func && fplan->units &&
	       (!run->opts->per.funcs.n ||
		select_func(&run->opts->per, func->name, func->aliases,
			    func->naliases));
}

static void
unmeasured(struct func_plan *fplan, const char *why)
{
	if (!fplan->untimed)
		fplan->untimed = mem_strdup(why);
}

/*
 * What is asked for later is done earlier: a call begins before the events of its
 * entry, and ends behind those of its exit.
 */
void
timed_choose(struct run *run, struct plan *plan, struct probe_list *list)
{
	uint32_t index = (uint32_t)(list->fplan - plan->fplans);
	struct asking asking = {
		.list = list,
		.fplan = &plan->fplans[index],
		.op = run->timing->event ? PROBE_RECORD_EVENTS : PROBE_RECORD,
	};
	const struct flow *flow = list->fplan->flow;
	bool measured = func_measured(run, plan, list->fplan);
	bool entry = flow->nedges && flow->edges[0].from == FLOW_ROOT;

	if (!measured && !run->timing->event)
		return;
	asking.number = timed_func_number(run, plan, index);
	asking.func = &run->timing->funcs[asking.number];
	asking.func->nsites = 0;
	free(asking.func->sites);
	asking.func->sites = NULL;
	free(asking.fplan->untimed);
	asking.fplan->untimed = NULL;
	if (measured)
		asking.func->slow = slow_limit(
			run->opts, &plan->image->funcs[list->fplan->func]);
	if (measured && plan->options.shared)
		unmeasured(asking.fplan, "threads have no memory of their own "
					 "to record in");
	else if (measured && !entry)
		unmeasured(asking.fplan,
			   "the function's beginning is not known");
	if (run->tracing && asking.fplan->untimed)
		tracing_untraced(run->tracing, plan, index,
				 asking.fplan->untimed);
	measured &= entry && !plan->options.shared;
	if (measured)
		leaves_ask(&asking);
	if (run->timing->event)
		events_choose(run, asking.func, list);
	if (measured)
		enters_ask(&asking, plan->image);
}

void
timed_note(struct pending *pending, const struct timed_func *func,
	   uint64_t addr, enum site_event what)
{
	size_t i = search_first(func->nsites, k, func->sites[k].addr >= addr);

	for (; i < func->nsites && func->sites[i].addr == addr; i++) {
		const struct timed_site *site = &func->sites[i];

		if ((site->kind == TERM_TAKEN) != (what == SITE_TAKEN))
			continue;
		must(pending->n < PENDING_MAX);
		pending->kinds[pending->n++] = site->record;
		pending->falls |= site->kind == TERM_FALL;
	}
}
