/*
 * Makes the list of a function's probes.  Decides neither where clients need
 * probes (flow/placement.c does for counting) nor how they are planted.
 */
#include "probe/probes.h"

#include <stdlib.h>

#include "probe/plan.h"
#include "util/fail.h"
#include "util/mem.h"

static void
probe_add(struct probe_list *list, uint32_t element, enum probe_op op,
	  int32_t operand)
{
	*vec_push(list->probes, list->n) = (struct probe){
		.element = element,
		.slot = list->slot++,
		.op = (uint8_t)op,
		.operand = operand,
	};
	if (list->of && !list->of[element])
		list->of[element] = list->n;
}

/* Make list->of. */
static void
elements_note(struct probe_list *list)
{
	list->of = mem_alloc(flow_arcs(list->fplan->flow) * sizeof(*list->of));
	for (uint32_t i = list->n; i-- > 0;)
		list->of[list->probes[i].element] = i + 1;
}

/* Whether known control flow leads to the element. */
static bool
element_proven(const struct func_plan *fplan, uint32_t element)
{
	const struct flow *flow = fplan->flow;
	uint32_t vert = element < flow->nedges ? flow->edges[element].from :
						 arc_block(flow, element);

	return vert < FLOW_BLOCK ||
	       fplan->cfg->blocks[vert - FLOW_BLOCK].proof == PROOF_FLOW;
}

/* The element's probe with this operation; *first is its first probe.  Or NULL. */
static const struct probe *
probe_find(const struct probe_list *list, uint32_t element, enum probe_op op,
	   struct probe **first)
{
	const struct probe *probe;

	*first = list->of[element] ? &list->probes[list->of[element] - 1] :
				     NULL;
	for (probe = *first; probe && probe->op != op;)
		probe = probe->before ? &list->probes[probe->before - 1] : NULL;
	return probe;
}

int
probe_may(const struct func_plan *fplan, uint32_t element)
{
	struct term term;

	if (!arc_term(fplan->flow, fplan->cfg, element, &term))
		return fail("nothing shows how often control passes the "
			    "element");
	if (term.kind == TERM_TARGET)
		return fail("the element is an edge of an indirect jump");
	if (!element_proven(fplan, element))
		return fail("no known control flow leads to the element");
	return 0;
}

/* The element's probe that is done before its others. */
static struct probe *
probe_foremost(const struct probe_list *list, struct probe *probe)
{
	while (probe->before)
		probe = &list->probes[probe->before - 1];
	return probe;
}

int
probe_ask(struct probe_list *list, uint32_t element, enum probe_op op,
	  int32_t operand)
{
	const struct probe *probe;
	struct probe *first;

	if (!list->of)
		elements_note(list);
	probe = probe_find(list, element, op, &first);
	if (probe)
		return probe->operand == operand ?
			       0 :
			       fail("the element has a probe with another "
				    "operand");
	if (probe_may(list->fplan, element))
		return -1;
	if (first)
		probe_foremost(list, first)->before = list->n + 1;
	probe_add(list, element, op, operand);
	return 0;
}

void
probes_count(struct probe_list *list, const struct placement *placement)
{
	must(!list->n);
	for (uint32_t i = 0; i < placement->narcs; i++)
		probe_add(list, placement->arcs[i], PROBE_ADD, 1);
}

struct probe_list
fplan_probes(struct plan *plan, const struct func_plan *fplan)
{
	struct probe_list list = { .fplan = fplan, .slot = plan->nslots };
	const struct placement *placement = fplan->placement;

	if (plan->options.choose)
		plan->options.choose(plan->options.ctx, plan, &list);
	else
		probes_count(&list, placement);
	/* Counters are read by their number in the placement. */
	must(list.n >= placement->narcs);
	for (uint32_t i = 0; i < placement->narcs; i++)
		must(list.probes[i].element == placement->arcs[i] &&
		     list.probes[i].operand == 1);
	return list;
}

void
probe_list_free(struct probe_list *list)
{
	free(list->probes);
	free(list->of);
	*list = (struct probe_list){ 0 };
}
