/*
 * How often an event happens at each arc and instruction of one function, for
 * counters of events (flow/increments.h).  Adds up no counts.
 */
#include "report/event_inner.h"

#include "arch/arch.h"
#include "report/event_arcs.h"

/* What the arcs are found for. */
struct finding {
	const struct event_def *event;
	const struct plan *plan;
	const struct func_plan *fplan;
	const struct func *func;
	uint64_t *arcs, *insns;
};

int
event_arcs_check(const struct event_def *event)
{
	if (event->where.files.n)
		return fail(
			"--per: \"%s\" is of files; pmon can tell events of "
			"functions and objects alone by calls",
			event->name);
	for (size_t k = 0; k < event->nterms; k++)
		if (event->terms[k].kind == ELEMENT_LINE ||
		    event->terms[k].kind == ELEMENT_CALL)
			return fail("--per: \"%s\" is of lines or calls, which "
				    "are known only in the end",
				    event->terms[k].text);
	return 0;
}

static bool
block_proven(const struct func_plan *fplan, uint32_t block)
{
	return fplan->cfg->blocks[block].proof == PROOF_FLOW;
}

/* Code that may be data has no events: it is not known to run. */
static void
insns_find(const struct finding *finding, const struct event_term *term)
{
	const struct cfg *cfg = finding->fplan->cfg;

	for (uint32_t b = 0; b < cfg->nblocks; b++)
		for (uint32_t i = 0; block_proven(finding->fplan, b) &&
				     i < cfg->blocks[b].count;
		     i++) {
			uint32_t insn = cfg->blocks[b].first + i;

			if (term->insns &
			    event_insn_classes(finding->plan->image,
					       &cfg->insns[insn]))
				finding->insns[insn] += term->weight;
		}
}

/* 0, or -1 with the message: both ways of a branch are one edge. */
static int
taken_find(const struct finding *finding, const struct event_term *term)
{
	const struct flow *flow = finding->fplan->flow;
	const struct cfg *cfg = finding->fplan->cfg;

	for (uint32_t e = 0; e < flow->nedges; e++) {
		const struct block *block;

		if (flow->edges[e].from < FLOW_BLOCK)
			continue;
		block = &cfg->blocks[flow->edges[e].from - FLOW_BLOCK];
		if (cfg->insns[block->first + block->count - 1].kind !=
		    INSN_BRANCH)
			continue;
		if (flow->edges[e].by == BY_LAST)
			return fail("a branch leads to the same instruction "
				    "whether it is taken or not");
		if (flow->edges[e].by == BY_TAKEN)
			finding->arcs[e] += term->weight;
	}
	return 0;
}

static int
entry_find(const struct finding *finding, const struct event_term *term)
{
	const struct flow *flow = finding->fplan->flow;

	if (!flow->nedges || flow->edges[0].from != FLOW_ROOT)
		return fail("the function's beginning is not known");
	finding->arcs[0] += term->weight;
	return 0;
}

static int
term_find(const struct finding *finding, const struct event_term *term)
{
	const struct cfg *cfg = finding->fplan->cfg;
	long insn;

	if (term->kind == ELEMENT_INSNS) {
		insns_find(finding, term);
		return 0;
	}
	if (term->kind == ELEMENT_TAKEN)
		return taken_find(finding, term);
	if (!finding->func || !event_func_is(&term->of, finding->func))
		return 0;
	if (term->kind == ELEMENT_FUNC)
		return entry_find(finding, term);
	insn = cfg_insn(cfg, finding->func->addr + term->offset);
	if (term->kind == ELEMENT_BLOCK && insn >= 0)
		finding->insns[insn] += term->weight;
	if (term->kind == ELEMENT_EDGE &&
	    event_func_is(&term->to, finding->func))
		for (uint32_t e = 0;
		     event_edge_next(finding->fplan, finding->func, term, &e);
		     e++)
			finding->arcs[e] += term->weight;
	return 0;
}

int
event_arcs(const struct event_def *event, const struct plan *plan,
	   const struct func_plan *fplan, uint64_t *arcs, uint64_t *insns)
{
	struct finding finding = {
		.event = event,
		.plan = plan,
		.fplan = fplan,
		.func = fplan_func(fplan, plan->image),
		.arcs = arcs,
		.insns = insns,
	};
	const struct cfg *cfg = fplan->cfg;

	if (!event_where_func(event, plan, finding.func))
		return 0;
	for (size_t k = 0; k < event->nterms; k++)
		if (term_find(&finding, &event->terms[k]))
			return -1;
	for (uint32_t b = 0; b < cfg->nblocks; b++)
		for (uint32_t i = 0; i < cfg->blocks[b].count; i++)
			arcs[arc_of_block(fplan->flow, FLOW_BLOCK + b)] +=
				insns[cfg->blocks[b].first + i];
	return 0;
}
