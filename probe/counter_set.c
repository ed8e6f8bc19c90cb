/*
 * Counter sets: the counters of a plan's sites in one process or thread, or in
 * all.  Finds and adds; derives nothing.
 */
#include "probe/plan.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum { ARRIVALS_MIN = 64 };

struct counter_set *
plan_counter_set(struct plan *plan, size_t counter_set)
{
	while (plan->ncounter_sets <= counter_set)
		*vec_push(plan->counter_sets, plan->ncounter_sets) = mem_alloc(
			sizeof(struct counter_set));
	return plan->counter_sets[counter_set];
}

uint64_t
plan_hits(const struct plan *plan, size_t site)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < plan->ncounter_sets; i++)
		if (site < plan->counter_sets[i]->ncounters)
			hits += plan->counter_sets[i]->counters[site].hits;
	return hits;
}

struct counter *
counter_set_site(struct counter_set *counter_set, uint32_t site, size_t nsites)
{
	if (site >= counter_set->ncounters) {
		size_t n = counter_set->ncounters, more = nsites + nsites / 2;

		counter_set->counters = mem_grow(
			counter_set->counters, more,
			sizeof(*counter_set->counters));
		memset(counter_set->counters + n, 0,
		       (more - n) * sizeof(*counter_set->counters));
		counter_set->ncounters = more;
	}
	return &counter_set->counters[site];
}

static uint32_t *
arrival_slot(const struct counter_set *counter_set, uint32_t site,
	     const struct plan *plan, uint64_t addr)
{
	uint64_t hash = (addr ^ (uintptr_t)plan << 20 ^ (uint64_t)site << 40) *
			0x9e3779b97f4a7c15u;

	for (uint32_t i = hash >> 32;; i++) {
		uint32_t at = i & (counter_set->arrival_size - 1);
		uint32_t *slot = &counter_set->arrival_index[at];
		const struct arrival *target;

		if (*slot == UINT32_MAX)
			return slot;
		target = &counter_set->arrivals[*slot];
		if (target->site == site && target->plan == plan &&
		    target->addr == addr)
			return slot;
	}
}

static void
arrivals_index(struct counter_set *counter_set)
{
	counter_set->arrival_size = counter_set->arrival_size ?
					    2 * counter_set->arrival_size :
					    ARRIVALS_MIN;
	free(counter_set->arrival_index);
	counter_set->arrival_index = mem_alloc(
		counter_set->arrival_size *
		sizeof(*counter_set->arrival_index));
	memset(counter_set->arrival_index, 0xff,
	       counter_set->arrival_size * sizeof(*counter_set->arrival_index));
	for (size_t i = 0; i < counter_set->narrivals; i++)
		*arrival_slot(counter_set, counter_set->arrivals[i].site,
			      counter_set->arrivals[i].plan,
			      counter_set->arrivals[i].addr) = i;
}

struct arrival *
counter_set_arrival(struct counter_set *counter_set, uint32_t site,
		    const struct plan *plan, uint64_t addr, bool add)
{
	uint32_t *slot;

	if (!add && !counter_set->narrivals)
		return NULL;
	if (2 * counter_set->narrivals >= counter_set->arrival_size)
		arrivals_index(counter_set);
	slot = arrival_slot(counter_set, site, plan, addr);
	if (*slot == UINT32_MAX && !add)
		return NULL;
	if (*slot == UINT32_MAX) {
		*slot = counter_set->narrivals;
		*vec_push(counter_set->arrivals,
			  counter_set->narrivals) = (struct arrival){
			.site = site,
			.plan = plan,
			.addr = addr,
		};
	}
	return &counter_set->arrivals[*slot];
}

void
counter_set_slots(struct counter_set *counter_set, uint32_t first,
		  const uint64_t *counters, size_t n)
{
	if (first + n > counter_set->nslots) {
		size_t old = counter_set->nslots, more = first + n + old / 2;

		counter_set->slots = mem_grow(counter_set->slots, more,
					      sizeof(*counter_set->slots));
		memset(counter_set->slots + old, 0,
		       (more - old) * sizeof(*counter_set->slots));
		counter_set->nslots = more;
	}
	for (size_t i = 0; i < n; i++)
		counter_set->slots[first + i] += counters[i];
}

struct times *
counter_set_times(struct counter_set *counter_set, uint32_t fplan,
		  size_t nfplans)
{
	struct times **times;

	if (fplan >= counter_set->ntimes) {
		size_t n = counter_set->ntimes;

		counter_set->times = mem_grow(counter_set->times, nfplans,
					      sizeof(*counter_set->times));
		memset(counter_set->times + n, 0,
		       (nfplans - n) * sizeof(*counter_set->times));
		counter_set->ntimes = nfplans;
	}
	times = &counter_set->times[fplan];
	if (!*times)
		*times = mem_alloc(sizeof(**times));
	return *times;
}

struct abnormal_edge *
counter_set_abnormal(struct counter_set *counter_set, uint64_t addr,
		     bool during)
{
	struct abnormal_edge *abnormal;

	for (size_t i = 0; i < counter_set->nabnormals; i++)
		if (counter_set->abnormals[i].addr == addr &&
		    counter_set->abnormals[i].during == during)
			return &counter_set->abnormals[i];
	abnormal = vec_push(counter_set->abnormals, counter_set->nabnormals);
	*abnormal = (struct abnormal_edge){ .addr = addr, .during = during };
	return abnormal;
}

void
counter_set_add(struct counter_set *to, const struct counter_set *from,
		size_t nsites)
{
	for (size_t i = 0; i < from->ncounters; i++) {
		struct counter *counter = counter_set_site(to, i, nsites);

		counter->hits += from->counters[i].hits;
		counter->taken += from->counters[i].taken;
	}
	for (size_t i = 0; i < from->narrivals; i++) {
		const struct arrival *target = &from->arrivals[i];

		counter_set_arrival(to, target->site, target->plan,
				    target->addr, true)
			->n += target->n;
	}
	counter_set_slots(to, 0, from->slots, from->nslots);
	for (size_t i = 0; i < from->nabnormals; i++) {
		struct abnormal_edge *abnormal = counter_set_abnormal(
			to, from->abnormals[i].addr, from->abnormals[i].during);

		abnormal->left += from->abnormals[i].left;
		abnormal->came += from->abnormals[i].came;
	}
	for (size_t i = 0; i < from->ntimes; i++)
		if (from->times[i])
			times_add(counter_set_times(to, (uint32_t)i,
						    from->ntimes),
				  from->times[i]);
}

/* memset for an array that may be NULL if n is 0. */
static void
array_fill(void *array, int byte, size_t n, size_t size)
{
	if (n)
		memset(array, byte, n * size);
}

void
counter_set_clear(struct counter_set *counter_set)
{
	array_fill(counter_set->counters, 0, counter_set->ncounters,
		   sizeof(*counter_set->counters));
	array_fill(counter_set->slots, 0, counter_set->nslots,
		   sizeof(*counter_set->slots));
	array_fill(counter_set->arrival_index, 0xff, counter_set->arrival_size,
		   sizeof(*counter_set->arrival_index));
	for (size_t i = 0; i < counter_set->ntimes; i++)
		if (counter_set->times[i])
			times_clear(counter_set->times[i]);
	counter_set->narrivals = 0;
	counter_set->nabnormals = 0;
}

void
counter_set_free(struct counter_set *counter_set)
{
	if (!counter_set)
		return;
	free(counter_set->counters);
	free(counter_set->arrivals);
	free(counter_set->arrival_index);
	free(counter_set->abnormals);
	free(counter_set->slots);
	for (size_t i = 0; i < counter_set->ntimes; i++)
		times_free(counter_set->times[i]);
	free(counter_set->times);
	free(counter_set);
}
