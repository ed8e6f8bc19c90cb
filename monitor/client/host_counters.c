/*
 * Counting inside the host: SIMH's VAX counts by itself, at a thousandth of a
 * trap's cost.  It is given the sites before the program runs, and its counts
 * are fetched when a report is made.  Never chooses the sites.
 */
#include <stdlib.h>

#include "host/simh.h"
#include "monitor/client/host_counters.h"
#include "monitor/run.h"
#include "util/fail.h"
#include "util/mem.h"

/* Orders sites by their first member, the va. */
static int
by_va(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return (a > b) - (a < b);
}

static void
site_add(struct run *run, const struct module *module, uint32_t i)
{
	const struct site *site = &module->plan->sites[i];
	uint64_t next = site->addr + site->insn.len;

	*vec_push(run->counted, run->ncounted) = (struct simh_site){
		.va = site->addr + module->bias,
		.next = site->branch && site->insn.target != next ?
			next + module->bias : 0,
	};
}

void
host_counters_plant(struct run *run, const struct module *module)
{
	must(!run->counted_plan);
	run->counted_plan = module->plan;
	for (size_t i = 0; i < module->nsites; i++)
		if (module->patched[i].patch == PATCH_HOST)
			site_add(run, module, i);
	if (!run->ncounted)
		return;
	qsort(run->counted, run->ncounted, sizeof(*run->counted), by_va);
	for (size_t i = 0; i < run->ncounted; i++)
		*vec_push(run->counted_site, run->ncounted_site) =
			plan_site(module->plan, run->counted[i].va -
				  module->bias) - module->plan->sites;
	if (!simh_count(run->counted, run->ncounted))
		return;
	run_remark(run, "not counted: %s", fail_message());
	for (size_t i = 0; i < run->ncounted; i++)
		module->plan->sites[run->counted_site[i]].lost = true;
	run->ncounted = 0;
}

static void
remarks_fetch(struct run *run)
{
	char *const *remarks;
	size_t n;

	remarks = simh_remarks(&n);
	for (size_t i = 0; i < n; i++)
		run_remark(run, "%s", remarks[i]);
}

uint64_t
host_counters_fetch(struct run *run)
{
	struct plan *plan = run->counted_plan;
	struct counter *counter;
	uint64_t sum = 0;

	if (run->host == &host_simh)
		remarks_fetch(run);
	if (!run->ncounted)
		return 0;
	if (simh_counts(run->counted, run->ncounted)) {
		for (size_t i = 0; i < run->ncounted; i++)
			plan->sites[run->counted_site[i]].lost = true;
		return 0;
	}
	for (size_t i = 0; i < run->ncounted; i++) {
		counter = counter_set_site(plan_counter_set(plan, 0),
					   run->counted_site[i], plan->nsites);
		counter->hits = run->counted[i].hits;
		counter->taken = run->counted[i].taken;
		sum += counter->hits;
	}
	return sum;
}

void
host_counters_close(struct run *run)
{
	if (run->host == &host_simh)
		simh_close();
	free(run->counted);
	free(run->counted_site);
}
