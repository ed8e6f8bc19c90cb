/*
 * Makes the union of two profiles' runs, parts and objects, and renumbers all
 * references between them.  Leaves adding up functions to profile_merge.c.
 */
#include <stdlib.h>
#include <string.h>

#include "report/profile/profile_inner.h"
#include "util/fail.h"
#include "util/mem.h"

/* ---- runs */

struct numbered_run {
	struct profile_run run;
	size_t old;
};

static int
by_start(const void *va, const void *vb)
{
	const struct profile_run *a = &((const struct numbered_run *)va)->run;
	const struct profile_run *b = &((const struct numbered_run *)vb)->run;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* Sort the runs.  Returns the new index per old one, owned by the caller. */
static uint32_t *
runs_sort(struct profile *profile)
{
	size_t n = profile->nruns;
	struct numbered_run *runs = mem_alloc(n * sizeof(*runs));
	uint32_t *new = mem_alloc(n * sizeof(*new));

	for (size_t i = 0; i < n; i++)
		runs[i] = (struct numbered_run){ profile->runs[i], i };
	qsort(runs, n, sizeof(*runs), by_start);
	for (size_t i = 0; i < n; i++) {
		profile->runs[i] = runs[i].run;
		new[runs[i].old] = (uint32_t)i;
	}
	free(runs);
	return new;
}

/* ---- parts */

struct numbered_part {
	struct profile_part part;
	size_t old;
};

/* By run.  The parts of a run keep their order: all are from one file. */
static int
by_run(const void *va, const void *vb)
{
	const struct numbered_part *a = va, *b = vb;

	if (a->part.run != b->part.run)
		return a->part.run < b->part.run ? -1 : 1;
	return a->old < b->old ? -1 : 1;
}

static uint32_t *
parts_sort(struct profile *profile, const uint32_t *new_run)
{
	size_t n = profile->nparts;
	struct numbered_part *parts = mem_alloc(n * sizeof(*parts));
	uint32_t *new = mem_alloc(n * sizeof(*new));

	for (size_t i = 0; i < n; i++) {
		parts[i] = (struct numbered_part){ profile->parts[i], i };
		parts[i].part.run = new_run[parts[i].part.run];
	}
	qsort(parts, n, sizeof(*parts), by_run);
	for (size_t i = 0; i < n; i++)
		new[parts[i].old] = (uint32_t)i;
	for (size_t i = 0; i < n; i++) {
		struct profile_part *part = &profile->parts[i];

		*part = parts[i].part;
		if (part->parent != PART_NONE)
			part->parent = new[part->parent];
	}
	free(parts);
	return new;
}

/* ---- objects */

struct numbered_object {
	struct profile_object object;
	size_t old;		/* index before sorting */
	size_t group;		/* number of its group of equal files */
};

static int
by_file(const void *va, const void *vb)
{
	const struct numbered_object *a = va, *b = vb;
	int order = profile_object_compare(&a->object, &b->object);

	return order ? order : strcmp(a->object.path, b->object.path);
}

static int
by_path(const void *va, const void *vb)
{
	const struct numbered_object *a = va, *b = vb;
	int order = strcmp(a->object.path, b->object.path);

	return order ? order : profile_object_compare(&a->object, &b->object);
}

/* Add one object to another of the same file; keeps into's path. */
static void
object_add(struct profile_object *into, struct profile_object *from)
{
	for (size_t i = 0; i < from->nfuncs; i++)
		*vec_push(into->funcs, into->nfuncs) = from->funcs[i];
	from->nfuncs = 0;
	if (!into->units)
		into->placement = from->placement;
	else if (into->placement == PLACE_ONCE ||
		 (from->units && from->placement == PLACE_ONCE))
		into->placement = PLACE_ONCE;
	else if (from->units && into->placement != from->placement)
		into->placement = PLACE_MIXED;
	into->units |= from->units;
	object_clear(from);
}

/*
 * Add up the objects that are the same file, and sort them by path.  Returns
 * the new index per old one, owned by the caller.
 */
static uint32_t *
objects_sort(struct profile *profile)
{
	size_t n = profile->nobjects, groups = 0;
	struct numbered_object *all = mem_alloc(n * sizeof(*all));
	uint32_t *group = mem_alloc(n * sizeof(*group));
	uint32_t *new = mem_alloc(n * sizeof(*new));

	for (size_t i = 0; i < n; i++)
		all[i] = (struct numbered_object){ profile->objects[i], i, 0 };
	qsort(all, n, sizeof(*all), by_file);
	for (size_t i = 0; i < n; i++) {
		size_t old = all[i].old;

		if (groups && !profile_object_compare(&all[groups - 1].object,
						      &all[i].object)) {
			object_add(&all[groups - 1].object, &all[i].object);
		} else {
			all[groups] = all[i];
			all[groups].group = groups;
			groups++;
		}
		group[old] = (uint32_t)(groups - 1);
	}
	qsort(all, groups, sizeof(*all), by_path);
	/* new: per group, its place among the sorted. */
	for (size_t i = 0; i < groups; i++) {
		profile->objects[i] = all[i].object;
		new[all[i].group] = (uint32_t)i;
	}
	for (size_t i = 0; i < n; i++)
		group[i] = new[group[i]];
	profile->nobjects = groups;
	free(all);
	free(new);
	return group;
}

/* ---- all of it */

int
profile_runs_check(const struct profile *into, const struct profile *from)
{
	for (size_t i = 0; i < from->nruns; i++)
		for (size_t k = 0; k < into->nruns; k++)
			if (from->runs[i].id == into->runs[k].id)
				return fail("a run of %s is in two files",
					    from->runs[i].command);
	return 0;
}

/* Append from's runs, parts and objects, with references shifted. */
static void
profile_append(struct profile *into, struct profile *from)
{
	uint32_t runs = (uint32_t)into->nruns;
	uint32_t parts = (uint32_t)into->nparts;
	uint32_t objects = (uint32_t)into->nobjects;
	struct func_cursor at = { 0 };
	struct profile_func *func;

	for (size_t i = 0; i < from->nruns; i++) {
		struct profile_run *run = vec_push(into->runs, into->nruns);

		*run = from->runs[i];
		if (run->death.object)
			run->death.object += objects;
	}
	for (size_t i = 0; i < from->nparts; i++) {
		struct profile_part *part = vec_push(into->parts, into->nparts);

		*part = from->parts[i];
		part->run += runs;
		if (part->parent != PART_NONE)
			part->parent += parts;
	}
	while ((func = func_next(from, &at))) {
		if (func->part != PART_NONE)
			func->part += parts;
		for (size_t i = 0; i < func->ncalls; i++)
			if (func->calls[i].object != OBJECT_NONE)
				func->calls[i].object += objects;
	}
	for (size_t i = 0; i < from->nobjects; i++)
		*vec_push(into->objects, into->nobjects) = from->objects[i];
	from->nruns = from->nparts = from->nobjects = 0;
}

static void
func_renumber(struct profile_func *func, const uint32_t *parts,
	      const uint32_t *objects)
{
	if (func->part != PART_NONE)
		func->part = parts[func->part];
	for (size_t i = 0; i < func->ncalls; i++)
		if (func->calls[i].object != OBJECT_NONE)
			func->calls[i].object = objects[func->calls[i].object];
	extras_sort(func);
}

int
profile_merge(struct profile *into, struct profile *from)
{
	uint32_t *runs, *parts, *objects;

	if (profile_runs_check(into, from))
		return -1;
	profile_append(into, from);
	runs = runs_sort(into);
	parts = parts_sort(into, runs);
	objects = objects_sort(into);
	for (size_t i = 0; i < into->nruns; i++) {
		uint32_t *object = &into->runs[i].death.object;

		if (*object)
			*object = objects[*object - 1] + 1;
	}
	for (size_t i = 0; i < into->nobjects; i++) {
		struct profile_object *object = &into->objects[i];

		for (size_t k = 0; k < object->nfuncs; k++)
			func_renumber(&object->funcs[k], parts, objects);
		funcs_fold(object);
	}
	free(runs);
	free(parts);
	free(objects);
	return 0;
}
