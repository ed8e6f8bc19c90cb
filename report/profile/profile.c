/*
 * Profiles in memory: frees and checks them, and derives numbers from one
 * function's counts.  Never reads or writes a file.
 */
#include "report/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/profile_inner.h"
#include "report/profile/sections.h"
#include "util/mem.h"
#include "util/search.h"

void
func_clear(struct profile_func *func)
{
	free(func->name);
	free(func->why);
	free(func->ranges);
	free(func->blocks);
	free(func->edges);
	free(func->abnormals);
	free(func->calls);
	free(func->passed);
	times_free(func->times);
	free(func->untimed);
	*func = (struct profile_func){ 0 };
}

void
object_clear(struct profile_object *object)
{
	for (size_t i = 0; i < object->nfuncs; i++)
		func_clear(&object->funcs[i]);
	free(object->funcs);
	free(object->path);
	*object = (struct profile_object){ 0 };
}

static void
run_clear(struct profile_run *run)
{
	for (size_t i = 0; i < run->nremarks; i++)
		free(run->remarks[i]);
	free(run->remarks);
	for (size_t i = 0; i < run->nstops; i++)
		free(run->stops[i].cause);
	free(run->stops);
	free(run->command);
	free(run->outcome);
	free(run->version);
}

struct profile_func *
func_next(const struct profile *profile, struct func_cursor *at)
{
	for (; at->object < profile->nobjects; at->object++, at->func = 0)
		if (at->func < profile->objects[at->object].nfuncs)
			return &profile->objects[at->object].funcs[at->func++];
	return NULL;
}

void
profile_free(struct profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < profile->nruns; i++)
		run_clear(&profile->runs[i]);
	for (size_t i = 0; i < profile->nparts; i++)
		free(profile->parts[i].program);
	for (size_t i = 0; i < profile->nobjects; i++)
		object_clear(&profile->objects[i]);
	free(profile->runs);
	free(profile->parts);
	free(profile->objects);
	free(profile);
}

/* ---- checks */

static const char *
count_fault(const struct count *count)
{
	bool unknown = count->state == COUNT_UNKNOWN;

	if (count->state > COUNT_EXACT || count->reason > REASON_MAX)
		return "a count of an unknown kind";
	if (unknown != (count->reason != REASON_NONE))
		return "an unknown count without a reason, or a known one "
		       "with one";
	return unknown && count->n ? "an unknown count that is not 0" : NULL;
}

static const char *
blocks_fault(const struct profile_func *func)
{
	const char *fault = NULL;

	for (size_t i = 0; i < func->nblocks && !fault; i++) {
		const struct profile_block *block = &func->blocks[i];

		if (i && block->addr <= block[-1].addr)
			return "blocks out of order";
		if (block->size > UINT64_MAX - block->addr)
			return "a block beyond the end of memory";
		fault = count_fault(&block->count);
	}
	return fault;
}

static const char *
edges_fault(const struct profile_func *func)
{
	const char *fault = NULL;

	if (!func->nblocks && func->nedges > 1)
		return "edges without blocks";
	if (func->nedges && func->edges[0].from != FLOW_ROOT)
		return "edges without an entry";
	for (size_t i = 0; i < func->nedges && !fault; i++) {
		const struct profile_edge *edge = &func->edges[i];

		if (i && edge->from < edge[-1].from)
			return "edges out of order";
		if (edge->from == FLOW_EXIT || edge->to == FLOW_ROOT ||
		    edge->from >= FLOW_BLOCK + func->nblocks ||
		    edge->to >= FLOW_BLOCK + func->nblocks)
			return "an edge that does not join two blocks";
		if (edge->by > BY_LEAK)
			return "an edge of an unknown kind";
		fault = count_fault(&edge->count);
	}
	return fault;
}

int
abnormal_compare(const struct profile_abnormal *a,
		 const struct profile_abnormal *b)
{
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (int)a->during - (int)b->during;
}

int
call_compare(const struct profile_call *a, const struct profile_call *b)
{
	/* OBJECT_NONE + 1 is 0: it comes first. */
	uint32_t object_a = a->object + 1, object_b = b->object + 1;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (object_a != object_b)
		return object_a < object_b ? -1 : 1;
	return a->target < b->target ? -1 : a->target > b->target;
}

static const char *
extras_fault(const struct profile *profile, const struct profile_func *func)
{
	for (size_t i = 0; i < func->nabnormals; i++) {
		const struct profile_abnormal *abnormal = &func->abnormals[i];

		if (i && abnormal_compare(abnormal - 1, abnormal) >= 0)
			return "abnormal edges out of order";
		if (!abnormal->rest)
			return "an abnormal edge after the end of its block";
	}
	for (size_t i = 0; i < func->ncalls; i++) {
		const struct profile_call *call = &func->calls[i];

		if (i && call_compare(call - 1, call) >= 0)
			return "calls out of order";
		if (call->object != OBJECT_NONE &&
		    call->object >= profile->nobjects)
			return "a call into a missing object";
		if (call->object == OBJECT_NONE && call->target)
			return "a call target without an object";
	}
	return NULL;
}

static bool
count_never(const struct count *count)
{
	return count->state == COUNT_EXACT && !count->n;
}

static const char *
never_fault(const struct profile_func *func)
{
	bool never = !func->nabnormals && !func->ncalls && !func->increments &&
		     !func->every;

	for (size_t i = 0; i < func->nblocks; i++)
		never &= count_never(&func->blocks[i].count);
	for (size_t i = 0; i < func->nedges; i++)
		never &= count_never(&func->edges[i].count);
	return never ? NULL : "counts of a function that was never entered";
}

static const char *
func_fault(const struct profile *profile, const struct profile_func *func)
{
	const char *fault;

	if (func->part != PART_NONE && func->part >= profile->nparts)
		return "a function of a missing part";
	if (func->state > PROFILE_UNKNOWN)
		return "a function of an unknown state";
	if ((func->state == PROFILE_UNKNOWN) != (func->why != NULL))
		return "an unknown function without a reason, or a known one "
		       "with one";
	for (size_t i = 0; i < func->nranges; i++)
		if (func->ranges[i].lo >= func->ranges[i].hi)
			return "a function with an empty range";
	if ((fault = blocks_fault(func)) || (fault = edges_fault(func)) ||
	    (fault = extras_fault(profile, func)) ||
	    (fault = doubt_fault(func)) || (fault = times_fault(func)))
		return fault;
	return func->state == PROFILE_NEVER ? never_fault(func) : NULL;
}

int
func_compare(const struct profile_func *a, const struct profile_func *b)
{
	/* PART_NONE + 1 is 0: it comes first. */
	uint32_t part_a = a->part + 1, part_b = b->part + 1;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return part_a < part_b ? -1 : part_a > part_b;
}

static const char *
object_fault(const struct profile *profile, const struct profile_object *object)
{
	const char *fault = NULL;

	if (object->build_id_len > BUILD_ID_MAX)
		return "a build-id that is too long";
	if (object->build_id_len && (object->text_size || object->text_crc))
		return "an object with both a build-id and a checksum";
	for (size_t i = 0; i < object->nfuncs && !fault; i++) {
		const struct profile_func *func = &object->funcs[i];

		if (i && func_compare(func - 1, func) >= 0)
			return "functions out of order";
		fault = func_fault(profile, func);
	}
	return fault;
}

const char *
profile_fault(const struct profile *profile)
{
	const char *fault = NULL;

	for (size_t i = 0; i < profile->nparts; i++) {
		const struct profile_part *part = &profile->parts[i];

		if (part->run >= profile->nruns)
			return "a part of a missing run";
		if (part->parent != PART_NONE &&
		    (part->parent >= i ||
		     profile->parts[part->parent].run != part->run))
			return "a part before its parent";
	}
	for (size_t i = 0; i < profile->nruns; i++)
		if (profile->runs[i].death.object > profile->nobjects)
			return "an end in a missing object";
	for (size_t i = 0; i < profile->nobjects && !fault; i++)
		fault = object_fault(profile, &profile->objects[i]);
	return fault;
}

/* ---- derived numbers */

struct count
profile_calls(const struct profile_func *func)
{
	if (func->state == PROFILE_NEVER)
		return (struct count){ .state = COUNT_EXACT };
	if (func->state == PROFILE_COUNTED && func->nedges)
		return func->edges[0].count;
	return (struct count){ .reason = REASON_UNPLACED };
}

/* Whether a block begins at addr. */
static bool
block_at(const struct profile_func *func, uint64_t addr)
{
	size_t lo = search_first(func->nblocks, i,
				 func->blocks[i].addr >= addr);

	return lo < func->nblocks && func->blocks[lo].addr == addr;
}

/*
 * By how much abnormal edges change the number of instructions executed from
 * that which the blocks' counts give.
 */
static __int128
abnormal_executed(const struct profile_func *func, bool *known)
{
	__int128 sum = 0;

	for (size_t i = 0; i < func->nabnormals; i++) {
		const struct profile_abnormal *abnormal = &func->abnormals[i];

		if (abnormal->left == NUMBER_UNKNOWN ||
		    abnormal->came == NUMBER_UNKNOWN)
			*known = false;
		/* Before a block's first instruction the count is right. */
		if (abnormal->during || !block_at(func, abnormal->addr))
			sum += ((__int128)abnormal->came - abnormal->left) *
			       ((__int128)abnormal->rest - abnormal->during);
	}
	return sum;
}

uint64_t
profile_executed(const struct profile_func *func, bool *known)
{
	__int128 sum;

	*known = func->state == PROFILE_NEVER ||
		 (func->state == PROFILE_COUNTED && func->nblocks &&
		  !func->doubt);
	sum = abnormal_executed(func, known);
	for (size_t i = 0; i < func->nblocks; i++) {
		const struct profile_block *block = &func->blocks[i];

		*known &= block->count.state != COUNT_UNKNOWN;
		sum += (__int128)block->count.n * block->ninsns;
	}
	*known &= sum >= 0 && sum <= UINT64_MAX;
	return *known ? (uint64_t)sum : 0;
}

/* ---- objects */

void
profile_identify(struct profile_object *object, const struct image *image)
{
	object->path = mem_strdup(image->path);
	object->machine = image->arch->machine;
	object->build_id_len = image->build_id_len;
	memcpy(object->build_id, image->build_id, image->build_id_len);
	for (size_t i = 0; !image->build_id_len && i < image->nsegments; i++) {
		const struct segment *segment = &image->segments[i];

		if (!segment->bytes)
			continue;
		object->text_size += segment->filesz;
		object->text_crc = crc_more(object->text_crc, segment->bytes,
					    segment->filesz);
	}
}

int
profile_object_compare(const struct profile_object *a,
		       const struct profile_object *b)
{
	int order;

	if (a->machine != b->machine)
		return a->machine < b->machine ? -1 : 1;
	if (a->build_id_len != b->build_id_len)
		return a->build_id_len < b->build_id_len ? -1 : 1;
	if (a->build_id_len)
		return memcmp(a->build_id, b->build_id, a->build_id_len);
	order = strcmp(a->path, b->path);
	if (order)
		return order;
	if (a->text_size != b->text_size)
		return a->text_size < b->text_size ? -1 : 1;
	return a->text_crc < b->text_crc ? -1 : a->text_crc > b->text_crc;
}
