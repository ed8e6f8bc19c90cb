/*
 * Finds what changed between two profiles.  A function that only one of them
 * counted has not changed.  Where functions are compared by name, those whose
 * name is not unique are not compared.
 */
#include <stdlib.h>
#include <string.h>

#include "report/figure.h"
#include "report/profile/profile_inner.h"
#include "util/mem.h"

/* ---- pairs of objects */

enum likeness { LIKE_NAME, LIKE_PATH, LIKE_FILE };

static bool
object_like(const struct profile_object *a, const struct profile_object *b,
	    enum likeness how)
{
	if (how == LIKE_FILE)
		return profile_object_compare(a, b) == 0;
	if (a->machine != b->machine)
		return false;
	if (how == LIKE_PATH)
		return strcmp(a->path, b->path) == 0;
	return strcmp(basename(a->path), basename(b->path)) == 0;
}

/* The only unpaired object that is like the given one, or OBJECT_NONE. */
static uint32_t
object_find(const struct profile *profile, const bool *paired,
	    const struct profile_object *object, enum likeness how)
{
	uint32_t found = OBJECT_NONE;

	for (uint32_t i = 0; i < profile->nobjects; i++) {
		if (paired[i] ||
		    !object_like(&profile->objects[i], object, how))
			continue;
		if (found != OBJECT_NONE)
			return OBJECT_NONE;
		found = i;
	}
	return found;
}

/*
 * Pair the objects, those most alike first.  Sets pairs[i], for each of after's
 * objects, to an index into before's or OBJECT_NONE.
 */
static void
objects_pair(const struct profile *before, const struct profile *after,
	     uint32_t *pairs, bool *paired)
{
	bool *done = mem_alloc(after->nobjects);

	for (size_t i = 0; i < after->nobjects; i++)
		pairs[i] = OBJECT_NONE;
	for (int how = LIKE_FILE; how >= LIKE_NAME; how--) {
		for (size_t i = 0; i < after->nobjects; i++) {
			const struct profile_object *object =
				&after->objects[i];

			/* The object must be unique on its own side, too. */
			if (done[i] || object_find(after, done, object,
						   (enum likeness)how) != i)
				continue;
			pairs[i] = object_find(before, paired, object,
					       (enum likeness)how);
			if (pairs[i] != OBJECT_NONE)
				done[i] = paired[pairs[i]] = true;
		}
	}
	free(done);
}

/* ---- two functions */

/* Whether the graphs are the same but for the function's address. */
static bool
graph_moved(const struct profile_func *a, const struct profile_func *b)
{
	if (a->nblocks != b->nblocks || a->nedges != b->nedges)
		return false;
	for (size_t i = 0; i < a->nblocks; i++) {
		const struct profile_block *p = &a->blocks[i];
		const struct profile_block *q = &b->blocks[i];

		if (p->addr - a->addr != q->addr - b->addr ||
		    p->size != q->size || p->ninsns != q->ninsns)
			return false;
	}
	for (size_t i = 0; i < a->nedges; i++)
		if (a->edges[i].from != b->edges[i].from ||
		    a->edges[i].to != b->edges[i].to)
			return false;
	return true;
}

static const struct profile_func *
graph_common(const struct profile_func *before,
	     const struct profile_func *after)
{
	if (after->nblocks &&
	    (graph_moved(before, after) || before->state == PROFILE_NEVER))
		return after;
	return before->nblocks && after->state == PROFILE_NEVER ? before : NULL;
}

static struct count
block_count(const struct profile_func *func, size_t block)
{
	if (func->state == PROFILE_NEVER)
		return (struct count){ .state = COUNT_EXACT };
	return func->blocks[block].count;
}

/* Biggest change first. */
static int
by_block_change(const void *va, const void *vb)
{
	const struct diff_block *a = va, *b = vb;
	uint64_t da = change_size(a->before, a->after);
	uint64_t db = change_size(b->before, b->after);

	if (da != db)
		return da > db ? -1 : 1;
	return a->block < b->block ? -1 : 1;
}

static void
blocks_diff(struct diff_func *func)
{
	for (size_t i = 0; func->graph && i < func->graph->nblocks; i++) {
		struct count before = block_count(func->before, i);
		struct count after = block_count(func->after, i);

		if (before.state == COUNT_UNKNOWN ||
		    after.state == COUNT_UNKNOWN || before.n == after.n)
			continue;
		*vec_push(func->blocks, func->nblocks) = (struct diff_block){
			.block = i,
			.before = before.n,
			.after = after.n,
		};
	}
	if (func->nblocks)
		qsort(func->blocks, func->nblocks, sizeof(*func->blocks),
		      by_block_change);
}

/* Set the numbers to compare; false if they are not known. */
static bool
numbers_find(struct diff_func *func)
{
	bool before_known, after_known;
	struct count before = profile_calls(func->before);
	struct count after = profile_calls(func->after);

	func->before_n = profile_executed(func->before, &before_known);
	func->after_n = profile_executed(func->after, &after_known);
	func->insns = before_known && after_known;
	if (func->insns)
		return true;
	func->before_n = before.n;
	func->after_n = after.n;
	return before.state != COUNT_UNKNOWN && after.state != COUNT_UNKNOWN;
}

static void
funcs_diff(struct profile_diff *diff, const struct profile_object *object,
	   const struct profile_func *before, const struct profile_func *after)
{
	struct diff_func func = {
		.object = object,
		.before = before,
		.after = after,
		.graph = graph_common(before, after),
	};

	if (!numbers_find(&func)) {
		diff->unknown++;
		return;
	}
	blocks_diff(&func);
	if (func.before_n != func.after_n || func.nblocks)
		*vec_push(diff->funcs, diff->nfuncs) = func;
	else
		diff->same++;
}

/* ---- two objects */

static int
by_addr(const void *va, const void *vb)
{
	const struct profile_func *a = *(const struct profile_func *const *)va;
	const struct profile_func *b = *(const struct profile_func *const *)vb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static int
by_name(const void *va, const void *vb)
{
	const struct profile_func *a = *(const struct profile_func *const *)va;
	const struct profile_func *b = *(const struct profile_func *const *)vb;

	return strcmp(a->name, b->name);
}

static const struct profile_func **
funcs_sorted(const struct profile_object *object,
	     int (*compare)(const void *a, const void *b))
{
	const struct profile_func **funcs = mem_alloc(object->nfuncs *
						      sizeof(*funcs));

	for (size_t i = 0; i < object->nfuncs; i++)
		funcs[i] = &object->funcs[i];
	qsort(funcs, object->nfuncs, sizeof(*funcs), compare);
	return funcs;
}

/* The number of functions, from index i on, that are equal to the one at i. */
static size_t
equal_count(const struct profile_func **funcs, size_t n, size_t i,
	    int (*compare)(const void *a, const void *b))
{
	size_t end = i + 1;

	while (end < n && !compare(&funcs[i], &funcs[end]))
		end++;
	return end - i;
}

static void
objects_diff(struct profile_diff *diff, const struct profile_object *before,
	     const struct profile_object *after)
{
	bool rebuilt = profile_object_compare(before, after) != 0;
	int (*compare)(const void *a, const void *b) = rebuilt ? by_name :
								 by_addr;
	const struct profile_func **old = funcs_sorted(before, compare);
	const struct profile_func **new = funcs_sorted(after, compare);
	size_t i = 0, k = 0;

	diff->rebuilt += rebuilt;
	while (i < before->nfuncs || k < after->nfuncs) {
		int order = i == before->nfuncs ? 1 :
			    k == after->nfuncs	? -1 :
						  compare(&old[i], &new[k]);
		size_t ni = order <= 0 ? equal_count(old, before->nfuncs, i,
						     compare) :
					 0;
		size_t nk = order >= 0 ? equal_count(new, after->nfuncs, k,
						     compare) :
					 0;

		if (ni == 1 && nk == 1) {
			funcs_diff(diff, after, old[i], new[k]);
		} else {
			diff->only_before += ni;
			diff->only_after += nk;
		}
		i += ni;
		k += nk;
	}
	free(old);
	free(new);
}

/* Biggest change first, of instructions before calls; then by place. */
static int
by_change(const void *va, const void *vb)
{
	const struct diff_func *a = va, *b = vb;
	uint64_t da = change_size(a->before_n, a->after_n);
	uint64_t db = change_size(b->before_n, b->after_n);

	if (a->insns != b->insns)
		return a->insns ? -1 : 1;
	if (da != db)
		return da > db ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return a->after->addr < b->after->addr ? -1 : 1;
}

struct profile_diff *
profile_diff(const struct profile *before, const struct profile *after)
{
	struct profile_diff *diff = mem_alloc(sizeof(*diff));
	uint32_t *pairs = mem_alloc(after->nobjects * sizeof(*pairs));
	bool *paired = mem_alloc(before->nobjects * sizeof(*paired));

	objects_pair(before, after, pairs, paired);
	for (size_t i = 0; i < after->nobjects; i++) {
		if (pairs[i] == OBJECT_NONE)
			diff->only_after += after->objects[i].nfuncs;
		else
			objects_diff(diff, &before->objects[pairs[i]],
				     &after->objects[i]);
	}
	for (size_t i = 0; i < before->nobjects; i++)
		if (!paired[i])
			diff->only_before += before->objects[i].nfuncs;
	if (diff->nfuncs)
		qsort(diff->funcs, diff->nfuncs, sizeof(*diff->funcs),
		      by_change);
	free(pairs);
	free(paired);
	return diff;
}

void
profile_diff_free(struct profile_diff *diff)
{
	if (!diff)
		return;
	for (size_t i = 0; i < diff->nfuncs; i++)
		free(diff->funcs[i].blocks);
	free(diff->funcs);
	free(diff);
}
