/*
 * Writes stacks with their executed instructions for flamegraph.pl: lines
 * "caller;function count".  Counts do not tell a function's callers apart, so a
 * stack goes up only as long as each function has one caller.  Above that it
 * begins with "[several callers]" or "[caller not known]".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/callees.h"
#include "report/kinds.h"
#include "report/printable.h"
#include "report/work.h"
#include "util/mem.h"

static const uint32_t NODE_NONE = UINT32_MAX;

/* A function that ran. */
struct node {
	const struct plan *plan;
	const struct func_plan *fplan;
	char *name;
	uint64_t executed;
	uint64_t called;	/* calls by known callers */
	uint32_t caller;	/* one of these, or NODE_NONE */
	bool several;		/* there are several */
	bool marked;		/* in the current stack */
};

struct page {
	FILE *out;
	uint32_t **indexes;	/* per plan, per function plan: its node */
	struct node *nodes;
	size_t n;
	size_t unknown;		/* functions whose count is not known */
};

static char *
node_name(const struct view *view)
{
	char *raw = view_name(view), *name = text_line(raw), *last;

	free(raw);
	/* A semicolon would separate frames. */
	for (char *c = name; *c; c++)
		if (*c == ';')
			*c = ':';
	/* A number at the end would be taken for the count. */
	last = strrchr(name, ' ');
	if (last && !last[1 + strspn(last + 1, "0123456789.")])
		*last = '_';
	return name;
}

static void
node_add(struct page *page, const struct view *view)
{
	struct work work = work_of_fplan(view);

	page->indexes[view->plan_index][view->fplan_index] = NODE_NONE;
	page->unknown += work.ie.why != NULL;
	if (work.ie.why || !work.ie.n)
		return;
	page->indexes[view->plan_index][view->fplan_index] = (uint32_t)page->n;
	*vec_push(page->nodes, page->n) = (struct node){
		.plan = view->plan,
		.fplan = view->fplan,
		.name = node_name(view),
		.executed = work.ie.n,
		.caller = NODE_NONE,
	};
}

static uint32_t
node_of(const struct page *page, const struct report_input *report_input,
	const struct callee *call)
{
	uint32_t fplan;

	for (size_t i = 0; i < report_input->nplans; i++) {
		if (call->where != CALLEE_AT ||
		    report_input->plans[i] != call->plan)
			continue;
		fplan = plan_func(call->plan, call->addr);
		return fplan == FPLAN_NONE ? NODE_NONE :
					     page->indexes[i][fplan];
	}
	return NODE_NONE;
}

static void
callers_take(struct page *page, const struct view *view,
	     struct callees *callees)
{
	uint32_t from = page->indexes[view->plan_index][view->fplan_index];

	if (from == NODE_NONE)
		return;
	callees_find(callees, view);
	for (size_t i = 0; i < callees->n; i++) {
		const struct callee *call = &callees->calls[i];
		uint32_t to = node_of(page, view->table->report_input, call);
		struct node *node;

		if (to == NODE_NONE || !figure_ran(&call->count))
			continue;
		node = &page->nodes[to];
		node->called += call->count.n;
		node->several |= node->caller != NODE_NONE &&
				 node->caller != from;
		node->caller = from;
	}
}

/* The only caller of a function; NODE_NONE if none, with *why unless a root. */
static uint32_t
caller_of(const struct page *page, const struct node *node, const char **why)
{
	struct figure calls = figure_of(&node->fplan->calls);

	*why = NULL;
	if (node->several ||
	    (node->caller != NODE_NONE && &page->nodes[node->caller] == node))
		*why = "[several callers]";
	else if (calls.why || calls.n != node->called)
		*why = node->caller == NODE_NONE ? NULL : "[caller not known]";
	return *why ? NODE_NONE : node->caller;
}

static void
stack_put(struct page *page, uint32_t node)
{
	uint32_t *stack = NULL, at = node;
	const char *why = NULL;
	size_t n = 0;

	while (at != NODE_NONE && !page->nodes[at].marked) {
		page->nodes[at].marked = true;
		*vec_push(stack, n) = at;
		at = caller_of(page, &page->nodes[at], &why);
	}
	if (at != NODE_NONE)
		why = "[several callers]";
	if (why)
		fprintf(page->out, "%s;", why);
	for (size_t i = n; i-- > 0;) {
		page->nodes[stack[i]].marked = false;
		fprintf(page->out, "%s%s", page->nodes[stack[i]].name,
			i ? ";" : "");
	}
	fprintf(page->out, " %" PRIu64 "\n", page->nodes[node].executed);
	free(stack);
}

void
folded_write(struct table *table, FILE *out)
{
	const struct report_input *report_input = table->report_input;
	struct page page = { .out = out };
	struct callees callees = { 0 };
	struct view *view = NULL;

	page.indexes = mem_alloc(report_input->nplans * sizeof(*page.indexes));
	for (size_t i = 0; i < report_input->nplans; i++) {
		size_t n = report_input->plans[i]->nfplans;

		page.indexes[i] = mem_alloc(n * sizeof(**page.indexes));
		for (size_t b = 0; b < n; b++)
			page.indexes[i][b] = NODE_NONE;
	}
	while ((view = view_next(table, view, VIEW_INSNS)))
		node_add(&page, view);
	while ((view = view_next(table, view, VIEW_CALLS)))
		callers_take(&page, view, &callees);
	for (uint32_t i = 0; i < page.n; i++)
		stack_put(&page, i);
	if (page.unknown)
		fprintf(out, "[not known, functions] %zu\n", page.unknown);
	for (size_t i = 0; i < report_input->nplans; i++)
		free(page.indexes[i]);
	for (size_t i = 0; i < page.n; i++)
		free(page.nodes[i].name);
	free(page.indexes);
	free(page.nodes);
	callees_free(&callees);
}
