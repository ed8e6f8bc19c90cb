/*
 * Counts an event in one function (flow/increments.h).  Knows nothing of tasks
 * and of who reads the count.
 */
#include "monitor/client/event_func.h"

#include <stdlib.h>
#include <string.h>

#include "flow/increments.h"
#include "report/event_arcs.h"
#include "util/mem.h"

/* An arc that adds something, if the function runs in place. */
struct event_site {
	uint64_t addr, adds;
	uint8_t kind;		/* enum term_kind */
};

struct event_func {
	struct increments *increments;
	uint32_t narcs, ninsns;
	uint64_t *behind;	/* per instruction: the events of its block
				   behind it */
	struct event_site *sites;
	size_t nsites;
};

/* Arcs without a probe. */
static bool *
fixed_find(const struct func_plan *fplan, const uint64_t *arcs)
{
	const struct flow *flow = fplan->flow;
	bool *fixed = mem_alloc(flow_arcs(flow) + 1);

	/* An edge has a block with the same count, which costs no more. */
	for (uint32_t i = 0; i < flow_arcs(flow); i++)
		fixed[i] = probe_may(fplan, i) != 0 ||
			   (i < flow->nedges && !arcs[i] &&
			    edge_carrier(flow, i) != ARC_NONE);
	return fixed;
}

static uint64_t *
behind_find(const struct cfg *cfg, const uint64_t *insns)
{
	uint64_t *behind = mem_alloc((cfg->ninsns + 1) * sizeof(*behind));

	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		uint32_t first = cfg->blocks[b].first;
		uint32_t last = first + cfg->blocks[b].count - 1;

		for (uint32_t i = last; i-- > first;)
			behind[i] = behind[i + 1] + insns[i + 1];
	}
	return behind;
}

static void
sites_find(struct event_func *func, const struct func_plan *fplan)
{
	struct term term;

	for (uint32_t i = 0; i < func->narcs; i++) {
		if (!func->increments->arcs[i])
			continue;
		must(arc_term(fplan->flow, fplan->cfg, i, &term));
		*vec_push(func->sites, func->nsites) = (struct event_site){
			.addr = term.addr,
			.adds = func->increments->arcs[i],
			.kind = term.kind,
		};
	}
}

struct event_func *
event_func_make(const struct event_def *event, const struct plan *plan,
		const struct func_plan *fplan)
{
	const struct flow *flow = fplan->flow;
	struct event_func *func = mem_alloc(sizeof(*func));
	uint64_t *arcs, *insns;
	struct weights *weights;
	bool *fixed;

	func->narcs = flow_arcs(flow);
	func->ninsns = (uint32_t)fplan->cfg->ninsns;
	arcs = mem_alloc((func->narcs + 1) * sizeof(*arcs));
	insns = mem_alloc((fplan->cfg->ninsns + 1) * sizeof(*insns));
	if (!event_arcs(event, plan, fplan, arcs, insns)) {
		fixed = fixed_find(fplan, arcs);
		weights = weights_guess(flow, fplan->cfg);
		func->increments = increments_make(flow, weights, arcs, fixed);
		weights_free(weights);
		free(fixed);
	}
	if (func->increments) {
		func->behind = behind_find(fplan->cfg, insns);
		sites_find(func, fplan);
	}
	free(arcs);
	free(insns);
	if (func->increments)
		return func;
	event_func_free(func);
	return NULL;
}

void
event_func_free(struct event_func *func)
{
	if (!func)
		return;
	increments_free(func->increments);
	free(func->behind);
	free(func->sites);
	free(func);
}

bool
event_func_same(const struct event_func *a, const struct event_func *b)
{
	return a->narcs == b->narcs && a->ninsns == b->ninsns &&
	       !memcmp(a->increments->arcs, b->increments->arcs,
		       a->narcs * sizeof(uint64_t));
}

int
event_func_ask(const struct event_func *func, struct probe_list *list)
{
	for (uint32_t i = 0; i < func->narcs; i++) {
		uint64_t adds = func->increments->arcs[i];

		if (!adds)
			continue;
		if ((int64_t)adds != (int32_t)adds)
			return fail("there are too many events at once");
		if (probe_ask(list, i, PROBE_EVENTS, (int32_t)adds))
			return -1;
	}
	return 0;
}

uint64_t
event_func_at(const struct event_func *func, uint64_t addr,
	      enum site_event what)
{
	uint64_t adds = 0;

	for (size_t i = 0; i < func->nsites; i++) {
		const struct event_site *site = &func->sites[i];

		if (site->addr != addr)
			continue;
		/* A branch that goes on is known when it was not taken. */
		if (what == SITE_BEGUN && site->kind != TERM_TAKEN)
			adds += site->adds;
		else if (what == SITE_TAKEN && site->kind == TERM_TAKEN)
			adds += site->adds;
		else if (what == SITE_TAKEN && site->kind == TERM_FALL)
			adds -= site->adds;
	}
	return adds;
}

uint64_t
event_func_arc(const struct event_func *func, uint32_t arc)
{
	return arc < func->narcs ? func->increments->arcs[arc] : 0;
}

/* The instruction that an abnormal edge is about, or -1. */
static long
edge_insn(const struct cfg *cfg, const struct abnormal_edge *edge)
{
	size_t next;

	if (!edge->during)
		return cfg_insn(cfg, edge->addr);
	next = cfg_insn_from(cfg, edge->addr);
	if (!next ||
	    cfg->insns[next - 1].addr + cfg->insns[next - 1].len != edge->addr)
		return -1;
	return (long)next - 1;
}

bool
event_func_lacks(const struct event_func *func, const struct func_plan *fplan,
		 const struct abnormal_edge *edge, uint64_t *lack)
{
	const struct cfg *cfg = fplan->cfg;
	long insn = edge_insn(cfg, edge);
	const struct block *block;
	uint32_t b;

	if (insn < 0)
		return false;
	b = cfg_block_of(cfg, (size_t)insn);
	block = &cfg->blocks[b];
	if (block->proof != PROOF_FLOW)
		return false;
	if (!edge->during && (uint32_t)insn == block->first) {
		*lack = func->increments->nodes[node_before(FLOW_BLOCK + b)];
		return true;
	}
	/* The edge to EXIT has all that an instruction does that leaves. */
	if (edge->during && insn_exits(&cfg->insns[insn])) {
		*lack = 0;
		return true;
	}
	if (!edge->during)
		insn--;
	*lack = func->increments->nodes[node_behind(FLOW_BLOCK + b)] -
		func->behind[insn];
	return true;
}
