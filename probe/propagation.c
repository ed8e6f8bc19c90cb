/*
 * Propagation: derives the counts of all blocks and edges of a plan from
 * counters and abnormal edges.  A count that is contradictory or may be wrong
 * becomes unknown; nothing is ever put right.
 */
#include "probe/propagation.h"

#include <stdlib.h>

#include "probe/came_back.h"
#include "probe/counts.h"
#include "relocate/relocate.h"
#include "util/mem.h"

const char *
count_why(const struct count *count)
{
	if (count->state != COUNT_UNKNOWN)
		return NULL;
	switch ((enum count_reason)count->reason) {
	case REASON_NO_TRAPS:
		return "without breakpoints (--no-traps) pmon does not walk "
		       "stacks";
	case REASON_LEFT:
		return "control left a stack in a way that pmon could not "
		       "follow";
	case REASON_RELOCATED:
		return "pmon had to give up the relocated function that "
		       "counted";
	case REASON_HOST:
		return "the program ran on without breakpoints";
	case REASON_ATTACHED:
		return "a stack could not be walked to its end when counting "
		       "began";
	case REASON_LOST:
		return "a breakpoint could not be planted";
	case REASON_DIFFERS:
		return "the code in memory differs from the file";
	case REASON_CONTRADICTION:
		return "counts contradict one another: control came or went "
		       "unseen; --units=func alone may still count calls";
	case REASON_STACK:
		return "a stack could not be walked to its end";
	case REASON_SIGNAL:
		return "a signal interrupted the function, and the handler may "
		       "not have returned";
	case REASON_UNDERIVABLE:
		return "a thread ended or was interrupted at an unknown "
		       "instruction";
	case REASON_TAMPERED:
		return "the program changed the counters' memory or the "
		       "register that leads to it";
	case REASON_UNPROVEN:
		return "no known control flow leads to it: it may be data";
	case REASON_MID_ENTRY:
		return "other code jumps into the middle of the function";
	case REASON_CAME_BACK:
		return "control went on behind a call or an instruction that "
		       "was taken to end the function";
	case REASON_DROPPED:
		return "pmon dropped a breakpoint that cost too much; --exact "
		       "keeps them";
	case REASON_GRAPH:
		return "its blocks are not those that were counted";
	case REASON_PARTIAL:
		return "not counted in all of the merged files";
	case REASON_OVERFLOW:
		return "the count exceeds 64 bits";
	default:
		return "neither counted nor derivable";
	}
}

static struct count
count_exact(uint64_t n)
{
	return (struct count){ n, COUNT_EXACT, REASON_NONE };
}

/* ---- what a counter set says */

static uint64_t
counter_ref_read(const struct propagation *s,
		 const struct counter_ref *counter_ref)
{
	struct counter counter = propagation_counter(s, counter_ref->site);
	const struct arrival *target;

	switch ((enum term_kind)counter_ref->kind) {
	case TERM_TAKEN:
		return counter.taken;
	case TERM_FALL:
		return counter.hits - counter.taken;
	case TERM_TARGET:
		target = counter_set_arrival(
			(struct counter_set *)s->counter_set, counter_ref->site,
			s->plan, counter_ref->to, false);
		return target ? target->n : 0;
	default:
		return counter.hits;
	}
}

/* ---- function plans */

static void
counts_unknown(struct func_plan *fplan, enum count_reason reason)
{
	for (uint32_t i = 0; i < flow_arcs(fplan->flow); i++)
		fplan->counts[i] = (struct count){ .reason = reason };
}

/* Whether counters that the function plan needs were dropped. */
static bool
fplan_dropped(const struct plan *plan, const struct func_plan *fplan)
{
	bool dropped = fplan->dropped != NULL;

	for (uint32_t i = 0; i < fplan->ncounter_refs; i++) {
		const struct site *site =
			&plan->sites[fplan->counter_refs[i].site];

		dropped |= site->lost && site->lifted;
	}
	return dropped;
}

/* Why counters of the function plan are lost. */
static enum count_reason
lost_reason(const struct plan *plan, const struct func_plan *fplan)
{
	return fplan->differs		       ? REASON_DIFFERS :
	       fplan_dropped(plan, fplan)      ? REASON_DROPPED :
	       fplan->relocated && fplan->lost ? REASON_RELOCATED :
	       plan->unseen		       ? REASON_HOST :
						 REASON_LOST;
}

static void
lost_explain(const struct plan *plan, struct func_plan *fplan)
{
	for (uint32_t i = 0; i < flow_arcs(fplan->flow); i++)
		if (fplan->counts[i].reason == REASON_LOST)
			fplan->counts[i].reason = lost_reason(plan, fplan);
}

static void
relocated_read(const struct propagation *s, const struct func_plan *fplan,
	       uint64_t *counters)
{
	relocated_sum(fplan->relocated, s->counter_set->slots,
		      s->counter_set->nslots, counters,
		      fplan->placement->narcs);
}

/*
 * Make the counts of unproven blocks unknown, if unresolved jumps may lead
 * there: nothing counts them.  The same for the entry's edge, if code in a gap
 * may jump to the entry.
 */
static void
gaps_mark_unknown(const struct func_plan *fplan)
{
	const struct cfg *cfg = fplan->cfg;

	for (uint32_t b = 0; cfg->unresolved && cfg->gaps && b < cfg->nblocks;
	     b++)
		if (cfg->blocks[b].proof == PROOF_NONE)
			fplan->counts[arc_of_block(fplan->flow,
						   FLOW_BLOCK + b)] =
				(struct count){ .reason = REASON_UNPROVEN };
	if (cfg->reentered && fplan->flow->edges[0].from == FLOW_ROOT)
		fplan->counts[0] = (struct count){ .reason = REASON_UNPROVEN };
}

/*
 * With PLACE_ONCE, set whether each block ran, not how often.  The edge from
 * ROOT to the entry gets its block's count.  Blocks to which no edge leads did
 * not run and have no counter.
 */
static void
counts_once(struct func_plan *fplan, const struct measured *measured)
{
	const struct flow *flow = fplan->flow;

	for (size_t i = 0; i < fplan->npasses; i++)
		if (!fplan->passes[i].measured)
			fplan->doubt = REASON_LOST;
	counts_unknown(fplan, REASON_UNPLACED);
	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++)
		if (vert_unled(fplan, v) && !fplan->came_back)
			fplan->counts[arc_of_block(flow, v)] = count_exact(0);
		else if (vert_unled(fplan, v))
			fplan->counts[arc_of_block(flow, v)].reason =
				REASON_CAME_BACK;
	for (uint32_t i = 0; i < fplan->placement->narcs; i++)
		fplan->counts[fplan->placement->arcs[i]] =
			measured->lost[i] ?
				(struct count){ .reason = REASON_LOST } :
				count_exact(measured->counters[i]);
	for (uint32_t i = 0; i < flow_arcs(flow) && fplan->mid_entered; i++)
		if (!fplan->counts[i].n)
			fplan->counts[i] = (struct count){
				.reason = REASON_MID_ENTRY
			};
	if (flow->nedges && flow->edges[0].from == FLOW_ROOT)
		fplan->counts[0] =
			fplan->counts[arc_of_block(flow, flow->edges[0].to)];
}

static void
fplan_measure(const struct propagation *s, const struct func_plan *fplan,
	      uint64_t *counters, bool *lost)
{
	if (fplan->relocated)
		relocated_read(s, fplan, counters);
	for (uint32_t i = 0; i < fplan->ncounter_refs; i++) {
		counters[i] = counter_ref_read(s, &fplan->counter_refs[i]);
		lost[i] = s->plan->sites[fplan->counter_refs[i].site].lost;
	}
}

static void
fplan_propagate(const struct propagation *s, struct func_plan *fplan)
{
	const struct placement *placement = fplan->placement;
	uint64_t *counters;
	bool *lost, *open, *uncounted;
	struct measured measured;

	if (fplan->relocated && s->plan->tampered) {
		counts_unknown(fplan, REASON_TAMPERED);
		return;
	}
	/* Control may also have come to blocks that no known edge leads to. */
	if (fplan->unwritten || (fplan->relocated && fplan->lost)) {
		counts_unknown(fplan, lost_reason(s->plan, fplan));
		return;
	}
	counters = mem_alloc(placement->narcs * sizeof(*counters));
	lost = mem_alloc(placement->narcs);
	measured = (struct measured){ .counters = counters, .lost = lost };
	fplan_measure(s, fplan, counters, lost);
	if (fplan->npasses)
		abnormal_insns_measure(s, fplan);
	measured.open = open = doubt_open(s, fplan);
	measured.doubt = fplan->doubt;
	uncounted = doubt_reach(s, fplan, open);
	for (uint32_t i = 0; i < placement->narcs && uncounted; i++)
		lost[i] |= uncounted[placement->arcs[i]];
	measured.extras = abnormal_insns_extras(fplan, &measured.nextras);
	if (s->plan->options.method == PLACE_ONCE)
		counts_once(fplan, &measured);
	else if (propagate(fplan->flow, placement, &measured, fplan->counts,
			   NULL) != FLOW_CONSISTENT)
		counts_unknown(fplan, REASON_CONTRADICTION);
	gaps_mark_unknown(fplan);
	lost_explain(s->plan, fplan);
	for (uint32_t i = 0; i < flow_arcs(fplan->flow) && uncounted; i++)
		if (fplan->counts[i].state == COUNT_UNKNOWN)
			fplan->counts[i].reason = (uint8_t)doubt_of(s, fplan);
	free((struct flow_extra *)measured.extras);
	free(uncounted);
	free(open);
	free(counters);
	free(lost);
}

/*
 * Find in the abnormal edges of a function plan that was never entered how
 * often control came to its entry and left before that began.  False if the
 * abnormal edges say anything else.
 */
static bool
wait_came(const struct func_plan *fplan, uint64_t *came)
{
	*came = 0;
	for (size_t i = 0; i < fplan->nabnormal_insns; i++) {
		const struct abnormal_insn *abnormal_insn =
			&fplan->abnormal_insns[i];

		if (abnormal_insn->insn == fplan->cfg->entry &&
		    !abnormal_insn->during && !abnormal_insn->came)
			*came = abnormal_insn->left;
		else if ((abnormal_insn->left || abnormal_insn->came) &&
			 !fplan->missed)
			return false;
	}
	return true;
}

/* Set the counts of a function plan that was not entered while counting. */
static void
fplan_wait(const struct propagation *s, struct func_plan *fplan)
{
	const struct site *site = &s->plan->sites[fplan->site];
	const struct flow *flow = fplan->flow;
	enum count_reason doubt = doubt_of_stacks(s, fplan);
	const struct count unknown = { .reason = (uint8_t)doubt_of(s, fplan) };
	bool *open = NULL, *uncounted = NULL;
	bool entered = fplan->mid_entered || fplan->came_back;
	uint64_t came;

	if (fplan->missed) {
		open = doubt_open(s, fplan);
		uncounted = doubt_reach(s, fplan, open);
	}
	if (site->lost || fplan->unwritten) {
		counts_unknown(fplan, lost_reason(s->plan, fplan));
	} else if (!wait_came(fplan, &came)) {
		counts_unknown(fplan, REASON_CONTRADICTION);
	} else {
		for (uint32_t i = 0; i < flow_arcs(flow); i++)
			fplan->counts[i] = entered || (uncounted &&
						       uncounted[i]) ?
						   unknown :
						   count_exact(0);
		if (!uncounted || !uncounted[0])
			fplan->counts[0] =
				doubt == REASON_SIGNAL ?
					(struct count){
						.reason = REASON_SIGNAL
					} :
					count_exact(came);
		fplan->counts[flow->back] = entered || uncounted ?
						    unknown :
						    fplan->counts[0];
	}
	free(open);
	free(uncounted);
}

/*
 * The calls of a function plan whose entry has its own site: the arrivals
 * there, less those by the function's own jumps.
 */
static struct count
entry_count(const struct propagation *s, const struct func_plan *fplan)
{
	const struct site *sites = s->plan->sites;
	enum count_reason doubt = doubt_of_stacks(s, fplan);
	bool lost = sites[fplan->site].lost || fplan->unwritten;
	uint64_t n = 0;

	if (fplan->state == FPLAN_READY)
		n = propagation_counter(s, fplan->site).hits;
	for (size_t i = 0; i < s->counter_set->nabnormals; i++) {
		const struct abnormal_edge *abnormal =
			&s->counter_set->abnormals[i];

		if (abnormal->addr == sites[fplan->site].addr &&
		    !abnormal->during)
			n += abnormal->left - abnormal->came;
	}
	for (uint32_t i = 0; i < fplan->ncounter_refs; i++) {
		n -= counter_ref_read(s, &fplan->counter_refs[i]);
		lost |= sites[fplan->counter_refs[i].site].lost;
	}
	if (lost)
		return (struct count){ .reason = lost_reason(s->plan, fplan) };
	/* It may have jumped to its entry before the jump had a counter. */
	if (fplan->missed && fplan->ncounter_refs)
		return (struct count){ .reason = REASON_ATTACHED };
	/* Control may have left before the first instruction began. */
	if (reason_anywhere(doubt))
		return (struct count){ .reason = (uint8_t)doubt };
	if (n >> 63)
		return (struct count){ .reason = REASON_CONTRADICTION };
	return count_exact(n);
}

static struct count
fplan_calls_count(const struct propagation *s, const struct func_plan *fplan)
{
	if (!fplan->placement && (!fplan->flow || fplan->state == FPLAN_READY))
		return entry_count(s, fplan);
	if (fplan->cfg->entry >= 0 && fplan->flow->edges[0].from == FLOW_ROOT)
		return fplan->counts[0];
	return (struct count){ .reason = REASON_UNPLACED };
}

static void
fplan_count(const struct propagation *s, struct func_plan *fplan)
{
	if (fplan->flow && !fplan->counts)
		fplan->counts = mem_alloc(flow_arcs(fplan->flow) *
					  sizeof(*fplan->counts));
	if (fplan->flow && fplan->state == FPLAN_WAITING)
		fplan_wait(s, fplan);
	else if (fplan->placement)
		fplan_propagate(s, fplan);
	else if (fplan->flow)
		counts_unknown(fplan, REASON_UNPLACED);
	fplan->calls = fplan_calls_count(s, fplan);
}

static void
guest_count(struct plan *plan, struct func_plan *guest)
{
	uint64_t entry = plan->image->arch->first(
		plan->image->funcs[guest->func].addr);
	uint32_t host = plan_func(plan, entry);
	long insn = -1;

	guest->calls = (struct count){ .reason = REASON_UNPLACED };
	if (host != FPLAN_NONE && plan->fplans[host].state == FPLAN_WAITING)
		guest->calls = count_exact(0);
	if (host != FPLAN_NONE && plan->fplans[host].counts)
		insn = cfg_insn(plan->fplans[host].cfg, entry);
	if (insn >= 0)
		guest->calls = fplan_arrivals(&plan->fplans[host],
					      (uint32_t)insn);
}

static bool
fplan_counts(const struct func_plan *fplan)
{
	return fplan->state != FPLAN_FAULTY && fplan->units && !fplan->guest;
}

/* How often the relocated function's probes that add ran. */
static uint64_t
increments_of(const struct propagation *s, const struct relocated *relocated)
{
	const struct counter_set *counter_set = s->counter_set;
	int64_t n = 0;

	for (uint32_t i = 0; i < relocated->nprobes; i++) {
		const struct probe *probe = &relocated->probes[i];

		if (probe->op == PROBE_ADD && probe->slot < counter_set->nslots)
			n += (int64_t)counter_set->slots[probe->slot] /
			     probe->operand;
	}
	return (uint64_t)n;
}

/* Count the sites, counters and increments of each function plan. */
static void
sites_count(const struct propagation *s)
{
	struct plan *plan = s->plan;

	for (size_t i = 0; i < plan->nfplans; i++) {
		struct func_plan *fplan = &plan->fplans[i];

		fplan->nsites = 0;
		fplan->increments = 0;
		if (fplan->relocated)
			fplan->increments = increments_of(s, fplan->relocated);
		fplan->ncounters = fplan->placement ? fplan->placement->narcs :
						      0;
	}
	for (size_t i = 0; i < plan->nsites; i++) {
		struct site *site = &plan->sites[i];
		struct func_plan *fplan;

		site->hits = propagation_counter(s, (uint32_t)i).hits;
		if (site->fplan == FPLAN_NONE || site->hook)
			continue;
		fplan = &plan->fplans[site->fplan];
		fplan->nsites += !site->idle;
		fplan->increments += site->hits;
	}
}

static void
times_count(const struct propagation *s)
{
	for (size_t i = 0; i < s->plan->nfplans; i++) {
		struct func_plan *fplan = &s->plan->fplans[i];

		times_free(fplan->times);
		fplan->times = NULL;
		if (i < s->counter_set->ntimes && s->counter_set->times[i])
			fplan->times = times_scale(s->counter_set->times[i],
						   s->plan->tick_ns);
	}
}

/* Whether counts of a waiting function plan may be unknown, rather than 0. */
static bool
wait_unsure(const struct plan *plan, const struct func_plan *fplan)
{
	return fplan->missed || fplan->interrupted || fplan->unwritten ||
	       (fplan->site != SITE_NONE && plan->sites[fplan->site].lost);
}

/*
 * all: every waiting function plan gets a graph; else only those whose counts
 * may not be 0.
 */
static void
propagate_all(struct plan *plan, const struct counter_set *counter_set,
	      bool all)
{
	struct counter_set *sum = NULL;
	struct propagation s = { plan, counter_set };

	if (!counter_set) {
		s.counter_set = sum = mem_alloc(sizeof(*sum));
		for (size_t i = 0; i < plan->ncounter_sets; i++)
			counter_set_add(sum, plan->counter_sets[i],
					plan->nsites);
	}
	for (size_t i = 0; i < plan->nfplans && plan_graphs(plan); i++)
		if (plan->fplans[i].state == FPLAN_WAITING &&
		    fplan_counts(&plan->fplans[i]) &&
		    (all || wait_unsure(plan, &plan->fplans[i])))
			plan_graph(plan, i);
	/* Control was about to enter a function that still waits. */
	for (size_t i = 0; i < s.counter_set->nabnormals && plan_infers(plan);
	     i++) {
		uint32_t fplan = plan_func(plan,
					   s.counter_set->abnormals[i].addr);

		if (fplan != FPLAN_NONE && fplan_counts(&plan->fplans[fplan]) &&
		    plan->fplans[fplan].state == FPLAN_WAITING)
			plan_graph(plan, fplan);
	}
	abnormal_insns_make(&s);
	came_back_spread(&s);
	for (size_t i = 0; i < plan->nfplans; i++)
		if (fplan_counts(&plan->fplans[i]))
			fplan_count(&s, &plan->fplans[i]);
	for (size_t i = 0; i < plan->nfplans; i++)
		if (plan->fplans[i].guest && plan->fplans[i].units)
			guest_count(plan, &plan->fplans[i]);
	sites_count(&s);
	if (plan_timed(plan))
		times_count(&s);
	counter_set_free(sum);
}

void
plan_propagate(struct plan *plan, const struct counter_set *counter_set)
{
	propagate_all(plan, counter_set, true);
}

void
plan_propagate_entered(struct plan *plan, const struct counter_set *counter_set)
{
	propagate_all(plan, counter_set, false);
}
