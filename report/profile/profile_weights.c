/*
 * Makes the counts of an earlier run the weights by which counters are placed.
 */
#include <stdlib.h>
#include <string.h>

#include "report/profile/profile_plan.h"
#include "util/mem.h"

static const struct profile_object *
object_find(const struct profile *profile, const struct image *image)
{
	const struct profile_object *found = NULL;
	struct profile_object now = { 0 };

	profile_identify(&now, image);
	for (size_t i = 0; i < profile->nobjects && !found; i++)
		if (!profile_object_compare(&profile->objects[i], &now))
			found = &profile->objects[i];
	free(now.path);
	return found;
}

/* The image's object.  Cached, as functions of one image come in a row. */
static const struct profile_object *
object_of(struct earlier *earlier, const struct image *image)
{
	if (earlier->image != image)
		earlier->object = object_find(earlier->profile, image);
	earlier->image = image;
	return earlier->object;
}

/*
 * Set the weight of each edge of the flow.  False if a count is not known, or
 * the function never ran.
 */
static bool
edges_weigh(const struct profile_func *func, const struct flow *flow,
	    double *edges)
{
	double in = 0;

	for (uint32_t e = 0; e < flow->nedges; e++) {
		const struct count *count =
			&func->edges[e - (e > flow->back)].count;

		if (e == flow->back)
			continue;
		if (count->state == COUNT_UNKNOWN)
			return false;
		edges[e] = (double)count->n;
		if (flow->edges[e].from == FLOW_ROOT)
			in += edges[e];
	}
	edges[flow->back] = in;
	return in > 0;
}

struct weights *
profile_weigh(struct earlier *earlier, const struct plan *plan,
	      const struct func_plan *fplan)
{
	const struct profile_object *object = object_of(earlier, plan->image);
	uint64_t addr = fplan_addr(plan, fplan);
	const struct profile_func *func;
	struct weights *weights = NULL;
	double *edges;
	size_t i;

	i = object ? profile_func_from(object, addr) : 0;
	if (!object || i == object->nfuncs || object->funcs[i].addr != addr)
		return NULL;
	func = &object->funcs[i];
	if (func->state != PROFILE_COUNTED ||
	    !profile_graph_is(func, fplan->cfg, fplan->flow))
		return NULL;
	edges = mem_alloc(fplan->flow->nedges * sizeof(*edges));
	if (edges_weigh(func, fplan->flow, edges))
		weights = weights_exact(fplan->flow, edges);
	free(edges);
	return weights;
}

bool
profile_rebuilt(const struct profile *profile, const struct image *image)
{
	if (object_find(profile, image))
		return false;
	for (size_t i = 0; i < profile->nobjects; i++)
		if (!strcmp(profile->objects[i].path, image->path))
			return true;
	return false;
}
