/*
 * Switch counters: how often control left and came to functions by stack
 * switches that were counted in the program.
 */
#include <stdlib.h>

#include "probe/plan.h"
#include "util/mem.h"

uint32_t
plan_switch(struct plan *plan, struct abnormal_edge *edges, size_t n)
{
	*vec_push(plan->switches, plan->nswitches) = (struct switch_counter){
		.slot = plan->nslots,
		.edges = edges,
		.n = n,
	};
	return plan->nslots++;
}

void
plan_switched(const struct plan *plan, struct counter_set *counter_set)
{
	for (size_t i = 0; i < plan->nswitches; i++) {
		const struct switch_counter *counter = &plan->switches[i];
		uint64_t n;

		if (counter->slot >= counter_set->nslots)
			break;
		n = counter_set->slots[counter->slot];
		counter_set->slots[counter->slot] = 0;
		for (size_t k = 0; n && k < counter->n; k++) {
			const struct abnormal_edge *edge = &counter->edges[k];
			struct abnormal_edge *sum = counter_set_abnormal(
				counter_set, edge->addr, edge->during);

			sum->left += n * edge->left;
			sum->came += n * edge->came;
		}
	}
}
