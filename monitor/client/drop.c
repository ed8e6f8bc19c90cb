/*
 * Drops counters whose traps cost too much, those that cost most first, until
 * traps slow the program down less than they may.  What they counted is unknown
 * from then on, and reports say why.  Never drops a trap that pmon needs for
 * more than counts.
 */
#include "monitor/client/drop.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/patch/lift.h"
#include "monitor/process/object.h"
#include "report/printable.h"
#include "util/mem.h"

/* The hits of a plan's sites when the time began. */
struct before {
	const struct plan *plan;
	uint64_t *hits;
	size_t n;
};

struct drop {
	struct before *befores;
	size_t nbefores;
};

/* A site, and what its stops have cost since, in seconds. */
struct costly {
	struct plan *plan;
	uint32_t site;
	enum slow_group group;
	double cost;
};

struct costly_list {
	struct costly *sites;
	size_t n;
	double cost, alone;	/* of all, and the program's own time */
};

static void
befores_free(struct drop *drop)
{
	for (size_t i = 0; i < drop->nbefores; i++)
		free(drop->befores[i].hits);
	free(drop->befores);
	*drop = (struct drop){ 0 };
}

struct drop *
drop_open(void)
{
	return mem_alloc(sizeof(struct drop));
}

void
drop_close(struct drop *drop)
{
	if (drop)
		befores_free(drop);
	free(drop);
}

bool
drop_allowed(const struct run *run)
{
	const struct options *opts = run->opts;

	return !opts->exact && !opts->once && opts->patch == PATCH_AUTO;
}

double
drop_bound(const struct run *run)
{
	return slow_units_many(run) ? 3 : 2;
}

/* ---- what sites cost */

void
drop_begin(struct run *run, struct drop *drop)
{
	befores_free(drop);
	for (size_t i = 0; i < run->nobjects; i++) {
		const struct plan *plan = run->objects[i].plan;
		struct before before = { .plan = plan };

		if (!plan)
			continue;
		before.n = plan->nsites;
		before.hits = mem_alloc(before.n * sizeof(*before.hits));
		for (size_t k = 0; k < before.n; k++)
			before.hits[k] = plan_hits(plan, k);
		*vec_push(drop->befores, drop->nbefores) = before;
	}
}

static const struct before *
before_find(const struct drop *drop, const struct plan *plan)
{
	for (size_t i = 0; i < drop->nbefores; i++)
		if (drop->befores[i].plan == plan)
			return &drop->befores[i];
	return NULL;
}

/* The group of a site that may be dropped; GROUP_OTHER if it may not. */
static enum slow_group
site_group(const struct plan *plan, const struct site *site)
{
	if (site->waiting || site->idle || site->lifted || site->skips ||
	    site->insn.kind == INSN_TRAP)
		return GROUP_OTHER;
	if (!site->hook)
		return GROUP_SITES;
	switch (plan->hooks[site->hook - 1].kind) {
	case HOOK_STACK_SWITCH:
	case HOOK_ENTRY:
		return GROUP_STACKS;
	default:
		return GROUP_OTHER;
	}
}

/*
 * What hits of the group's sites have cost, seconds: of the program's processor
 * time, and their share of pmon's.  System calls of a task that is pinned are
 * left out: nobody knows which hits it is pinned for.
 */
static double
group_cost(const struct slow_use *use, const struct stop_costs *costs,
	   enum slow_group group)
{
	double cost = 0;
	uint64_t ns = 0, all = 0;

	for (int i = 0; i < STOP_CAUSES; i++) {
		all += use->stops.ns[i];
		if (i == STOP_CALL_PINNED ||
		    slow_group((enum stop_cause)i) != group)
			continue;
		ns += use->stops.ns[i];
		cost += (double)use->stops.n[i] * stop_cost(costs, i);
	}
	return all ? cost + use->own * (double)ns / (double)all : cost;
}

static void
plan_costly(struct plan *plan, const struct before *before,
	    struct costly_list *list, uint64_t hits[GROUPS])
{
	for (size_t i = 0; i < plan->nsites; i++) {
		enum slow_group group = site_group(plan, &plan->sites[i]);
		uint64_t n = group == GROUP_OTHER ? 0 : plan_hits(plan, i);

		/* A reset may have been meanwhile. */
		if (before && i < before->n && n >= before->hits[i])
			n -= before->hits[i];
		if (!n)
			continue;
		hits[group] += n;
		*vec_push(list->sites, list->n) = (struct costly){
			.plan = plan,
			.site = (uint32_t)i,
			.group = group,
			.cost = (double)n,
		};
	}
}

static int
by_cost(const void *va, const void *vb)
{
	const struct costly *a = va, *b = vb;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}

/* All sites that may be dropped and were hit, the most costly first. */
static struct costly_list
costly_list(const struct run *run, const struct drop *drop,
	    const struct slow_use *use, const struct stop_costs *costs)
{
	struct costly_list list = { .alone = slow_alone(use, costs) };
	uint64_t hits[GROUPS] = { 0 };
	double each[GROUPS] = { 0 };

	for (size_t i = 0; i < run->nobjects; i++)
		if (run->objects[i].plan)
			plan_costly(run->objects[i].plan,
				    before_find(drop, run->objects[i].plan),
				    &list, hits);
	for (int g = 0; g < GROUPS; g++)
		if (hits[g])
			each[g] = group_cost(use, costs, (enum slow_group)g) /
				  (double)hits[g];
	for (size_t i = 0; i < list.n; i++) {
		list.sites[i].cost *= each[list.sites[i].group];
		list.cost += list.sites[i].cost;
	}
	if (list.n)
		qsort(list.sites, list.n, sizeof(*list.sites), by_cost);
	return list;
}

/* ---- dropping */

/*
 * How many of the sites must go, so that the rest costs less than it may, also
 * when it varies.
 */
static size_t
costly_many(const struct costly_list *list, double may)
{
	double rest = list->cost, least = list->cost / 50;
	size_t n = 0;

	while (n < list->n && rest > may * 3 / 4 && rest > least)
		rest -= list->sites[n++].cost;
	return n;
}

/* Of the program's own time, at most what SLOW_MOST allows. */
static double
percent(double cost, double alone)
{
	return cost < alone * SLOW_MOST ? 100 * cost / alone : 100 * SLOW_MOST;
}

static void
site_drop(const struct costly *costly, double alone)
{
	char *why = mem_printf("dropped: cost %.0f %% of the program's time",
			       percent(costly->cost, alone));

	plan_drop(costly->plan, costly->site, why);
	free(why);
}

/* Drop the first n sites. */
static void
list_drop(struct run *run, const struct costly_list *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		site_drop(&list->sites[i], list->alone);
	for (size_t i = 0; i < run->nobjects; i++) {
		struct plan *plan = run->objects[i].plan;
		bool any = false;

		for (size_t k = 0; k < n; k++)
			any |= list->sites[k].plan == plan;
		if (any)
			plan_dropped(run, plan);
	}
}

/* "A, B, C, ...": where the first n sites are; owned by the caller. */
static char *
list_names(const struct run *run, const struct costly_list *list, size_t n)
{
	enum { NAMES_MAX = 3 };
	char *names[NAMES_MAX], *text = mem_strdup("");
	size_t nnames = 0, i, k;

	for (i = 0; i < n && nnames < NAMES_MAX; i++) {
		names[nnames] = slow_name(run, list->sites[i].plan,
					  list->sites[i].site);
		k = 0;
		while (strcmp(names[k], names[nnames]))
			k++;
		if (k == nnames)
			text = mem_join(text, names[nnames++]);
		else
			free(names[nnames]);
	}
	while (nnames)
		free(names[--nnames]);
	return i < n ? mem_join(text, "...") : text;
}

static char *
note(const struct run *run, const struct costly_list *list, size_t n,
     double factor)
{
	char *names = list_names(run, list, n);
	char *number = text_number(n, "breakpoint");
	char *text = mem_printf("%s ran at least %.0f times slower than alone, "
				"so pmon dropped %s, in %s: what needs them is "
				"not known; --exact keeps them",
				run->program, factor, number, names);

	free(number);
	free(names);
	return text;
}

char *
drop_costly(struct run *run, struct drop *drop, const struct slow_use *use,
	    const struct stop_costs *costs)
{
	struct costly_list list = costly_list(run, drop, use, costs);
	double may = list.alone * (drop_bound(run) - 1);
	size_t n = list.cost > may ? costly_many(&list, may) : 0;
	char *text = NULL;

	if (n) {
		list_drop(run, &list, n);
		text = note(run, &list, n, slow_factor(use, costs));
	}
	free(list.sites);
	return text;
}
