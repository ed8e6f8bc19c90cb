/*
 * Meters: what was counted at the sites of a plan, in one process or thread
 * or in all.  Adds, and finds; derives nothing.
 */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum { ARRIVALS_MIN = 64 };

struct meter *
plan_meter(struct plan *plan, size_t meter)
{
	while (plan->nmeters <= meter)
		*vec_push(plan->meters, plan->nmeters) =
			mem_alloc(sizeof(struct meter));
	return plan->meters[meter];
}

struct counter *
meter_counter(struct meter *meter, uint32_t site, size_t nsites)
{
	if (site >= meter->ncounters) {
		size_t n = meter->ncounters, more = nsites + nsites / 2;

		meter->counters = mem_grow(meter->counters, more,
					   sizeof(*meter->counters));
		memset(meter->counters + n, 0,
		       (more - n) * sizeof(*meter->counters));
		meter->ncounters = more;
	}
	return &meter->counters[site];
}

static uint32_t *
arrival_slot(const struct meter *meter, uint32_t site,
	    const struct plan *plan, uint64_t addr)
{
	uint64_t hash = (addr ^ (uintptr_t)plan << 20 ^ (uint64_t)site << 40) *
			0x9e3779b97f4a7c15u;

	for (uint32_t i = hash >> 32;; i++) {
		uint32_t *slot = &meter->arrival_index[i &
						(meter->arrival_size - 1)];
		const struct arrival *target;

		if (*slot == UINT32_MAX)
			return slot;
		target = &meter->arrivals[*slot];
		if (target->site == site && target->plan == plan &&
		    target->addr == addr)
			return slot;
	}
}

static void
arrivals_index(struct meter *meter)
{
	meter->arrival_size = meter->arrival_size ? 2 * meter->arrival_size :
						  ARRIVALS_MIN;
	free(meter->arrival_index);
	meter->arrival_index = mem_alloc(meter->arrival_size *
					sizeof(*meter->arrival_index));
	memset(meter->arrival_index, 0xff,
	       meter->arrival_size * sizeof(*meter->arrival_index));
	for (size_t i = 0; i < meter->narrivals; i++)
		*arrival_slot(meter, meter->arrivals[i].site,
			     meter->arrivals[i].plan,
			     meter->arrivals[i].addr) = i;
}

struct arrival *
meter_arrival(struct meter *meter, uint32_t site, const struct plan *plan,
	     uint64_t addr, bool add)
{
	uint32_t *slot;

	if (!add && !meter->narrivals)
		return NULL;
	if (2 * meter->narrivals >= meter->arrival_size)
		arrivals_index(meter);
	slot = arrival_slot(meter, site, plan, addr);
	if (*slot == UINT32_MAX && !add)
		return NULL;
	if (*slot == UINT32_MAX) {
		*slot = meter->narrivals;
		*vec_push(meter->arrivals, meter->narrivals) = (struct arrival){
			.site = site, .plan = plan, .addr = addr,
		};
	}
	return &meter->arrivals[*slot];
}

void
meter_slots(struct meter *meter, uint32_t first, const uint64_t *counters,
	    size_t n)
{
	if (first + n > meter->nslots) {
		size_t old = meter->nslots, more = first + n + old / 2;

		meter->slots = mem_grow(meter->slots, more,
					sizeof(*meter->slots));
		memset(meter->slots + old, 0,
		       (more - old) * sizeof(*meter->slots));
		meter->nslots = more;
	}
	for (size_t i = 0; i < n; i++)
		meter->slots[first + i] += counters[i];
}

struct stray *
meter_stray(struct meter *meter, uint64_t addr, bool during)
{
	struct stray *stray;

	for (size_t i = 0; i < meter->nstrays; i++)
		if (meter->strays[i].addr == addr &&
		    meter->strays[i].during == during)
			return &meter->strays[i];
	stray = vec_push(meter->strays, meter->nstrays);
	*stray = (struct stray){ .addr = addr, .during = during };
	return stray;
}

void
meter_add(struct meter *to, const struct meter *from, size_t nsites)
{
	for (size_t i = 0; i < from->ncounters; i++) {
		struct counter *counter = meter_counter(to, i, nsites);

		counter->hits += from->counters[i].hits;
		counter->taken += from->counters[i].taken;
	}
	for (size_t i = 0; i < from->narrivals; i++) {
		const struct arrival *target = &from->arrivals[i];

		meter_arrival(to, target->site, target->plan, target->addr,
			     true)->n += target->n;
	}
	meter_slots(to, 0, from->slots, from->nslots);
	for (size_t i = 0; i < from->nstrays; i++) {
		struct stray *stray = meter_stray(to, from->strays[i].addr,
						  from->strays[i].during);

		stray->left += from->strays[i].left;
		stray->came += from->strays[i].came;
	}
}

/* There may be nothing to fill, and no array. */
static void
array_fill(void *array, int byte, size_t n, size_t size)
{
	if (n)
		memset(array, byte, n * size);
}

void
meter_clear(struct meter *meter)
{
	array_fill(meter->counters, 0, meter->ncounters,
		   sizeof(*meter->counters));
	array_fill(meter->slots, 0, meter->nslots, sizeof(*meter->slots));
	array_fill(meter->arrival_index, 0xff, meter->arrival_size,
		   sizeof(*meter->arrival_index));
	meter->narrivals = 0;
	meter->nstrays = 0;
}

void
meter_free(struct meter *meter)
{
	if (!meter)
		return;
	free(meter->counters);
	free(meter->arrivals);
	free(meter->arrival_index);
	free(meter->strays);
	free(meter->slots);
	free(meter);
}
