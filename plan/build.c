/*
 * The units and terms found while a plan is built, and how they become the
 * plan: units in order, one site for each address, a hash to find it.
 */
#include "plan/build.h"

#include <stdlib.h>

#include "util/fail.h"
#include "util/mem.h"

uint32_t
build_unit(struct build *build, enum unit_kind kind, uint32_t ref,
	   uint32_t line)
{
	struct plan *plan = build->plan;

	*vec_push(plan->units, plan->nunits) = (struct unit){
		.kind = kind, .ref = ref, .line = line,
		.func = kind == UNIT_LINE ? build->func : FUNC_NONE,
	};
	return plan->nunits - 1;
}

void
build_skip(struct build *build, uint64_t addr, const char *why)
{
	struct plan *plan = build->plan;

	*vec_push(plan->skips, plan->nskips) = (struct skip){
		.addr = addr, .why = why,
	};
}

void
build_term(void *ctx, uint32_t unit, const struct term *term)
{
	struct build *build = ctx;

	*vec_push(build->raws, build->nraws) = (struct raw_term){
		.addr = term->addr, .unit = unit, .kind = term->kind,
		.sign = term->sign,
	};
}

static int
by_addr(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

static void
sites_make(struct build *build)
{
	struct plan *plan = build->plan;
	uint64_t *addrs;
	size_t i, n = build->nraws;

	addrs = mem_alloc(n * sizeof(*addrs));
	for (i = 0; i < n; i++)
		addrs[i] = build->raws[i].addr;
	qsort(addrs, n, sizeof(*addrs), by_addr);
	for (i = 0; i < n; i++)
		if (!i || addrs[i] != addrs[i - 1])
			plan->nsites++;
	plan->sites = mem_alloc(plan->nsites * sizeof(*plan->sites));
	plan->nsites = 0;
	for (i = 0; i < n; i++)
		if (!i || addrs[i] != addrs[i - 1])
			plan->sites[plan->nsites++].addr = addrs[i];
	free(addrs);
}

static void
sites_decode(struct build *build)
{
	struct plan *plan = build->plan;
	size_t i, avail;

	for (i = 0; i < plan->nsites; i++) {
		struct site *site = &plan->sites[i];
		const uint8_t *text = image_text(build->image, site->addr,
						 &avail);

		must(text);
		must(build->image->arch->decode(text, avail, site->addr,
						&site->insn) == 0);
	}
}

static uint32_t *
site_slot(const struct plan *plan, uint64_t addr)
{
	uint32_t i = addr * 0x9e3779b97f4a7c15u >> 32;

	for (;; i++) {
		uint32_t *slot = &plan->index[i & plan->index_mask];

		if (*slot == UINT32_MAX || plan->sites[*slot].addr == addr)
			return slot;
	}
}

struct site *
plan_site(const struct plan *plan, uint64_t addr)
{
	uint32_t site = *site_slot(plan, addr);

	return site == UINT32_MAX ? NULL : &plan->sites[site];
}

static void
sites_index(struct plan *plan)
{
	size_t i, size = 1;

	while (size < 2 * plan->nsites)
		size *= 2;
	plan->index = mem_alloc(size * sizeof(*plan->index));
	plan->index_mask = size - 1;
	for (i = 0; i < size; i++)
		plan->index[i] = UINT32_MAX;
	for (i = 0; i < plan->nsites; i++)
		*site_slot(plan, plan->sites[i].addr) = i;
}

static int
by_unit_order(const void *va, const void *vb)
{
	const struct unit *a = va, *b = vb;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->ref != b->ref)
		return a->ref < b->ref ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Units in order; their old numbers, kept in `term`, become ranks. */
static uint32_t *
units_rank(struct plan *plan)
{
	uint32_t *rank = mem_alloc(plan->nunits * sizeof(*rank));
	size_t i;

	for (i = 0; i < plan->nunits; i++)
		plan->units[i].term = i;
	if (plan->nunits)
		qsort(plan->units, plan->nunits, sizeof(*plan->units),
		      by_unit_order);
	for (i = 0; i < plan->nunits; i++)
		rank[plan->units[i].term] = i;
	return rank;
}

static void
terms_place(struct build *build, const uint32_t *rank)
{
	struct plan *plan = build->plan;
	uint32_t at = 0;
	size_t i;

	for (i = 0; i < build->nraws; i++)
		plan->units[rank[build->raws[i].unit]].nterms++;
	for (i = 0; i < plan->nunits; i++) {
		plan->units[i].term = at;
		at += plan->units[i].nterms;
		plan->units[i].nterms = 0;
	}
	plan->nterms = build->nraws;
	plan->terms = mem_alloc(plan->nterms * sizeof(*plan->terms));
	for (i = 0; i < build->nraws; i++) {
		const struct raw_term *raw = &build->raws[i];
		struct unit *unit = &plan->units[rank[raw->unit]];
		struct site *site = plan_site(plan, raw->addr);

		if (raw->kind != TERM_HITS)
			site->branch = true;
		plan->terms[unit->term + unit->nterms++] = (struct plan_term){
			.site = site - plan->sites, .kind = raw->kind,
			.sign = raw->sign,
		};
	}
}

void
build_freeze(struct build *build)
{
	struct plan *plan = build->plan;
	uint32_t *rank;
	size_t i;

	sites_make(build);
	sites_decode(build);
	sites_index(plan);
	rank = units_rank(plan);
	terms_place(build, rank);
	free(rank);
	/* One bad row does not spoil a line that has good ones. */
	for (i = 0; i < plan->nunits; i++)
		if (plan->units[i].nterms)
			plan->units[i].why = NULL;
}
