/*
 * Abnormal instructions: finds which instructions of a function plan control
 * left, or came to, over no edge, from abnormal edges and from counters behind
 * calls.  From these and the counts of blocks it derives how often each
 * instruction of a propagated function plan began.  Walks no stacks.
 */
#include "probe/came_back.h"

#include <stdlib.h>

#include "util/mem.h"
#include "util/search.h"
#include "util/sort.h"

struct counter
propagation_counter(const struct propagation *s, uint32_t site)
{
	if (site >= s->counter_set->ncounters)
		return (struct counter){ 0 };
	/* Several threads may run into the trap before it is gone. */
	if (s->plan->options.method == PLACE_ONCE)
		return (struct counter){
			.hits = s->counter_set->counters[site].hits != 0,
		};
	return s->counter_set->counters[site];
}

static int
by_insn(const void *va, const void *vb)
{
	const struct abnormal_insn *a = va, *b = vb;

	if (a->insn != b->insn)
		return a->insn < b->insn ? -1 : 1;
	return a->during - b->during;
}

/* The instruction that an abnormal edge is about, or -1. */
static long
abnormal_insn_at(const struct cfg *cfg, const struct abnormal_edge *abnormal)
{
	size_t next;

	if (!abnormal->during)
		return cfg_insn(cfg, abnormal->addr);
	next = cfg_insn_from(cfg, abnormal->addr);
	if (!next || cfg->insns[next - 1].addr + cfg->insns[next - 1].len !=
			     abnormal->addr)
		return -1;
	return (long)next - 1;
}

static void
abnormal_insns_clear(struct plan *plan)
{
	for (size_t i = 0; i < plan->nfplans; i++) {
		free(plan->fplans[i].abnormal_insns);
		plan->fplans[i].abnormal_insns = NULL;
		plan->fplans[i].nabnormal_insns = 0;
	}
}

/*
 * A jump whose targets are not known went to an address: if that is in the
 * middle of a block, control came there over no edge.
 */
static void
arrival_enter(struct plan *plan, const struct arrival *arrival)
{
	uint32_t index = arrival->plan == plan ?
				 plan_func(plan, arrival->addr) :
				 FPLAN_NONE;
	struct func_plan *fplan;
	const struct site *site;
	long insn;

	if (index == FPLAN_NONE || !plan->fplans[index].cfg)
		return;
	fplan = &plan->fplans[index];
	insn = cfg_insn(fplan->cfg, arrival->addr);
	came_back_note(plan, index, insn);
	if (cfg_block(fplan->cfg, arrival->addr) != BLOCK_NONE)
		return;
	site = plan_site(plan, arrival->addr);
	if (insn < 0 || (fplan->relocated && !(site && site->leads)))
		fplan->mid_entered = true;
	else if (!fplan->relocated)
		*vec_push(fplan->abnormal_insns,
			  fplan->nabnormal_insns) = (struct abnormal_insn){
			.insn = (uint32_t)insn,
			.came = arrival->n,
		};
}

void
abnormal_insns_make(const struct propagation *s)
{
	struct plan *plan = s->plan;

	abnormal_insns_clear(plan);
	for (size_t i = 0; i < s->counter_set->nabnormals; i++) {
		const struct abnormal_edge *abnormal =
			&s->counter_set->abnormals[i];
		uint32_t index = plan_func(
			plan, abnormal->addr - (abnormal->during ? 1 : 0));
		struct func_plan *fplan;
		long insn;

		/* Control may have come to a function that is not counted. */
		if (index != FPLAN_NONE && abnormal->came && !abnormal->during)
			plan_graph(plan, index);
		if (index == FPLAN_NONE || !plan->fplans[index].cfg)
			continue;
		fplan = &plan->fplans[index];
		insn = abnormal_insn_at(fplan->cfg, abnormal);
		came_back_note(plan, index, insn);
		if (insn < 0)
			fplan->mid_entered = true;
		else if (!abnormal->during ||
			 !insn_exits(&fplan->cfg->insns[insn]))
			*vec_push(fplan->abnormal_insns,
				  fplan->nabnormal_insns) =
				(struct abnormal_insn){
					(uint32_t)insn,
					abnormal->during,
					abnormal->left,
					abnormal->came,
				};
	}
	for (size_t i = 0; i < s->counter_set->narrivals; i++)
		arrival_enter(plan, &s->counter_set->arrivals[i]);
	for (size_t i = 0; i < plan->nfplans; i++)
		if (plan->fplans[i].nabnormal_insns)
			sort(plan->fplans[i].abnormal_insns,
			     plan->fplans[i].nabnormal_insns,
			     sizeof(struct abnormal_insn), by_insn);
}

/*
 * How often the call of a pass began: as often as its block, corrected by the
 * n abnormal instructions from the block's first to the call.
 */
static uint64_t
pass_begun(const struct propagation *s, const struct pass *pass, uint32_t first,
	   const struct abnormal_insn *abnormal_insns, size_t n)
{
	uint64_t begun = propagation_counter(s, pass->first).hits;

	for (size_t i = 0; i < n; i++)
		if (abnormal_insns[i].insn != first || abnormal_insns[i].during)
			begun += abnormal_insns[i].came -
				 abnormal_insns[i].left;
	return begun;
}

void
abnormal_insns_measure(const struct propagation *s, struct func_plan *fplan)
{
	const struct cfg *cfg = fplan->cfg;
	const struct abnormal_insn *told = fplan->abnormal_insns;
	struct abnormal_insn *abnormal_insns = NULL;
	size_t n = 0, from = 0, k = 0;

	for (size_t p = 0; p < fplan->npasses; p++) {
		struct pass *pass = &fplan->passes[p];
		uint32_t call = pass->insn - 1, first;
		struct abnormal_insn abnormal_insn = { .insn = call,
						       .during = true };
		uint64_t begun, back;

		/* The call may have come back before there was a counter. */
		pass->measured = !fplan->missed &&
				 !s->plan->sites[pass->site].lost &&
				 !s->plan->sites[pass->first].lost;
		if (!pass->measured)
			continue;
		first = cfg->blocks[cfg_block_of(cfg, call)].first;
		/* Keep what is known before the call, drop what is at it. */
		for (; k < fplan->nabnormal_insns &&
		       (told[k].insn < call ||
			(told[k].insn == call && !told[k].during));
		     k++)
			*vec_push(abnormal_insns, n) = told[k];
		for (; k < fplan->nabnormal_insns && told[k].insn == call; k++)
			;
		while (from < n && abnormal_insns[from].insn < first)
			from++;
		begun = pass_begun(s, pass, first, abnormal_insns + from,
				   n - from);
		back = propagation_counter(s, pass->site).hits;
		/* The call came back, but control left before the counter. */
		if (k < fplan->nabnormal_insns && told[k].insn == pass->insn &&
		    !told[k].during)
			back += told[k].left - told[k].came;
		if (begun > back)
			abnormal_insn.left = begun - back;
		else
			abnormal_insn.came = back - begun;
		if (begun != back)
			*vec_push(abnormal_insns, n) = abnormal_insn;
	}
	for (; k < fplan->nabnormal_insns; k++)
		*vec_push(abnormal_insns, n) = told[k];
	free(fplan->abnormal_insns);
	fplan->abnormal_insns = abnormal_insns;
	fplan->nabnormal_insns = n;
}

struct flow_extra *
abnormal_insns_extras(const struct func_plan *fplan, size_t *n)
{
	struct flow_extra *extras = NULL;

	*n = 0;
	for (size_t i = 0; i < fplan->nabnormal_insns; i++) {
		const struct abnormal_insn *abnormal_insn =
			&fplan->abnormal_insns[i];
		uint32_t block = cfg_block_of(fplan->cfg, abnormal_insn->insn);
		bool before = !abnormal_insn->during &&
			      fplan->cfg->blocks[block].first ==
				      abnormal_insn->insn;

		if (abnormal_insn->left)
			*vec_push(extras, *n) = (struct flow_extra){
				block, before ? LEFT_BEFORE : LEFT_BEHIND,
				abnormal_insn->left
			};
		if (abnormal_insn->came)
			*vec_push(extras, *n) = (struct flow_extra){
				block, before ? CAME_BEFORE : CAME_BEHIND,
				abnormal_insn->came
			};
	}
	return extras;
}

/* The pass of the call at an instruction, or NULL. */
static const struct pass *
call_pass(const struct func_plan *fplan, uint32_t call)
{
	size_t lo = search_first(fplan->npasses, i,
				 fplan->passes[i].insn > call);

	return lo < fplan->npasses && fplan->passes[lo].insn == call + 1 ?
		       &fplan->passes[lo] :
		       NULL;
}

bool
calls_measured(const struct func_plan *fplan, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		const struct insn *insn = &fplan->cfg->insns[i];
		const struct pass *pass;

		if (insn->kind != INSN_CALL &&
		    insn->kind != INSN_CALL_INDIRECT &&
		    insn->kind != INSN_SYSCALL)
			continue;
		pass = call_pass(fplan, i);
		if (!pass || !pass->measured)
			return false;
	}
	return true;
}

/*
 * Derive how often an instruction began from the counts of the edges out of its
 * block; false if those do not tell.
 */
static bool
insn_behind(const struct func_plan *fplan, uint32_t block, uint32_t insn,
	    struct count *count)
{
	const struct block *b = &fplan->cfg->blocks[block];
	const struct flow *flow = fplan->flow;
	uint32_t v = FLOW_BLOCK + block, end = b->first + b->count;

	*count = (struct count){ .state = COUNT_DERIVED };
	if (!calls_measured(fplan, insn, end))
		return false;
	for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++) {
		if (fplan->counts[e].state == COUNT_UNKNOWN)
			return false;
		count->n += fplan->counts[e].n;
	}
	for (size_t i = 0; i < fplan->nabnormal_insns; i++) {
		const struct abnormal_insn *abnormal_insn =
			&fplan->abnormal_insns[i];

		if (abnormal_insn->insn >= insn + !abnormal_insn->during &&
		    abnormal_insn->insn < end)
			count->n -= abnormal_insn->came - abnormal_insn->left;
	}
	if (count->n >> 63)
		*count = (struct count){ .reason = REASON_CONTRADICTION };
	return true;
}

struct count
fplan_insn(const struct func_plan *fplan, uint32_t insn)
{
	const struct cfg *cfg = fplan->cfg;
	uint32_t block = cfg_block_of(cfg, insn);
	uint32_t first = cfg->blocks[block].first;
	struct count count =
		fplan->counts[arc_of_block(fplan->flow, FLOW_BLOCK + block)];
	struct count behind;

	if (insn != first && reason_anywhere(fplan->doubt))
		return (struct count){ .reason = fplan->doubt };
	if (insn != first &&
	    (reason_calls(fplan->doubt) || fplan->doubt == REASON_LOST ||
	     fplan->doubt == REASON_UNPLACED) &&
	    !calls_measured(fplan, first, insn)) {
		if (insn_behind(fplan, block, insn, &behind))
			return behind;
		return (struct count){ .reason = fplan->doubt };
	}
	if (count.state == COUNT_UNKNOWN)
		return count;
	for (size_t i = 0; i < fplan->nabnormal_insns; i++) {
		const struct abnormal_insn *abnormal_insn =
			&fplan->abnormal_insns[i];

		if (abnormal_insn->insn < first || abnormal_insn->insn > insn ||
		    (abnormal_insn->insn == first && !abnormal_insn->during) ||
		    (abnormal_insn->insn == insn && abnormal_insn->during))
			continue;
		count.n += abnormal_insn->came - abnormal_insn->left;
	}
	return count;
}

struct count
fplan_arrivals(const struct func_plan *fplan, uint32_t insn)
{
	struct count count = fplan_insn(fplan, insn);

	if (count.state == COUNT_UNKNOWN)
		return count;
	/* Control may have left before the instruction began. */
	if (reason_anywhere(fplan->doubt))
		return (struct count){ .reason = fplan->doubt };
	if (insn == fplan->cfg->entry &&
	    fplan->counts[0].reason == REASON_SIGNAL)
		return fplan->counts[0];
	for (size_t i = 0; i < fplan->nabnormal_insns; i++)
		if (fplan->abnormal_insns[i].insn == insn &&
		    !fplan->abnormal_insns[i].during)
			count.n += fplan->abnormal_insns[i].left -
				   fplan->abnormal_insns[i].came;
	return count;
}
