/*
 * Counting inside the host: qemu and SIMH's VAX count by themselves, at a
 * fraction of a trap's cost.  It is given the sites before the program runs.  Its counts are
 * fetched when a report is made, and clients are told.  Never chooses the sites.
 */
#include "monitor/patch/host_counters.h"

#include <stdlib.h>

#include "monitor/process/client.h"
#include "monitor/run.h"
#include "util/fail.h"
#include "util/mem.h"
#include "util/sort.h"

struct host_counters {
	struct plan *plan;
	uint64_t lo, hi, bias;	/* of the module */
	struct host_site *sites;	/* ascending va */
	uint32_t *indices;	/* of the same sites in the plan */
	uint64_t before;	/* the sum of the hits at the last reset */
	struct host_site *told;	/* the same sites, as clients were told */
	size_t n;
};

bool
host_counters_wanted(const struct run *run)
{
	const struct host_counting *counting = run->host->counting;
	const char *why;

	if (!counting || run->opts->patch == PATCH_STEP ||
	    (run->opts->patch != PATCH_AUTO && !counting->traps))
		return false;
	return !counting->able || counting->able(&why);
}

/* Orders sites by their first member, the va. */
static int
by_va(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return (a > b) - (a < b);
}

static void
site_add(struct host_counters *counters, const struct module *module,
	 uint32_t i)
{
	const struct site *site = &module->plan->sites[i];
	uint64_t next = site->addr + site->insn.len;
	bool branch = site->branch && site->insn.target != next;

	*vec_push(counters->sites, counters->n) = (struct host_site){
		.va = site->addr + module->bias,
		.next = branch ? next + module->bias : 0,
		.target = branch ? site->insn.target + module->bias : 0,
		.syscall = site->insn.kind == INSN_SYSCALL,
		.jump = site->targets,
	};
}

/* Where jumps may go. */
struct places {
	uint64_t *vas;
	size_t n;
};

/* Where control comes to the function plan by counted jumps; or all returns. */
static void
fplan_places(const struct func_plan *fplan, bool returns, struct places *places)
{
	for (size_t i = 0; i < fplan->ncounter_refs; i++)
		if (fplan->counter_refs[i].kind == TERM_TARGET)
			*vec_push(places->vas,
				  places->n) = fplan->counter_refs[i].to;
	for (size_t i = 0; returns && fplan->cfg && i < fplan->cfg->ninsns;
	     i++) {
		const struct insn *insn = &fplan->cfg->insns[i];

		if (insn->kind == INSN_CALL || insn->kind == INSN_CALL_INDIRECT)
			*vec_push(places->vas, places->n) = insn->addr +
							    insn->len;
	}
}

/*
 * Tell the host where jumps and calls go, if any site is to tell.  What is no
 * switch goes to functions, and jumps that restore a context go behind calls.
 */
static void
places_tell(const struct run *run, const struct host_counters *counters)
{
	const struct plan *plan = counters->plan;
	struct places places = { 0 };
	bool jumps = false, calls = false;

	for (size_t i = 0; i < counters->n; i++) {
		const struct insn *insn =
			&plan->sites[counters->indices[i]].insn;

		jumps |= counters->sites[i].jump;
		calls |= counters->sites[i].jump && insn->flow != FLOW_TABLE;
	}
	if (!jumps)
		return;
	for (size_t i = 0; calls && i < plan->image->nfuncs; i++)
		*vec_push(places.vas, places.n) = run->arch->first(
			plan->image->funcs[i].addr);
	for (size_t i = 0; i < plan->nfplans; i++)
		fplan_places(&plan->fplans[i], calls, &places);
	for (size_t i = 0; i < places.n; i++)
		places.vas[i] += counters->bias;
	run->host->counting->places(places.vas, places.n);
	free(places.vas);
}

static void
sites_lose(const struct host_counters *counters)
{
	for (size_t i = 0; i < counters->n; i++)
		counters->plan->sites[counters->indices[i]].lost = true;
}

void
host_counters_plant(struct run *run, const struct module *module)
{
	struct host_counters *counters = mem_alloc(sizeof(*counters));
	size_t n = 0;

	must(!run->host_counters);
	run->host_counters = counters;
	counters->plan = module->plan;
	counters->lo = module->lo;
	counters->hi = module->hi;
	counters->bias = module->bias;
	for (size_t i = 0; i < module->nsites; i++)
		if (module->patched[i].patch == PATCH_HOST)
			site_add(counters, module, i);
	if (!counters->n)
		return;
	sort(counters->sites, counters->n, sizeof(*counters->sites), by_va);
	for (size_t i = 0; i < counters->n; i++)
		*vec_push(counters->indices,
			  n) = plan_site(module->plan,
					 counters->sites[i].va - module->bias) -
			       module->plan->sites;
	counters->told = mem_alloc(counters->n * sizeof(*counters->told));
	places_tell(run, counters);
	if (!run->host->counting->plant(counters->sites, counters->n)) {
		module->plan->inside = true;
		return;
	}
	run_remark(run, "not counted: %s", fail_message());
	sites_lose(counters);
	counters->n = 0;
}

static void
remarks_fetch(struct run *run)
{
	char *const *remarks;
	size_t n;

	if (!run->host->remarks)
		return;
	remarks = run->host->remarks(&n);
	for (size_t i = 0; i < n; i++)
		run_remark(run, "%s", remarks[i]);
}

static bool
counters_used(const struct run *run)
{
	return run->host_counters && run->host_counters->n;
}

/* A jump or call went somewhere: elsewhere[site] is what is left of its hits. */
static void
arrival_tell(struct run *run, const struct host_arrival *arrived,
	     uint64_t *elsewhere)
{
	const struct host_counters *counters = run->host_counters;
	bool own = arrived->va >= counters->lo && arrived->va < counters->hi;
	struct arrival arrival = {
		.site = counters->indices[arrived->site],
		.plan = counters->plan,
		.addr = arrived->va - counters->bias,
		.n = arrived->n,
	};

	if (!own)
		return;
	elsewhere[arrived->site] -= arrived->n;
	client_host_went(run, counters->plan, &arrival);
}

/* Tell where jumps and calls went; elsewhere has their new hits. */
static void
arrivals_tell(struct run *run, uint64_t *elsewhere)
{
	const struct host_counters *counters = run->host_counters;
	size_t n;
	struct host_arrival *arrived = run->host->counting->arrived(&n);

	for (size_t i = 0; i < n; i++)
		arrival_tell(run, &arrived[i], elsewhere);
	free(arrived);
	for (size_t i = 0; i < counters->n; i++) {
		struct arrival arrival = {
			.site = counters->indices[i],
			.n = elsewhere[i],
		};

		if (counters->sites[i].jump && elsewhere[i])
			client_host_went(run, counters->plan, &arrival);
	}
}

uint64_t
host_counters_fetch(struct run *run)
{
	struct host_counters *counters = run->host_counters;
	uint64_t sum = 0, *fresh;

	remarks_fetch(run);
	if (!counters_used(run))
		return 0;
	if (run->host->counting->fetch(counters->sites, counters->n)) {
		sites_lose(counters);
		return 0;
	}
	fresh = mem_alloc(counters->n * sizeof(*fresh));
	for (size_t i = 0; i < counters->n; i++) {
		const struct host_site *now = &counters->sites[i];
		struct host_site *told = &counters->told[i];

		client_host_counted(run, counters->plan, counters->indices[i],
				    now->hits - told->hits,
				    now->taken - told->taken);
		fresh[i] = now->hits - told->hits;
		*told = *now;
		sum += now->hits;
	}
	if (run->host->counting->arrived)
		arrivals_tell(run, fresh);
	free(fresh);
	return sum - counters->before;
}

void
host_counters_reset(struct run *run)
{
	uint64_t sum = host_counters_fetch(run);

	if (counters_used(run))
		run->host_counters->before += sum;
}

void
host_counters_close(struct run *run)
{
	struct host_counters *counters = run->host_counters;

	if (run->host->close)
		run->host->close();
	if (!counters)
		return;
	free(counters->sites);
	free(counters->indices);
	free(counters->told);
	free(counters);
}
