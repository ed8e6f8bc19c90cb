/*
 * Adds up functions of several profiles, or of the parts of one.  The result
 * does not depend on the order or grouping of the additions: of two things that
 * cannot both be kept, the one that comes first in some total order is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "report/profile/profile_inner.h"
#include "util/mem.h"

/* Reasons that runs had take precedence over this. */
static const char why_differ[] = "its blocks differ between the files merged";

/* ---- counts */

static void
count_lose(struct count *count, uint8_t reason)
{
	if (count->state == COUNT_UNKNOWN && count->reason < reason)
		reason = count->reason;
	*count = (struct count){ .reason = reason };
}

static void
count_add(struct count *into, const struct count *from)
{
	if (from->state == COUNT_UNKNOWN)
		count_lose(into, from->reason);
	else if (into->state == COUNT_UNKNOWN)
		return;
	else if (__builtin_add_overflow(into->n, from->n, &into->n))
		count_lose(into, REASON_OVERFLOW);
	else if (from->state < into->state)
		into->state = from->state;
}

static uint64_t
number_add(uint64_t a, uint64_t b)
{
	return a > NUMBER_UNKNOWN - b ? NUMBER_UNKNOWN : a + b;
}

/* ---- graphs */

static int
number_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Those with more blocks first, then those with more edges. */
static int
graph_compare(const struct profile_func *a, const struct profile_func *b)
{
	int order = number_compare(b->nblocks, a->nblocks);

	if (!order)
		order = number_compare(b->nedges, a->nedges);
	for (size_t i = 0; i < a->nblocks && !order; i++) {
		const struct profile_block *p = &a->blocks[i];
		const struct profile_block *q = &b->blocks[i];

		order = number_compare(p->addr, q->addr);
		order = order ? order : number_compare(p->size, q->size);
		order = order ? order : number_compare(p->ninsns, q->ninsns);
	}
	for (size_t i = 0; i < a->nedges && !order; i++) {
		const struct profile_edge *p = &a->edges[i];
		const struct profile_edge *q = &b->edges[i];

		order = number_compare(p->from, q->from);
		order = order ? order : number_compare(p->to, q->to);
		order = order ? order : number_compare(p->by, q->by);
	}
	return order;
}

bool
graph_same(const struct profile_func *a, const struct profile_func *b)
{
	return graph_compare(a, b) == 0;
}

static void
func_swap(struct profile_func *a, struct profile_func *b)
{
	struct profile_func other = *a;

	*a = *b;
	*b = other;
}

/* ---- abnormal edges and calls */

static void
abnormals_fold(struct profile_func *func)
{
	size_t n = 0;

	for (size_t i = 0; i < func->nabnormals; i++) {
		struct profile_abnormal *abnormal = &func->abnormals[i];
		struct profile_abnormal *last = &func->abnormals[n ? n - 1 : 0];

		if (!n || abnormal_compare(last, abnormal)) {
			func->abnormals[n++] = *abnormal;
			continue;
		}
		last->left = number_add(last->left, abnormal->left);
		last->came = number_add(last->came, abnormal->came);
		if (abnormal->rest > last->rest)
			last->rest = abnormal->rest;
	}
	func->nabnormals = n;
}

static void
calls_fold(struct profile_func *func)
{
	size_t n = 0;

	for (size_t i = 0; i < func->ncalls; i++) {
		struct profile_call *call = &func->calls[i];
		struct profile_call *last = &func->calls[n ? n - 1 : 0];

		if (!n || call_compare(last, call))
			func->calls[n++] = *call;
		else
			last->n = number_add(last->n, call->n);
	}
	func->ncalls = n;
}

static int
by_abnormal(const void *a, const void *b)
{
	return abnormal_compare(a, b);
}

static int
by_call(const void *a, const void *b)
{
	return call_compare(a, b);
}

void
extras_sort(struct profile_func *func)
{
	if (func->nabnormals)
		qsort(func->abnormals, func->nabnormals,
		      sizeof(*func->abnormals), by_abnormal);
	if (func->ncalls)
		qsort(func->calls, func->ncalls, sizeof(*func->calls), by_call);
	abnormals_fold(func);
	calls_fold(func);
}

static void
extras_add(struct profile_func *into, const struct profile_func *from)
{
	for (size_t i = 0; i < from->nabnormals; i++)
		*vec_push(into->abnormals,
			  into->nabnormals) = from->abnormals[i];
	for (size_t i = 0; i < from->ncalls; i++)
		*vec_push(into->calls, into->ncalls) = from->calls[i];
	extras_sort(into);
}

/* ---- functions */

/*
 * Make a function's counts unknown: drop all but its description, its times and
 * the reason.
 */
static void
func_make_unknown(struct profile_func *func, const char *why)
{
	struct profile_func unknown = {
		.addr = func->addr,
		.part = func->part,
		.state = PROFILE_UNKNOWN,
		.unresolved = func->unresolved,
		.name = func->name,
		.why = mem_strdup(why),
		.ranges = func->ranges,
		.nranges = func->nranges,
		.times = func->times,
		.untimed = func->untimed,
	};

	func->name = NULL;
	func->ranges = NULL;
	func->times = NULL;
	func->untimed = NULL;
	func_clear(func);
	*func = unknown;
}

static int
why_compare(const char *a, const char *b)
{
	bool differ_a = !strcmp(a, why_differ);
	bool differ_b = !strcmp(b, why_differ);

	return differ_a != differ_b ? (int)differ_a - (int)differ_b :
				      strcmp(a, b);
}

/* Add two functions one of which, at least, is unknown. */
static void
unknown_add(struct profile_func *into, const struct profile_func *from)
{
	const char *why = into->why ? into->why : from->why;

	if (from->why && why_compare(from->why, why) < 0)
		why = from->why;
	func_make_unknown(into, why);
}

/* Add a function with a graph and one without: only the calls are added. */
static void
partial_add(struct profile_func *into, struct profile_func *from)
{
	if (graph_compare(from, into) < 0)
		func_swap(into, from);
	for (size_t i = 0; i < into->nblocks; i++)
		count_lose(&into->blocks[i].count, REASON_PARTIAL);
	for (size_t i = from->nedges ? 1 : 0; i < into->nedges; i++)
		count_lose(&into->edges[i].count, REASON_PARTIAL);
	if (into->nedges && from->nedges)
		count_add(&into->edges[0].count, &from->edges[0].count);
}

static void
counts_add(struct profile_func *into, const struct profile_func *from)
{
	for (size_t i = 0; i < into->nblocks; i++)
		count_add(&into->blocks[i].count, &from->blocks[i].count);
	for (size_t i = 0; i < into->nedges; i++)
		count_add(&into->edges[i].count, &from->edges[i].count);
}

static void
states_add(struct profile_func *into, struct profile_func *from)
{
	if (into->state == PROFILE_UNKNOWN || from->state == PROFILE_UNKNOWN) {
		unknown_add(into, from);
	} else if (into->state == PROFILE_NEVER ||
		   from->state == PROFILE_NEVER) {
		if (into->state == from->state ? graph_compare(from, into) < 0 :
						 into->state == PROFILE_NEVER)
			func_swap(into, from);
	} else if (graph_same(into, from)) {
		counts_add(into, from);
	} else if (!into->nblocks || !from->nblocks) {
		partial_add(into, from);
	} else {
		func_make_unknown(into, why_differ);
	}
}

static int
ranges_compare(const struct profile_func *a, const struct profile_func *b)
{
	int order = number_compare(b->nranges, a->nranges);

	for (size_t i = 0; i < a->nranges && !order; i++) {
		order = number_compare(a->ranges[i].lo, b->ranges[i].lo);
		order = order ? order :
				number_compare(a->ranges[i].hi,
					       b->ranges[i].hi);
	}
	return order;
}

/* Keep the better name and ranges of the two. */
static void
description_add(struct profile_func *into, struct profile_func *from)
{
	if (!*into->name ||
	    (*from->name && strcmp(from->name, into->name) < 0)) {
		char *name = into->name;

		into->name = from->name;
		from->name = name;
	}
	if (ranges_compare(from, into) < 0) {
		struct range *ranges = into->ranges;
		size_t n = into->nranges;

		into->ranges = from->ranges;
		into->nranges = from->nranges;
		from->ranges = ranges;
		from->nranges = n;
	}
	into->unresolved |= from->unresolved;
	from->unresolved = into->unresolved;
}

/* Add `from` to `into`, and clear it. */
static void
func_add(struct profile_func *into, struct profile_func *from)
{
	states_add(into, from);
	description_add(into, from);
	times_merge(into, from);
	if (into->state != PROFILE_UNKNOWN) {
		extras_add(into, from);
		doubt_add(into, from);
		if (from->sites > into->sites)
			into->sites = from->sites;
		if (from->counters > into->counters)
			into->counters = from->counters;
		into->increments = number_add(into->increments,
					      from->increments);
		into->every = number_add(into->every, from->every);
	}
	func_clear(from);
}

static int
by_func(const void *a, const void *b)
{
	return func_compare(a, b);
}

/* The end of the ascending functions from index `from` on. */
static size_t
run_end(const struct profile_object *object, size_t from)
{
	while (++from < object->nfuncs)
		if (func_compare(&object->funcs[from - 1],
				 &object->funcs[from]) > 0)
			break;
	return from < object->nfuncs ? from : object->nfuncs;
}

/* Those of two profiles ascend one behind the other: merge them. */
static void
funcs_sort(struct profile_object *object)
{
	size_t n = object->nfuncs, middle = run_end(object, 0);
	struct profile_func *funcs = object->funcs, *all;
	size_t a = 0, b = middle, nall = 0;

	if (middle == n)
		return;
	if (run_end(object, middle) < n) {
		qsort(funcs, n, sizeof(*funcs), by_func);
		return;
	}
	all = vec_make(n, sizeof(*all));
	while (nall < n) {
		bool first = b == n ||
			     (a < middle &&
			      func_compare(&funcs[a], &funcs[b]) <= 0);

		all[nall++] = funcs[first ? a++ : b++];
	}
	free(funcs);
	object->funcs = all;
}

void
funcs_fold(struct profile_object *object)
{
	size_t n = 0;

	funcs_sort(object);
	for (size_t i = 0; i < object->nfuncs; i++) {
		struct profile_func *func = &object->funcs[i];

		if (n && !func_compare(&object->funcs[n - 1], func))
			func_add(&object->funcs[n - 1], func);
		else
			object->funcs[n++] = *func;
	}
	object->nfuncs = n;
}

void
profile_join_parts(struct profile *profile)
{
	if (!profile->nparts)
		return;
	for (size_t i = 0; i < profile->nobjects; i++) {
		struct profile_object *object = &profile->objects[i];

		for (size_t k = 0; k < object->nfuncs; k++)
			object->funcs[k].part = PART_NONE;
		funcs_fold(object);
	}
	for (size_t i = 0; i < profile->nparts; i++)
		free(profile->parts[i].program);
	free(profile->parts);
	profile->parts = NULL;
	profile->nparts = 0;
}
