/*
 * Writes a profile for llvm-bolt, .fdata (bolt/lib/Profile/DataReader.cpp of
 * LLVM).  Edges and calls are branches with their exact counts, as in profiles
 * of programs that BOLT instruments; none is mispredicted.  A file is for one
 * object, the program itself.  Here blocks may also begin at line rows, which
 * BOLT does not know: only edges between BOLT's own blocks are written.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/callees.h"
#include "report/kinds.h"
#include "report/printable.h"
#include "util/mem.h"

struct page {
	FILE *out;
	const struct plan *plan;
	char **names;		/* per function, as BOLT names it */
	uint64_t *called;	/* per function: calls written */
	struct callees callees;
};

/* ---- names */

static char *
name_escape(const char *name)
{
	char *line = text_line(name);
	char *text = mem_alloc(2 * strlen(line) + 1), *to = text;

	for (const char *c = line; *c; c++) {
		if (*c == ' ' || *c == '\\')
			*to++ = '\\';
		*to++ = *c;
	}
	free(line);
	return text;
}

static int
by_name(const void *va, const void *vb)
{
	const struct func *a = *(const struct func *const *)va;
	const struct func *b = *(const struct func *const *)vb;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* BOLT's name of each function.  Local ones are numbered by address: "f/1". */
static char **
names_make(const struct image *image)
{
	char **names = mem_alloc(image->nfuncs * sizeof(*names));
	const struct func **order = mem_alloc(image->nfuncs * sizeof(*order));
	size_t number = 0;

	for (size_t i = 0; i < image->nfuncs; i++)
		order[i] = &image->funcs[i];
	if (image->nfuncs)
		qsort(order, image->nfuncs, sizeof(const struct func *),
		      by_name);
	for (size_t i = 0; i < image->nfuncs; i++) {
		char *name = name_escape(order[i]->name);

		if (!i || strcmp(order[i - 1]->name, order[i]->name))
			number = 0;
		number += order[i]->local;
		names[order[i] - image->funcs] = !order[i]->local ?
							 mem_strdup(name) :
							 mem_printf("%s/%zu",
								    name,
								    number);
		free(name);
	}
	free(order);
	return names;
}

/* ---- branches */

/* The offset of an address in the function's first range, or -1. */
static int64_t
offset_of(const struct func_plan *fplan, uint64_t addr)
{
	const struct range *range = fplan->ranges;

	return addr >= range->lo && addr < range->hi ?
		       (int64_t)(addr - range->lo) :
		       -1;
}

static void
location_put(const struct page *page, const struct func_plan *fplan,
	     int64_t offset)
{
	bool local = page->plan->image->funcs[fplan->func].local;

	fprintf(page->out, "%d %s %" PRIx64 " ", local ? 2 : 1,
		page->names[fplan->func], (uint64_t)offset);
}

static void
branch_put(const struct page *page, const struct func_plan *from, int64_t at,
	   const struct func_plan *to, int64_t target, uint64_t n)
{
	location_put(page, from, at);
	location_put(page, to, target);
	fprintf(page->out, "0 %" PRIu64 "\n", n);
}

/* Whether BOLT begins a block there: at a jump's target, or behind a jump. */
static bool
block_begins(const struct view *view, uint32_t block)
{
	const struct cfg *cfg = view->fplan->cfg;
	const struct insn *before;

	for (uint32_t e = cfg->in[block]; e < cfg->in[block + 1]; e++)
		if (cfg->edges[e].kind != EDGE_FALL)
			return true;
	if (!block)
		return true;
	before = &cfg->insns[cfg->blocks[block].first - 1];
	return before->kind == INSN_BRANCH || before->kind == INSN_JUMP ||
	       before->kind == INSN_JUMP_INDIRECT ||
	       before->kind == INSN_RETURN;
}

static void
edges_put(const struct page *page, const struct view *view)
{
	const struct func_plan *fplan = view->fplan;
	const struct flow *flow = fplan->flow;

	for (uint32_t e = 0; e < flow->nedges; e++) {
		const struct flow_edge *edge = &flow->edges[e];
		struct figure count = view_edge(view, e);
		uint32_t last, to;
		int64_t at, target;

		if (!view_edge_inner(view, e) || !figure_ran(&count) ||
		    !block_begins(view, edge->to - FLOW_BLOCK))
			continue;
		last = view_last(view, edge->from - FLOW_BLOCK);
		to = fplan->cfg->blocks[edge->to - FLOW_BLOCK].first;
		at = offset_of(fplan, fplan->cfg->insns[last].addr);
		target = offset_of(fplan, fplan->cfg->insns[to].addr);
		if (at >= 0 && target >= 0)
			branch_put(page, fplan, at, fplan, target, count.n);
	}
}

/* ---- calls */

/* The called function if it is one of this object, else NULL. */
static const struct func_plan *
callee_fplan(const struct page *page, const struct callee *call)
{
	uint32_t index = call->where == CALLEE_AT && call->plan == page->plan ?
				 plan_func(page->plan, call->addr) :
				 FPLAN_NONE;
	const struct func_plan *fplan = index == FPLAN_NONE ?
						NULL :
						&page->plan->fplans[index];

	return fplan && fplan->func != FUNC_NONE &&
			       offset_of(fplan, call->addr) == 0 ?
		       fplan :
		       NULL;
}

static void
calls_put(struct page *page, const struct view *view)
{
	callees_find(&page->callees, view);
	for (size_t i = 0; i < page->callees.n; i++) {
		const struct callee *call = &page->callees.calls[i];
		const struct func_plan *to = callee_fplan(page, call);
		int64_t at = offset_of(
			view->fplan, view->fplan->cfg->insns[call->insn].addr);

		if (!to || at < 0 || !figure_ran(&call->count))
			continue;
		branch_put(page, view->fplan, at, to, 0, call->count.n);
		page->called[to->func] += call->count.n;
	}
}

/* Write the other calls of each function, whose callers are not known. */
static void
entries_put(const struct page *page)
{
	const struct plan *plan = page->plan;

	for (size_t i = 0; i < plan->nfplans; i++) {
		const struct func_plan *fplan = &plan->fplans[i];
		struct figure calls = figure_of(&fplan->calls);

		if (fplan->func == FUNC_NONE || calls.why ||
		    calls.n <= page->called[fplan->func])
			continue;
		fputs("0 [unknown] 0 ", page->out);
		location_put(page, fplan, 0);
		fprintf(page->out, "0 %" PRIu64 "\n",
			calls.n - page->called[fplan->func]);
	}
}

void
bolt_write(struct table *table, FILE *out)
{
	struct page page = { .out = out };
	struct view *view = NULL;
	size_t nfuncs;

	if (!table->report_input->nplans)
		return;
	page.plan = table->report_input->plans[0];
	nfuncs = page.plan->image->nfuncs;
	page.names = names_make(page.plan->image);
	page.called = mem_alloc(nfuncs * sizeof(*page.called));
	while ((view = view_next(table, view, VIEW_EDGES | VIEW_CALLS))) {
		if (view->plan != page.plan || view->fplan->func == FUNC_NONE)
			continue;
		edges_put(&page, view);
		calls_put(&page, view);
	}
	entries_put(&page);
	for (size_t i = 0; i < nfuncs; i++)
		free(page.names[i]);
	free(page.names);
	free(page.called);
	callees_free(&page.callees);
}
