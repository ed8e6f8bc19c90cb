/*
 * From plans to profiles and back: saves the counts of plans in a profile, and
 * with the program at hand makes plans with a profile's counts.  Never reads or
 * writes a data file.
 */
#ifndef REPORT_PROFILE_PROFILE_PLAN_H
#define REPORT_PROFILE_PROFILE_PLAN_H

#include "probe/plan.h"
#include "report/profile/profile.h"

/*
 * Make the objects of a profile: one per plan, in their order, and behind them
 * those that only calls went to.  If counter_sets is NULL, all counter sets
 * are saved together.  Otherwise the profile has its parts already, and the
 * functions of part i are saved from counter set number counter_sets[i];
 * functions that no part entered have PART_NONE.  Propagates the plans.
 */
void profile_save(struct profile *profile, struct plan *const *plans,
		  size_t nplans, const size_t *counter_sets);

/*
 * Make the plan of an object of the profile, with the counts of one part, or
 * of PART_NONE.  The plan takes the image, which must be opened with
 * IMAGE_FLOW and what plan_wants says.  sel, whose units must be those of
 * units_saved, and the profile must outlive the plan.  A function whose blocks
 * are not those that were counted is unknown.  A function that was saved
 * without a graph gets none.
 */
struct plan *profile_restore(const struct profile *profile, size_t object,
			     uint32_t part, struct image *image,
			     const struct selection *sel);

/* Make the graphs of idle functions, too; their counts are 0 or unknown. */
void profile_restore_idle(struct plan *plan);

/*
 * Restore the targets of indirect calls.  To be called when all plans are
 * made: plans has one per object, or NULL.
 */
void profile_restore_calls(const struct profile *profile, uint32_t part,
			   struct plan *const *plans);

/*
 * The selection's units whose counts follow from those saved for the object; if
 * there are none, the units that were counted in the object.
 */
unsigned units_saved(const struct profile_object *object,
		     const struct selection *sel);

/* Whether a function's blocks and edges are those of the graph. */
bool profile_graph_is(const struct profile_func *func, const struct cfg *cfg,
		      const struct flow *flow);

/* Index of the first function at addr or behind it. */
size_t profile_func_from(const struct profile_object *object, uint64_t addr);

/* The addr that profiles have for a function plan. */
uint64_t fplan_addr(const struct plan *plan, const struct func_plan *fplan);

/* ---- weights */

/* Counts of earlier runs, and a cache of one look-up. */
struct earlier {
	struct profile *profile;	/* without parts */
	const struct image *image;	/* last looked up */
	const struct profile_object *object;	/* its object, or NULL */
};

/*
 * How often the edges of a function ran; weights_free frees the result.  NULL
 * if the profile has not all its counts, has another build's, or saw the
 * function never run.
 */
struct weights *profile_weigh(struct earlier *earlier, const struct plan *plan,
			      const struct func_plan *fplan);

/* Whether the profile has the program or library, but of another build. */
bool profile_rebuilt(const struct profile *profile, const struct image *image);

#endif
