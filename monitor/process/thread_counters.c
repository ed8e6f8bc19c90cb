/*
 * The counters of one module in one thread page, or in the module's shared page:
 * guards them, tells clients what they have counted, and compares what the
 * program sees of them.  Never chooses a thread page, and never touches a
 * register.
 */
#include "monitor/process/thread_counters.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/process/client.h"
#include "monitor/process/regions.h"
#include "util/mem.h"

/* A guard's value, which is hardly ever written by chance. */
static uint64_t
guard_value(uint32_t number)
{
	return UINT64_C(0xa7c15f3b9e8d2461) ^ number;
}

/* The page that the module's counters are in: its shared page, if it has one. */
static uint8_t *
counters_page(const struct module *module, uint8_t *page)
{
	return module->shared.bytes ? module->shared.bytes : page;
}

static uint64_t *
counters_words(const struct module *module, uint8_t *page)
{
	return region_words(&module->counters, counters_page(module, page));
}

void
counters_guard(const struct module *module, uint8_t *page, size_t from,
	       size_t to)
{
	const struct plan *plan = module->plan;
	uint64_t *slots = counters_words(module, page);
	size_t n = region_fits(&module->counters, plan->nslots);

	for (size_t i = from; module->relocated && i < to; i++)
		if (plan->guards[i] < n)
			slots[plan->guards[i]] = guard_value(plan->guards[i]);
}

/* Are the guards as written?  Set them to 0, as they count nothing. */
static bool
guards_take(const struct module *module, uint64_t *slots)
{
	const struct plan *plan = module->plan;
	size_t n = region_fits(&module->counters, plan->nslots);
	bool good = true;

	for (size_t i = 0; i < module->nguards; i++) {
		if (plan->guards[i] >= n)
			continue;
		good &= slots[plan->guards[i]] == guard_value(plan->guards[i]);
		slots[plan->guards[i]] = 0;
	}
	return good;
}

struct drain {
	struct run *run;
	const struct task *task;
	struct plan *plan;
};

static void
counters_tell(void *ctx, const uint64_t *counters, size_t n)
{
	const struct drain *drain = ctx;

	client_drained(drain->run, drain->task, drain->plan, 0, counters, n);
}

void
counters_drain(struct run *run, const struct task *task,
	       const struct module *module, uint8_t *page)
{
	struct drain drain = { run, task, module->plan };

	if (!module->relocated || !module->plan->nslots)
		return;
	if (!guards_take(module, counters_words(module, page)))
		module->plan->tampered = true;
	region_drain(&module->counters, counters_page(module, page),
		     module->plan->nslots, counters_tell, &drain);
	/* Other tasks go on counting there. */
	if (module->shared.bytes)
		counters_guard(module, page, 0, module->nguards);
}

/* Are the guards among the first n bytes of slots as written? */
static bool
guards_stand(const struct module *module, const uint64_t *slots, size_t n)
{
	const struct plan *plan = module->plan;
	bool good = true;

	for (size_t i = 0; i < module->nguards && good; i++)
		good = plan->guards[i] >= n / sizeof(*slots) ||
		       slots[plan->guards[i]] == guard_value(plan->guards[i]);
	return good;
}

/* Read memory that the program may have protected; whether that was done. */
static bool
task_sees(struct run *run, const struct task *task, uint64_t va, void *seen,
	  size_t n)
{
	return !run->host->data_read(task->tid, va, seen, n) ||
	       !run->host->mem_read(task->process->space->mem, task->tid, va,
				    seen, n);
}

bool
counters_seen(struct run *run, const struct task *task,
	      const struct module *module, uint8_t *page, uint64_t va)
{
	const struct region *region = &module->counters;
	size_t n = region_fits(region, module->plan->nslots) * sizeof(uint64_t);
	uint64_t *seen, generation;
	bool same;

	if (!module->relocated || !n)
		return true;
	if (module->shared.va)
		va = module->shared.va;
	seen = mem_alloc(n);
	same = task_sees(run, task, va + region->offset, seen, n) &&
	       task_sees(run, task, va + region_generation.offset, &generation,
			 sizeof(generation));
	/* A copy, which only the program counts in, has an old one. */
	if (same)
		same = generation == *region_words(&region_generation,
						   counters_page(module, page));
	/* Other tasks may be counting in a shared page. */
	if (same && module->shared.va)
		same = guards_stand(module, seen, n);
	else if (same)
		same = !memcmp(seen, counters_words(module, page), n);
	free(seen);
	return same;
}
