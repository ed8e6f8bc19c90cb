/*
 * The function plans and sites of a plan: finds them by address, makes sites,
 * and keeps the state of a function plan.  Decides nothing.
 */
#include "probe/build.h"

#include <elf.h>
#include <stdlib.h>

#include "util/fail.h"
#include "util/mem.h"
#include "util/search.h"

enum { INDEX_MIN = 256 };

/* ---- sites */

static uint32_t *
site_slot(const struct plan *plan, uint64_t addr)
{
	/* Sites of one function get slots near one another. */
	uint32_t i = ((addr >> 7) * 0x9e3779b97f4a7c15u >> 32) +
		     (addr >> 1 & 63);

	for (;; i++) {
		uint32_t *slot = &plan->index[i & (plan->index_size - 1)];

		if (*slot == SITE_NONE || plan->sites[*slot].addr == addr)
			return slot;
	}
}

struct site *
plan_site(const struct plan *plan, uint64_t addr)
{
	uint32_t site;

	if (!plan->nsites)
		return NULL;
	site = *site_slot(plan, addr);
	return site == SITE_NONE ? NULL : &plan->sites[site];
}

static void
index_grow(struct plan *plan)
{
	plan->index_size = plan->index_size ? 2 * plan->index_size : INDEX_MIN;
	free(plan->index);
	plan->index = mem_alloc(plan->index_size * sizeof(*plan->index));
	for (size_t i = 0; i < plan->index_size; i++)
		plan->index[i] = SITE_NONE;
	for (size_t i = 0; i < plan->nsites; i++)
		*site_slot(plan, plan->sites[i].addr) = i;
}

/* Whether addr is proven code: only there a site may be planted. */
static bool
site_proven(const struct plan *plan, uint64_t addr, uint32_t fplan)
{
	const struct cfg *cfg = fplan == FPLAN_NONE ? NULL :
						      plan->fplans[fplan].cfg;
	long insn;

	if (!cfg || plan->options.counted)
		return true;
	insn = cfg_insn(cfg, addr);
	if (insn < 0)
		return plan->fplans[fplan].partial;
	return cfg_proven(cfg, (size_t)insn);
}

uint32_t
build_site(struct build *build, uint64_t addr, uint32_t fplan)
{
	struct plan *plan = build->plan;
	struct site *site = plan_site(plan, addr);
	const uint8_t *text;
	size_t avail;

	if (site) {
		/* A site for a hook alone has no function plan yet. */
		if (site->fplan == FPLAN_NONE)
			site->fplan = fplan;
		return site - plan->sites;
	}
	if (2 * plan->nsites >= plan->index_size)
		index_grow(plan);
	text = image_text(build->image, addr, &avail);
	must(text && site_proven(plan, addr, fplan));
	site = vec_push(plan->sites, plan->nsites);
	*site = (struct site){ .addr = addr, .fplan = fplan };
	must(build->image->arch->decode(text, avail, addr, &site->insn) == 0);
	*site_slot(plan, addr) = plan->nsites - 1;
	return plan->nsites - 1;
}

void
site_rest(struct plan *plan, uint32_t site)
{
	if (site != SITE_NONE)
		plan->sites[site].idle = !plan->sites[site].hook;
}

/* ---- function plans */

uint32_t
plan_func(const struct plan *plan, uint64_t addr)
{
	const struct build *build = plan->build;
	size_t lo = search_first(build->nowners, i,
				 build->owners[i].range.lo > addr);

	if (lo && addr < build->owners[lo - 1].range.hi)
		return build->owners[lo - 1].fplan;
	lo = search_first(build->nparts, i, build->parts[i].range.lo > addr);
	if (lo && addr < build->parts[lo - 1].range.hi)
		return build->parts[lo - 1].fplan;
	return FPLAN_NONE;
}

const struct func *
plan_func_at(const struct plan *plan, uint64_t addr)
{
	uint32_t fplan = plan_func(plan, addr);

	return fplan == FPLAN_NONE ?
		       NULL :
		       fplan_func(&plan->fplans[fplan], plan->image);
}

uint32_t
site_read(struct plan *plan, const struct term *term)
{
	struct site *site = plan_site(plan, term->addr);

	if (term->kind == TERM_TAKEN || term->kind == TERM_FALL)
		site->branch = true;
	if (term->kind == TERM_TARGET)
		site->targets = true;
	return (uint32_t)(site - plan->sites);
}

void
fplan_counter_ref(struct plan *plan, struct func_plan *fplan,
		  const struct term *term)
{
	*vec_push(fplan->counter_refs,
		  fplan->ncounter_refs) = (struct counter_ref){
		.site = site_read(plan, term),
		.kind = term->kind,
		.to = term->to,
	};
}

void
fplan_ready(struct build *build, struct func_plan *fplan)
{
	struct plan *plan = build->plan;

	fplan->state = FPLAN_READY;
	if (fplan->site == SITE_NONE)
		return;
	plan->sites[fplan->site].waiting = false;
	*vec_push(plan->woken, plan->nwoken) = fplan->site;
}

struct unit_code
fplan_code(const struct func_plan *fplan)
{
	return (struct unit_code){
		.func = fplan->func,
		.ranges = fplan->ranges,
		.nranges = fplan->nranges,
		.cfg = fplan->cfg,
		.flow = fplan->flow,
		.mid_entered = fplan->mid_entered || fplan->came_back,
	};
}

void
fplan_clear(struct func_plan *fplan)
{
	cfg_free(fplan->cfg);
	flow_free(fplan->flow);
	free(fplan->counts);
	fplan->cfg = NULL;
	fplan->flow = NULL;
	fplan->counts = NULL;
	fplan->looked = false;
	fplan->partial = false;
}

void
plan_miss(struct plan *plan)
{
	for (size_t i = 0; i < plan->nfplans; i++)
		if (plan->fplans[i].state == FPLAN_WAITING)
			plan->fplans[i].missed = true;
}

void
plan_drop(struct plan *plan, uint32_t index, const char *why)
{
	struct site *site = &plan->sites[index];
	struct func_plan *fplan = site->fplan == FPLAN_NONE ?
					  NULL :
					  &plan->fplans[site->fplan];

	site->lost = site->lifted = true;
	plan->unfollowed |= site->hook != 0;
	if (!fplan)
		return;
	if (!fplan->dropped)
		fplan->dropped = mem_strdup(why);
	if (!site->leads || fplan->lost)
		return;
	fplan->lost = true;
	*vec_push(plan->reverted, plan->nreverted) = site->fplan;
}

void
plan_lose(struct plan *plan)
{
	for (size_t i = 0; i < plan->nsites; i++)
		plan->sites[i].lost = true;
	/* Relocated functions count without sites. */
	for (size_t i = 0; i < plan->nfplans; i++)
		plan->fplans[i].unwritten = true;
}

void
plan_lose_range(struct plan *plan, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < plan->nfplans; i++)
		for (size_t k = 0; k < plan->fplans[i].nranges; k++)
			plan->fplans[i].unwritten |=
				plan->fplans[i].ranges[k].lo < hi &&
				plan->fplans[i].ranges[k].hi > lo;
	for (size_t i = 0; i < plan->nsites; i++)
		plan->sites[i].lost |= plan->sites[i].addr >= lo &&
				       plan->sites[i].addr < hi;
}

bool
plan_graphs(const struct plan *plan)
{
	return plan->units & UNITS_GRAPH;
}

bool
plan_infers(const struct plan *plan)
{
	return plan_graphs(plan) && plan->options.method != PLACE_ONCE;
}

unsigned
plan_follows(const struct plan *plan)
{
	if (!plan_infers(plan))
		return 0;
	return HOOKS_EXECS | (plan->options.unswitched ? 0 : HOOKS_SWITCHES);
}

bool
plan_rewrites(const struct plan *plan)
{
	const struct image *image = plan->image;

	for (size_t i = 0; i < image->nsegments; i++)
		if (image->segments[i].flags & PF_X &&
		    image->segments[i].flags & PF_W)
			return true;
	return image->protects || (plan->options.sel && image->maps);
}
