/*
 * Finds loops with one depth-first search and one pass over its vertices,
 * last found first.
 */
#include <stdlib.h>

#include "flow/loops.h"
#include "flow/sets.h"
#include "util/mem.h"

enum state { NEW, OPEN, DONE };

/* The search, and what it leaves for the pass over its vertices. */
struct search {
	const struct flow *flow;
	struct loops *loops;
	uint8_t *state;		/* per vertex: enum state */
	uint32_t *tree;		/* per vertex: its parent in the search */
	uint32_t *found;	/* the vertices in the order reached */
	uint32_t nfound;
	uint32_t *sets;
	uint32_t *listed;	/* per vertex: first edge of its list */
	uint32_t *next;		/* per edge: the next in its list */

	uint32_t *parent;	/* per vertex: the header of the loop around */
	bool *header;
	uint32_t *joined;	/* sets of irreducible headers and those
				   around them */
	uint32_t *preds;	/* per vertex: list of edges, as above, into
				   the vertices collapsed into it */
	uint32_t *work;
};

static void
list_push(uint32_t *first, uint32_t *next, uint32_t edge)
{
	next[edge] = *first;
	*first = edge;
}

static void
search_open(struct search *search, uint32_t v, uint32_t *stack, uint32_t *n)
{
	search->state[v] = OPEN;
	search->found[search->nfound++] = v;
	stack[(*n)++] = v;
}

/*
 * Look at one edge.  A forward or cross edge is listed at the lowest common
 * ancestor of its ends: all finished vertices below that are joined with it
 * (Tarjan's offline search of common ancestors).
 */
static void
search_edge(struct search *search, uint32_t edge, uint32_t *stack, uint32_t *n)
{
	uint32_t from = search->flow->edges[edge].from;
	uint32_t to = search->flow->edges[edge].to;

	switch (search->state[to]) {
	case NEW:
		search->tree[to] = from;
		search_open(search, to, stack, n);
		break;
	case OPEN:
		search->loops->back[edge] = true;
		break;
	default:
		list_push(&search->listed[set_find(search->sets, to)],
			  search->next, edge);
		break;
	}
}

static void
search_run(struct search *search)
{
	const struct flow *flow = search->flow;
	struct loops *loops = search->loops;
	uint32_t *stack = mem_alloc(flow->nverts * sizeof(*stack)), n = 0;
	uint32_t *cursor = mem_alloc(flow->nverts * sizeof(*cursor));
	uint32_t last = flow->nverts;

	for (uint32_t v = 0; v < flow->nverts; v++)
		cursor[v] = flow->out[v];
	cursor[FLOW_EXIT]++;
	search_open(search, FLOW_ROOT, stack, &n);
	while (n) {
		uint32_t v = stack[n - 1];

		if (cursor[v] < flow->out[v + 1]) {
			search_edge(search, cursor[v]++, stack, &n);
			continue;
		}
		n--;
		search->state[v] = DONE;
		loops->order[--last] = v;
		if (n)
			search->sets[v] = stack[n - 1];
	}
	loops->norder = flow->nverts - last;
	for (uint32_t i = 0; i < loops->norder; i++)
		loops->order[i] = loops->order[last + i];
	free(stack);
	free(cursor);
}

/* Mark the loops around v so far as irreducible: an edge enters them at v. */
static void
irreducible_mark(struct search *search, uint32_t v)
{
	uint32_t t = search->parent[v];

	while (t != LOOP_NONE) {
		uint32_t u = set_find(search->joined, t);

		search->loops->irreducible[u] = true;
		t = search->parent[u];
		if (t != LOOP_NONE)
			set_join(search->joined, u, t);
	}
}

/* Add the edges listed at v to the predecessors of what they lead to. */
static void
listed_add(struct search *search, uint32_t v)
{
	uint32_t next;

	for (uint32_t e = search->listed[v]; e != ARC_NONE; e = next) {
		uint32_t to = search->flow->edges[e].to;

		next = search->next[e];
		irreducible_mark(search, to);
		list_push(&search->preds[set_find(search->sets, to)],
			  search->next, e);
	}
}

/* Put the vertex that v is collapsed into in header's loop, once. */
static void
body_add(struct search *search, uint32_t header, uint32_t v, uint32_t *n)
{
	v = set_find(search->sets, v);
	if (v == header || search->parent[v] == header)
		return;
	search->parent[v] = header;
	search->work[(*n)++] = v;
}

static void
loop_find(struct search *search, uint32_t header)
{
	const struct flow *flow = search->flow;
	uint32_t n = 0;

	for (uint32_t i = flow->in[header]; i < flow->in[header + 1]; i++) {
		uint32_t e = flow->ins[i];

		if (!search->loops->back[e])
			continue;
		search->header[header] = true;
		body_add(search, header, flow->edges[e].from, &n);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = search->work[i];

		body_add(search, header, search->tree[v], &n);
		for (uint32_t e = search->preds[v]; e != ARC_NONE;
		     e = search->next[e])
			body_add(search, header, flow->edges[e].from, &n);
	}
	for (uint32_t i = 0; i < n; i++)
		search->sets[search->work[i]] = header;
}

/* Fill struct loops from the tree of headers. */
static void
loops_fill(const struct search *search)
{
	struct loops *loops = search->loops;

	for (uint32_t i = 0; i < search->nfound; i++) {
		uint32_t v = search->found[i], around = search->parent[v];

		if (around != LOOP_NONE)
			around = loops->inner[around];
		loops->inner[v] = around;
		loops->depth[v] = around == LOOP_NONE ? 0 :
							loops->depth[around];
		if (!search->header[v] || loops->depth[v] == LOOP_DEPTH_MAX)
			continue;
		loops->inner[v] = v;
		loops->outer[v] = around;
		loops->depth[v]++;
	}
}

static void
search_free(struct search *search)
{
	free(search->state);
	free(search->tree);
	free(search->found);
	free(search->sets);
	free(search->listed);
	free(search->next);
	free(search->parent);
	free(search->header);
	free(search->joined);
	free(search->preds);
	free(search->work);
}

struct loops *
loops_find(const struct flow *flow)
{
	uint32_t n = flow->nverts;
	struct loops *loops = mem_alloc(sizeof(*loops));
	struct search search = {
		.flow = flow,
		.loops = loops,
		.state = mem_alloc(n),
		.tree = mem_numbers(n, FLOW_ROOT),
		.found = mem_numbers(n, 0),
		.sets = mem_numbers(n, 0),
		.listed = mem_numbers(n, ARC_NONE),
		.next = mem_numbers(flow->nedges, ARC_NONE),
		.parent = mem_numbers(n, LOOP_NONE),
		.header = mem_alloc(n * sizeof(bool)),
		.joined = mem_numbers(n, 0),
		.preds = mem_numbers(n, ARC_NONE),
		.work = mem_numbers(n, 0),
	};

	loops->order = mem_numbers(n, 0);
	loops->back = mem_alloc(flow->nedges * sizeof(*loops->back));
	loops->inner = mem_numbers(n, LOOP_NONE);
	loops->outer = mem_numbers(n, LOOP_NONE);
	loops->depth = mem_alloc(n);
	loops->irreducible = mem_alloc(n * sizeof(*loops->irreducible));
	sets_reset(search.sets, n);
	search_run(&search);
	sets_reset(search.sets, n);
	sets_reset(search.joined, n);
	for (uint32_t i = search.nfound; i-- > 0;) {
		listed_add(&search, search.found[i]);
		loop_find(&search, search.found[i]);
	}
	loops_fill(&search);
	search_free(&search);
	return loops;
}

void
loops_free(struct loops *loops)
{
	if (!loops)
		return;
	free(loops->order);
	free(loops->back);
	free(loops->inner);
	free(loops->outer);
	free(loops->depth);
	free(loops->irreducible);
	free(loops);
}

uint32_t
loop_left(const struct flow *flow, const struct loops *loops, uint32_t edge)
{
	uint32_t from = loops->inner[flow->edges[edge].from];
	uint32_t to = loops->inner[flow->edges[edge].to];
	uint32_t left = LOOP_NONE;

	while (from != to)
		if (to == LOOP_NONE ||
		    (from != LOOP_NONE &&
		     loops->depth[from] >= loops->depth[to])) {
			left = from;
			from = loops->outer[from];
		} else {
			to = loops->outer[to];
		}
	return left;
}
