/*
 * Finds the calls that functions make.  Never prints.
 */
#include "report/callees.h"

#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "util/mem.h"
#include "util/search.h"

const char callees_unrecorded[] =
	"targets of indirect calls were not recorded (--units=call)";
const char callees_unseen[] =
	"an indirect call was begun, but its target was not seen";

/* ---- where indirect calls went */

static int
by_site(const void *va, const void *vb)
{
	const struct arrival *a = va, *b = vb;
	int order = 0;

	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->plan && b->plan)
		order = strcmp(a->plan->image->path, b->plan->image->path);
	if (order)
		return order;
	if (a->plan != b->plan)
		return (uintptr_t)a->plan < (uintptr_t)b->plan ? -1 : 1;
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* Gather the arrivals of a plan, summed over its counter sets. */
static void
arrivals_gather(struct callees *callees, const struct plan *plan)
{
	size_t n = 0;

	if (callees->plan == plan)
		return;
	callees->plan = plan;
	callees->narrivals = 0;
	for (size_t m = 0; m < plan->ncounter_sets; m++)
		for (size_t i = 0; i < plan->counter_sets[m]->narrivals; i++)
			*vec_push(callees->arrivals, callees->narrivals) =
				plan->counter_sets[m]->arrivals[i];
	if (callees->narrivals)
		qsort(callees->arrivals, callees->narrivals,
		      sizeof(*callees->arrivals), by_site);
	for (size_t i = 0; i < callees->narrivals; i++) {
		struct arrival *arrival = &callees->arrivals[i];

		if (n && by_site(&callees->arrivals[n - 1], arrival) == 0)
			callees->arrivals[n - 1].n += arrival->n;
		else
			callees->arrivals[n++] = *arrival;
	}
	callees->narrivals = n;
}

/*
 * The site of an indirect call whose targets were recorded, or NULL.  Such a
 * site has a counter of its own.  In some process it may be missing.
 */
static const struct site *
site_recorded(const struct view *view, const struct insn *insn)
{
	const struct site *site = plan_site(view->plan, insn->addr);

	return site && site->targets && !site->lost && !view->fplan->unwritten ?
		       site :
		       NULL;
}

/* The first arrival of a site, or narrivals. */
static size_t
arrivals_of(const struct callees *callees, uint32_t site)
{
	return search_first(callees->narrivals, i,
			    callees->arrivals[i].site >= site);
}

/* ---- the calls of one function */

static void
call_add(struct callees *callees, uint32_t insn, char *name, const char *how,
	 struct figure count, enum callee_where where)
{
	*vec_push(callees->calls, callees->n) = (struct callee){
		.insn = insn,
		.name = name,
		.how = how,
		.count = count,
		.where = (uint8_t)where,
	};
}

/* Set the target of the call that was added last. */
static void
call_lead(struct callees *callees, const struct plan *plan, uint64_t addr)
{
	callees->calls[callees->n - 1].plan = plan;
	callees->calls[callees->n - 1].addr = addr;
}

static char *
name_imported_shown(const struct view *view, const struct insn *insn)
{
	const char *import = name_imported(view->plan->image, insn);
	char *name, *text;

	if (!import)
		return NULL;
	name = name_shown(import, view->table->opts->demangle);
	text = mem_printf("%s@got", name);
	free(name);
	return text;
}

/* The name of a target; "f in libx.so" if another object has it. */
static char *
arrival_name(const struct view *view, const struct insn *insn,
	     const struct arrival *arrival)
{
	bool demangled = view->table->opts->demangle;
	char *name, *text;

	if (!arrival->plan) {
		text = name_imported_shown(view, insn);
		return text ? text : mem_strdup("outside the objects counted");
	}
	name = name_of_addr(arrival->plan, arrival->addr, demangled);
	if (arrival->plan == view->plan)
		return name;
	text = mem_printf("%s in %s", name,
			  basename(arrival->plan->image->path));
	free(name);
	return text;
}

static int
by_times(const void *va, const void *vb)
{
	const struct callee *a = va, *b = vb;

	if (a->count.n != b->count.n)
		return a->count.n > b->count.n ? -1 : 1;
	return strcmp(a->name, b->name);
}

/*
 * Add the arrivals of a site that are calls, most frequent first, and the rest
 * of its count, whose targets were not seen.
 */
static void
arrivals_add(struct callees *callees, const struct view *view, uint32_t i,
	     uint32_t site, struct figure count)
{
	const struct insn *insn = &view->fplan->cfg->insns[i];
	bool jump = insn->kind == INSN_JUMP_INDIRECT;
	const char *how = jump ? "indirect tail call" : "indirect";
	struct figure rest = count;
	size_t first = callees->n;

	for (size_t a = arrivals_of(callees, site);
	     a < callees->narrivals && callees->arrivals[a].site == site; a++) {
		const struct arrival *arrival = &callees->arrivals[a];

		if (!rest.why)
			rest.n -= arrival->n < rest.n ? arrival->n : rest.n;
		if (jump && arrival->plan == view->plan &&
		    cfg_insn(view->fplan->cfg, arrival->addr) >= 0)
			continue;
		call_add(callees, i, arrival_name(view, insn, arrival), how,
			 (struct figure){ arrival->n, NULL },
			 arrival->plan ? CALLEE_AT : CALLEE_OUTSIDE);
		call_lead(callees, arrival->plan, arrival->addr);
	}
	if (callees->n > first)
		qsort(callees->calls + first, callees->n - first,
		      sizeof(*callees->calls), by_times);
	if (!rest.why && rest.n)
		call_add(callees, i, NULL, how, rest, CALLEE_UNSEEN);
}

static void
indirect_add(struct callees *callees, const struct view *view, uint32_t i,
	     struct figure count)
{
	const struct insn *insn = &view->fplan->cfg->insns[i];
	const struct site *site = site_recorded(view, insn);
	bool jump = insn->kind == INSN_JUMP_INDIRECT;

	arrivals_gather(callees, view->plan);
	if (site) {
		arrivals_add(callees, view, i, site - view->plan->sites, count);
		return;
	}
	/* The jump may have stayed in the function. */
	if (jump && insn->flow != FLOW_LEAVES)
		count.why = callees_unrecorded;
	call_add(callees, i, name_imported_shown(view, insn),
		 jump ? "indirect tail call" : "indirect", count,
		 CALLEE_UNRECORDED);
}

/*
 * Whether an instruction is a call, and if so how often it was made.  A jump to
 * another function is a call.
 */
static bool
insn_calls(const struct view *view, uint32_t block, uint32_t i,
	   struct figure *count)
{
	const struct cfg *cfg = view->fplan->cfg;
	const struct insn *insn = &cfg->insns[i];
	const struct site *site;
	uint32_t edge;

	switch (insn->kind) {
	case INSN_JUMP:
	case INSN_BRANCH:
		if (cfg_insn(cfg, insn->target) >= 0)
			return false;
		break;
	case INSN_JUMP_INDIRECT:
		if (insn->flow == FLOW_TABLE)
			return false;
		break;
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		break;
	default:
		return false;
	}
	*count = view_insn(view, i);
	site = site_recorded(view, insn);
	if (count->why && site)
		*count = (struct figure){
			.n = plan_hits(view->plan, site - view->plan->sites),
		};
	if (insn->kind != INSN_BRANCH || (!count->why && !count->n))
		return true;
	edge = view_way(view, block, BY_TAKEN);
	if (edge != ARC_NONE)
		*count = view_edge(view, edge);
	return true;
}

static void
insn_add(struct callees *callees, const struct view *view, uint32_t block,
	 uint32_t i)
{
	const struct insn *insn = &view->fplan->cfg->insns[i];
	struct figure count;

	if (!insn_calls(view, block, i, &count))
		return;
	if (!count.why && !count.n) {
		callees->never++;
		return;
	}
	callees->made++;
	if (insn->kind == INSN_CALL_INDIRECT ||
	    insn->kind == INSN_JUMP_INDIRECT) {
		indirect_add(callees, view, i, count);
		return;
	}
	call_add(callees, i,
		 name_of_addr(view->plan, insn->target,
			      view->table->opts->demangle),
		 insn->kind == INSN_CALL ? "" : "tail call", count, CALLEE_AT);
	call_lead(callees, view->plan, insn->target);
}

void
callees_clear(struct callees *callees)
{
	for (size_t i = 0; i < callees->n; i++)
		free(callees->calls[i].name);
	callees->n = 0;
}

void
callees_find(struct callees *callees, const struct view *view)
{
	const struct cfg *cfg = view->fplan->cfg;

	callees_clear(callees);
	for (uint32_t b = 0; b < cfg->nblocks; b++) {
		const struct block *block = &cfg->blocks[b];

		if (view->padding[b])
			continue;
		for (uint32_t i = 0; i < block->count; i++)
			insn_add(callees, view, b, block->first + i);
	}
}

void
callees_free(struct callees *callees)
{
	callees_clear(callees);
	free(callees->calls);
	free(callees->arrivals);
}
