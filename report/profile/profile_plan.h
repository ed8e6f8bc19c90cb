/*
 * From plans to profiles and back: what was counted in a plan is saved, and
 * with the program at hand a plan is made again of what was saved.
 */
#ifndef REPORT_PROFILE_PROFILE_PLAN_H
#define REPORT_PROFILE_PROFILE_PLAN_H

#include "plan/plan.h"
#include "report/profile/profile.h"

/*
 * The objects of a profile, in the order of the plans, and behind them those
 * that calls went to.  The plans are propagated for this: with the counts of
 * all counter sets together if counter sets is NULL, else with those of part i
 * from counter set number counter_sets[i], for the parts that the profile has
 * already.  Functions that no part has entered are of none.
 */
void profile_save(struct profile *profile, struct plan *const *plans,
		  size_t nplans, const size_t *counter_sets);

/*
 * The plan of an object of the profile, with the counts of one part, or of
 * PART_NONE.  It takes the image, which must be opened with IMAGE_FLOW and
 * what plan_wants says; sel, of which it takes the units that were counted
 * (units_saved), and the profile must outlive it.  A function is unknown whose
 * blocks are not those that were counted.
 */
struct plan *profile_restore(const struct profile *profile, size_t object,
			     uint32_t part, struct image *image,
			     const struct selection *sel);

/*
 * When all plans are made, one per object or NULL where there is none: where
 * indirect calls went.
 */
void profile_restore_calls(const struct profile *profile, uint32_t part,
			   struct plan *const *plans);

/*
 * The units, of those chosen, whose counts can be known of an object; all it
 * has if none of them.
 */
unsigned units_saved(const struct profile_object *object,
		     const struct selection *sel);

/* Whether a function's blocks and edges are these. */
bool profile_graph_is(const struct profile_func *func, const struct cfg *cfg,
		      const struct flow *flow);

/* Index of the first function at addr or behind it. */
size_t profile_func_from(const struct profile_object *object, uint64_t addr);

/* Where a function plan's function is in a profile. */
uint64_t fplan_addr(const struct plan *plan, const struct func_plan *fplan);

/* ---- weights */

/* Counts of earlier runs. */
struct earlier {
	struct profile *profile;	/* without parts */
	const struct image *image;	/* the last asked for ... */
	const struct profile_object *object;	/* ... and what it is there */
};

/*
 * For struct plan_wish, with a struct earlier as context: how often the edges
 * of a function plan ran.  NULL if there are not all its counts, or of another
 * build.
 */
struct weights *profile_weigh(void *earlier, const struct plan *plan,
			      const struct func_plan *fplan);

/* Whether the profile has that program or library, but another build. */
bool profile_rebuilt(const struct profile *profile, const struct image *image);

#endif
