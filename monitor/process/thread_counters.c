/*
 * The counters of one module in one thread page: guards them, tells clients
 * what they have counted, and compares what the program sees of them.  Never
 * chooses a page, and never touches a register.
 */
#include "monitor/process/thread_counters.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/process/client.h"
#include "util/mem.h"

/* A guard's value, which is hardly ever written by chance. */
static uint64_t
guard_value(uint32_t number)
{
	return UINT64_C(0xa7c15f3b9e8d2461) ^ number;
}

void
counters_guard(const struct module *module, uint8_t *page, size_t from)
{
	const struct plan *plan = module->plan;
	uint64_t *slots = (void *)(page + module->thread_page);

	for (size_t i = from; module->relocated && i < plan->nguards; i++)
		slots[plan->guards[i]] = guard_value(plan->guards[i]);
}

/* Are the guards as written?  Set them to 0, as they count nothing. */
static bool
guards_take(const struct module *module, uint64_t *slots)
{
	const struct plan *plan = module->plan;
	bool good = true;

	for (size_t i = 0; i < module->nguards; i++) {
		good &= slots[plan->guards[i]] == guard_value(plan->guards[i]);
		slots[plan->guards[i]] = 0;
	}
	return good;
}

void
counters_fold(struct run *run, const struct task *task,
	      const struct module *module, uint8_t *page)
{
	uint64_t *slots = (void *)(page + module->thread_page);
	size_t n = module->plan->nslots;

	if (!module->relocated || !n)
		return;
	if (!guards_take(module, slots))
		module->plan->tampered = true;
	client_drained(run, task, module->plan, 0, slots, n);
	memset(slots, 0, n * sizeof(*slots));
}

bool
counters_seen(struct run *run, const struct task *task,
	      const struct module *module, const uint8_t *page, uint64_t va)
{
	size_t n = module->plan->nslots * sizeof(uint64_t);
	uint8_t *bytes;
	bool same;

	if (!module->relocated || !n)
		return true;
	bytes = mem_alloc(n);
	same = !run->host->data_read(task->tid, va + module->thread_page, bytes,
				     n) &&
	       !memcmp(bytes, page + module->thread_page, n);
	free(bytes);
	return same;
}
