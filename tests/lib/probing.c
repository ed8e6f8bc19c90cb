/*
 * Owns the client that chooses probes everywhere, and its sums.
 */
#include "tests/lib/probing.h"

#include <stdlib.h>

#include "monitor/process/object.h"
#include "probe/counts.h"
#include "relocate/relocate.h"
#include "util/mem.h"

struct probing probing;

/* The client's sums for one plan. */
struct probing_plan {
	const struct plan *plan;
	struct counter_set *sums;
};

static struct probing_plan *plans;
static size_t nplans;

static struct counter_set *
sums_of(const struct plan *plan)
{
	struct probing_plan *p;

	for (size_t i = 0; i < nplans; i++)
		if (plans[i].plan == plan)
			return plans[i].sums;
	p = vec_push(plans, nplans);
	*p = (struct probing_plan){ plan, mem_alloc(sizeof(*p->sums)) };
	return p->sums;
}

/*
 * Every third element adds 3; but counting adds 1 to what it needs, and where
 * it has a probe another operation is refused.
 */
static void
probing_choose(struct run *run, struct plan *plan, struct probe_list *list)
{
	const struct flow *flow = list->fplan->flow;

	for (uint32_t arc = 0; arc < flow_arcs(flow); arc++) {
		uint32_t n = list->n;

		if (arc % 3 == 0 && !probe_ask(list, arc, PROBE_ADD, 3))
			probing.asked++;
		else if (probe_ask(list, arc, PROBE_ADD, 1))
			probing.refused++;
		else if (list->n > n)
			probing.asked++;
		else
			probing.shared++;
	}
}

static void
probing_at_site(struct run *run, const struct task *task, struct plan *plan,
		uint32_t site, enum site_event what)
{
	struct counter *counter = counter_set_site(sums_of(plan), site,
						   plan->nsites);

	counter->hits += what == SITE_BEGUN;
	counter->hits -= what == SITE_UNDONE;
	counter->taken += what == SITE_TAKEN;
}

static void
probing_drained(struct run *run, const struct task *task, struct plan *plan,
		uint32_t first, const uint64_t *counters, size_t n)
{
	counter_set_slots(sums_of(plan), first, counters, n);
}

const struct client client_probing = {
	.name = "probing",
	.choose = probing_choose,
	.at_site = probing_at_site,
	.drained = probing_drained,
};

void
probing_begin(void)
{
	probing = (struct probing){ 0 };
}

/* ---- comparing */

static void
count_compare(const struct func_plan *fplan, uint32_t arc, uint64_t n,
	      size_t *compared)
{
	const struct count *count = &fplan->counts[arc];

	if (count->state == COUNT_UNKNOWN)
		return;
	(*compared)++;
	probing.unequal += count->n != n;
}

static void
relocated_compare(const struct func_plan *fplan, const struct counter_set *sums)
{
	const struct relocated *relocated = fplan->relocated;
	uint64_t *values = mem_alloc(relocated->nprobes * sizeof(*values));

	relocated_sum(relocated, sums->slots, sums->nslots, values);
	for (uint32_t i = 0; i < relocated->nprobes - relocated->nextras; i++) {
		const struct probe *probe = &relocated->probes[i];

		if (values[i] % (uint64_t)probe->operand)
			probing.unequal++;
		probing.tripled += probe->operand == 3 && values[i];
		count_compare(fplan, probe->element,
			      values[i] / (uint64_t)probe->operand,
			      &probing.relocated);
	}
	free(values);
}

/* The elements of a function that runs in place, by the sites for them. */
static void
in_place_compare(struct plan *plan, const struct func_plan *fplan,
		 struct counter_set *sums)
{
	struct probe_list list = { .fplan = fplan };

	for (uint32_t arc = 0; arc < flow_arcs(fplan->flow); arc++) {
		const struct site *site;
		struct counter counter;
		struct term term;

		if (probe_ask(&list, arc, PROBE_ADD, 1))
			continue;
		if (!arc_term(fplan->flow, fplan->cfg, arc, &term))
			abort();
		site = plan_site(plan, term.addr);
		if (!site || site->lost)
			continue;
		counter = *counter_set_site(sums,
					    (uint32_t)(site - plan->sites),
					    plan->nsites);
		count_compare(fplan, arc,
			      term.kind == TERM_TAKEN ? counter.taken :
			      term.kind == TERM_FALL  ? counter.hits -
							       counter.taken :
						       counter.hits,
			      &probing.in_place);
	}
	probe_list_free(&list);
}

void
probing_compare(struct run *run)
{
	for (size_t i = 0; i < run->nobjects; i++) {
		struct plan *plan = run->objects[i].plan;

		if (!plan)
			continue;
		plan_propagate(plan, NULL);
		for (size_t k = 0; k < plan->nfplans; k++) {
			const struct func_plan *fplan = &plan->fplans[k];

			if (fplan->state != FPLAN_READY || !fplan->counts ||
			    fplan->lost)
				continue;
			if (fplan->relocated)
				relocated_compare(fplan, sums_of(plan));
			else
				in_place_compare(plan, fplan, sums_of(plan));
		}
	}
	for (size_t i = 0; i < nplans; i++)
		counter_set_free(plans[i].sums);
	free(plans);
	plans = NULL;
	nplans = 0;
}
