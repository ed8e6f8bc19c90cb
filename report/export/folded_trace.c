/*
 * Writes the stacks of a trace with the nanoseconds that were spent on each, for
 * flamegraph.pl: lines "caller;function nanoseconds".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/time_stacks.h"
#include "report/printable.h"
#include "report/trace/trace_report.h"
#include "util/mem.h"

enum { DEPTH_MOST = 512 };	/* deeper calls count for the one there */

/* A function in a stack of callers. */
struct node {
	uint32_t func, caller;	/* the caller's node; 0, the first one, is of
				   no function */
	uint64_t ticks;		/* of its calls, with those that they make */
	uint64_t inner;		/* of the calls that they make */
};

/* The nodes of the calls that a stack is in. */
struct path {
	uint32_t nodes[DEPTH_MOST];
};

struct page {
	struct node *nodes;
	size_t n;
	uint32_t *slots;	/* a hash of nodes; 0: free */
	size_t nslots;		/* a power of two */
	struct path **paths;	/* per thread and stack; or NULL */
};

static size_t
hash_of(const struct page *page, uint32_t caller, uint32_t func)
{
	uint64_t h = ((uint64_t)caller << 32 | func) * 0x9e3779b97f4a7c15;

	return (size_t)(h >> 32) & (page->nslots - 1);
}

static void
slot_fill(struct page *page, uint32_t node)
{
	size_t i = hash_of(page, page->nodes[node].caller,
			   page->nodes[node].func);

	while (page->slots[i])
		i = (i + 1) & (page->nslots - 1);
	page->slots[i] = node;
}

static void
slots_grow(struct page *page)
{
	if (2 * page->n < page->nslots)
		return;
	free(page->slots);
	page->nslots = page->nslots ? 2 * page->nslots : 1024;
	page->slots = mem_alloc(page->nslots * sizeof(*page->slots));
	for (size_t i = 1; i < page->n; i++)
		slot_fill(page, (uint32_t)i);
}

static uint32_t
node_of(struct page *page, uint32_t caller, uint32_t func)
{
	size_t i;

	slots_grow(page);
	for (i = hash_of(page, caller, func); page->slots[i];
	     i = (i + 1) & (page->nslots - 1))
		if (page->nodes[page->slots[i]].caller == caller &&
		    page->nodes[page->slots[i]].func == func)
			return page->slots[i];
	page->slots[i] = (uint32_t)page->n;
	*vec_push(page->nodes, page->n) = (struct node){ .func = func,
							 .caller = caller };
	return page->slots[i];
}

static struct path *
path_of(struct page *page, const struct trace_call *call)
{
	struct path **path =
		&page->paths[(size_t)call->thread * TIME_STACKS_MAX +
			     call->stack];

	if (!*path)
		*path = mem_alloc(sizeof(**path));
	return *path;
}

static void
call_began(void *ctx, const struct trace_call *call)
{
	struct page *page = ctx;
	struct path *path = path_of(page, call);
	size_t d = call->depth;

	if (d < DEPTH_MOST)
		path->nodes[d] = node_of(page, d ? path->nodes[d - 1] : 0,
					 call->func);
}

static void
call_ended(void *ctx, const struct trace_call *call)
{
	struct page *page = ctx;
	const struct path *path = path_of(page, call);
	size_t d = call->depth;

	if (d >= DEPTH_MOST)
		return;
	page->nodes[path->nodes[d]].ticks += call->ticks;
	if (d)
		page->nodes[path->nodes[d - 1]].inner += call->ticks;
}

static void
node_write(const struct trace_report *report, const struct page *page,
	   uint32_t node, FILE *out)
{
	uint32_t stack[DEPTH_MOST];
	const struct node *of = &page->nodes[node];
	uint64_t ns = of->ticks < of->inner ?
			      0 :
			      trace_ticks_ns(report->trace,
					     of->ticks - of->inner);
	size_t n = 0;

	if (!ns)
		return;
	for (; node && n < DEPTH_MOST; node = page->nodes[node].caller)
		stack[n++] = page->nodes[node].func;
	while (n--) {
		text_line_put(out, report->names[stack[n]], ";", ':');
		if (n)
			putc(';', out);
	}
	fprintf(out, " %" PRIu64 "\n", ns);
}

int
trace_folded_write(const struct trace_report *report, FILE *out)
{
	static const struct trace_watch watch = { call_began, call_ended,
						  NULL };
	size_t npaths = report->trace->tables.nthreads * TIME_STACKS_MAX;
	struct page page = {
		.paths = mem_alloc(npaths * sizeof(*page.paths)),
	};
	struct trace_sums sums;
	int err;

	*vec_push(page.nodes, page.n) = (struct node){ 0 };
	err = trace_follow(report->trace, report->part, &watch, &page, &sums);
	for (size_t i = 1; i < page.n; i++)
		node_write(report, &page, (uint32_t)i, out);
	for (size_t i = 0; i < npaths; i++)
		free(page.paths[i]);
	free(page.paths);
	free(page.nodes);
	free(page.slots);
	trace_sums_free(report->trace, &sums);
	return err;
}
