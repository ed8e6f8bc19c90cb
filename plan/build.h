/*
 * What the parts that make a plan share.  For plan/ only.
 */
#ifndef PLAN_BUILD_H
#define PLAN_BUILD_H

#include "flow/entries.h"
#include "plan/code.h"
#include "plan/image_graphs.h"
#include "plan/plan.h"

static const uint32_t UNIT_NONE = UINT32_MAX;	/* REGION_NONE as well */

/* What is known of a file of the image: whether its lines are chosen. */
enum choice {
	CHOICE_NONE,
	CHOICE_ALL,
	CHOICE_SOME,		/* ask for each line */
};

/* Part of a function that it turned out to have (see graph_make). */
struct part {
	struct range range;
	uint32_t fplan;
};

/* Lives as long as the plan. */
struct build {
	struct plan *plan;
	const struct image *image;
	const struct selection *sel;
	bool (*progress)(void *);	/* of plan_open, while that is made */
	void *arg;
	bool stopped;		/* as it asked for */
	struct graphs *graphs;
	struct code_map *map;
	struct part *owners;	/* ascending: which function plan has a range */
	size_t nowners;
	struct part *parts;	/* found later */
	size_t nparts;
	uint64_t *mid_entered;	/* ascending: addresses in the middle of
				   functions to which control may come from
				   elsewhere */
	size_t nmid_entered;
	uint32_t *todo;		/* function plans to be looked at */
	size_t ntodo;
	uint32_t *looked;	/* those that have been */
	size_t nlooked;
	/* Lines: a hash of (file, line), the units so far. */
	struct unit *units;
	size_t nunits;
	uint32_t *line_index;
	size_t line_index_size, nlines;
	uint8_t *choices;	/* enum choice of each file */
	uint32_t *stmts;	/* per row: the is_stmt row in force, or none */
	uint32_t func;		/* whose lines are being looked at */
	/* Inlined copies: their units. */
	uint32_t *copy_units;
	bool keeping;		/* counts are being added up: skips are kept */
};

uint32_t build_unit(struct build *build, enum unit_kind kind, uint32_t ref,
		    uint32_t line);
/* A place cannot be counted, nor the unit, if it has no other. */
void build_skip(struct build *build, uint32_t unit, uint64_t addr,
		const char *why);
/* Some of the unit's code is known: so is its count, if nothing adds to it. */
void build_found(struct build *build, uint32_t unit);

/* analyse.c */

/*
 * What is counted for an arc: with PLACE_ONCE for an edge the block it leads
 * to.  Of what is entered by it the same instructions run.
 */
uint32_t plan_arc(const struct plan *plan, const struct flow *flow,
		  uint32_t arc);

/* Look at all function plans of build->todo, which may add more. */
void build_analyse(struct build *build);

/* False if plan_open is to stop. */
bool build_goes_on(struct build *build);

/* The graph of a function plan, as build_analyse makes it. */
void fplan_graph(struct build *build, struct func_plan *fplan);
/* The flow of its cfg, with leaks where the plan has them. */
void fplan_flow_build(struct build *build, struct func_plan *fplan);
/* Code that the function plan's graph has outside its ranges is its. */
void fplan_parts(struct build *build, uint32_t index);
/* relocated_plan.c */

/*
 * Count in a relocated function of the function plan, which was found to have
 * hooks from this number on; false if that cannot be, or is not wished.
 */
bool relocated_place_counters(struct build *build, uint32_t fplan,
			      const bool *wanted, const struct weights *weights,
			      size_t hooks);
/*
 * Another function jumps into one that is run in a relocated function: to where
 * that can be entered, or can be made to be by a trap; else it is to run in the
 * original again, and is not counted.
 */
void relocated_mid_entry(struct build *build, uint32_t fplan, uint64_t target);
/* There is a hook in one that is copied already: it gets its trap. */
void relocated_hook(struct build *build, uint32_t fplan, uint64_t addr);

/* The graph of a function plan; rows: line rows begin blocks.  To be freed. */
struct cfg *fplan_cfg(struct build *build, const struct func_plan *fplan,
		      bool rows);

/* hooks.c */

/* Find the hooks in all functions of the image. */
void image_hooks(struct build *build, unsigned wanted);
/* Find the hooks in a function plan's ranges. */
void fplan_hooks(struct build *build, const struct func_plan *fplan);
/* Give the plan's hooks from number `first` on their sites. */
void hooks_place(struct build *build, size_t first);
uint32_t build_site(struct build *build, uint64_t addr, uint32_t fplan);

/* It is not waiting any more. */
void fplan_ready(struct build *build, struct func_plan *fplan);
/* Let go its graph. */
void fplan_forget(struct func_plan *fplan);
/* Another counter reference, at a site that is there. */
void fplan_counter_ref(struct plan *plan, struct func_plan *fplan,
		       const struct term *term);

/* mid_entry.c */

/*
 * Control may come to addr in the middle of the function plan: look at it now.
 */
void build_enters(struct build *build, uint32_t fplan, uint64_t addr);
/* Is there an instruction wherever control may come to the function plan so? */
bool mid_entries_known(const struct build *build,
		       const struct func_plan *fplan);
/*
 * The function calls parts of itself (subroutines without a name).  Whether
 * any was found that the graph does not know to be entered.
 */
bool calls_inside(struct build *build, const struct func_plan *fplan);
/*
 * Control goes from the function plan `from` to target.  In the middle of
 * another function: that one is to be looked at before it is entered so, with
 * this in mind.  If it has been looked at already, nothing can be derived in it
 * any more.
 */
void mid_entry_note(struct build *build, uint32_t from, uint64_t target);
/*
 * Does it go to the middle of another function plan, if it is an instruction?
 */
bool insn_may_enter_middle(const struct build *build, uint32_t index,
			   const struct insn *insn);
/*
 * Where control goes from a function plan with a graph to the middle of others.
 */
void mid_entries_note(struct build *build, uint32_t fplan);
/*
 * Have the function plan, which waits and has a graph, looked at again if the
 * small functions just before it jump into its middle: true if so.
 */
bool neighbours_enter(struct build *build, uint32_t fplan);

/* calls.c */

/* Whether nothing but calls is wanted of the function plan. */
bool fplan_calls_alone(const struct func_plan *fplan);
/*
 * In a relocated function calls are what comes to the function's beginning,
 * less what comes from its own blocks: what of these ways must have counters,
 * unless wanted is NULL.  False if not all can.
 */
bool calls_want_ways(const struct func_plan *fplan, bool *wanted);
/*
 * See to it that they count: by traps, and without a graph.  If there may be
 * no traps the function plan is not counted at all.
 */
void calls_place(struct build *build, uint32_t fplan);

/* lines.c: the lines of the image as a whole, and of one function plan. */
void plan_lines_open(struct build *build);
void plan_lines_close(struct build *build);
/* Whether any line of the function plan is chosen. */
bool plan_lines_wanted(const struct build *build,
		       const struct func_plan *fplan);
/* Addresses at which lines begin, appended to *leaders. */
void plan_lines_leaders(const struct build *build,
			const struct func_plan *fplan, uint64_t **leaders,
			size_t *n);
/* What the function plan's lines count, by unit. */
void plan_lines_emit(struct build *build, const struct func_plan *fplan,
		     entries_emit *emit, void *ctx);

/* inlines.c: the inlined copies, likewise. */
void plan_inlines_open(struct build *build);
void plan_inlines_close(struct build *build);
bool plan_inlines_wanted(const struct build *build,
			 const struct func_plan *fplan);
void plan_inlines_emit(struct build *build, const struct func_plan *fplan,
		       entries_emit *emit, void *ctx);

#endif
