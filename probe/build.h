/*
 * The state and functions that the parts that make a plan share.  For probe/
 * only.
 */
#ifndef PROBE_BUILD_H
#define PROBE_BUILD_H

#include "flow/entries.h"
#include "probe/mid_entry.h"
#include "probe/plan.h"
#include "probe/sums.h"
#include "program/code.h"
#include "program/image_graphs.h"
#include "program/lines.h"

/* Units for which a function's graph is needed. */
enum { UNITS_GRAPH = ~(1U << UNIT_FUNC) };
/* Units for which the linker's stubs are counted. */
enum { UNITS_STUB = 1U << UNIT_BLOCK | 1U << UNIT_INSN };

/* A range of code that belongs to a function plan. */
struct part {
	struct range range;
	uint32_t fplan;
};

/* Lives as long as the plan. */
struct build {
	struct plan *plan;
	const struct image *image;
	const struct selection *sel;
	bool (*progress)(void *);	/* plan_open's, while it runs */
	void *arg;
	bool stopped;		/* progress asked to stop */
	struct graphs *graphs;
	struct code_map *map;
	struct part *owners;	/* ascending: the function plans' ranges */
	size_t nowners;
	struct part *parts;	/* ascending: found later (see graph_make) */
	size_t nparts;
	uint64_t *mid_entered;	/* ascending: addresses in the middle of
				   functions to which control may come from
				   elsewhere */
	size_t nmid_entered;
	uint64_t *called;	/* ascending: addresses in the middle of
				   functions that something in the text, which
				   may be data, calls; once `searched` */
	size_t ncalled;
	bool searched;
	uint32_t *todo;		/* function plans to be looked at */
	size_t ntodo;
	uint32_t *looked;	/* looked at, their counters not yet placed */
	size_t nlooked;
	struct unit_table *table;
	uint64_t *calls;	/* system calls with a hook, or that need none;
				   until hooks_miss has looked at them */
	size_t ncalls;
};

/* plan_sites.c */

/*
 * The number of the site at addr, made if there is none.  fplan may be
 * FPLAN_NONE.
 */
uint32_t build_site(struct build *build, uint64_t addr, uint32_t fplan);
/*
 * Nothing is counted at the site (or SITE_NONE) any more; its hook, if it has
 * one, stays.
 */
void site_rest(struct plan *plan, uint32_t site);
/* Make a waiting function plan FPLAN_READY, and wake the site at its entry. */
void fplan_ready(struct build *build, struct func_plan *fplan);
/* Free the function plan's cfg, flow and counts, which can be made again. */
void fplan_clear(struct func_plan *fplan);
/*
 * Let the site at the term, which must exist, see what the term counts.  Returns
 * the site's number.
 */
uint32_t site_read(struct plan *plan, const struct term *term);
/* Add a counter reference to the function plan; the site must exist. */
void fplan_counter_ref(struct plan *plan, struct func_plan *fplan,
		       const struct term *term);
/* The function plan's code, for units. */
struct unit_code fplan_code(const struct func_plan *fplan);

/* plan_graph.c */

/*
 * Make a graph of a function plan, owned by the caller.  Blocks begin at the
 * leaders and external addresses of `starts`, whose other fields are set here.
 */
struct cfg *fplan_cfg_with(struct build *build, const struct func_plan *fplan,
			   struct graph_input starts);
/* The same with all that is known now; with `rows` line rows begin blocks. */
struct cfg *fplan_cfg(struct build *build, const struct func_plan *fplan,
		      bool rows);
/* Make the function plan's cfg and flow as build_analyse does. */
void fplan_graph(struct build *build, struct func_plan *fplan);
/*
 * Make the cfg and flow of nothing but the function plan's beginning, up to
 * `end`, where an instruction begins.
 */
void fplan_graph_beginning(struct build *build, struct func_plan *fplan,
			   uint64_t end);
/* Make the flow of the function plan's cfg, with leaks if the plan has them. */
void fplan_flow_build(struct build *build, struct func_plan *fplan);
/*
 * Record the code that the function plan's graph has outside its ranges as its
 * own, unless another function plan has it.
 */
void fplan_parts(struct build *build, uint32_t index);

/* wanted.c */

/*
 * The arc that is counted in place of an arc: with PLACE_ONCE, for an edge, the
 * block to which it leads, as the same instructions run then.
 */
uint32_t plan_arc(const struct plan *plan, const struct flow *flow,
		  uint32_t arc);
/* Whether only the function plan's calls can be, or are to be, counted. */
bool fplan_calls_alone(const struct func_plan *fplan);
/*
 * Set, unless wanted is NULL, the arcs that must have counters in a relocated
 * function so that the function's calls are known: its first block, and the
 * edges from its own blocks to that, which are subtracted.  False if not all of
 * these can be counted.
 */
bool calls_want_ways(const struct func_plan *fplan, bool *wanted);
/* The wanted arcs, owned by the caller; NULL if all arcs are wanted. */
bool *arcs_want(struct build *build, const struct func_plan *fplan);

/* calls.c */

/*
 * Count the function plan's calls by traps, and free its graph.  With
 * --no-traps the function plan becomes FPLAN_FAULTY.
 */
void calls_place(struct build *build, uint32_t fplan);

/* hooks.c */

/* Append the hooks in all functions of the image to the plan's. */
void image_hooks(struct build *build, unsigned wanted);
/* Append the hooks in a function plan's ranges to the plan's. */
void fplan_hooks(struct build *build, const struct func_plan *fplan,
		 unsigned wanted);
/* Which hooks to look for in a function plan that is looked at. */
unsigned hooks_wanted(const struct plan *plan);
/*
 * After all hooks of HOOKS_MAPS were looked for: set plan->maps_unseen if there
 * may be other system calls.
 */
void hooks_miss(struct build *build);
/* Give the plan's hooks from number `first` on their sites. */
void hooks_place(struct build *build, size_t first);

/* relocated_plan.c */

/*
 * Place the function plan's counters in a relocated function.  The function
 * plan's own hooks are those from number `hooks` on.  False if the function
 * cannot be relocated, or the plan asks for no relocated functions.
 */
bool relocated_place_counters(struct build *build, uint32_t fplan,
			      const bool *wanted, const struct weights *weights,
			      size_t hooks);
/*
 * Free the function plan's placement and relocated function, with its former
 * entry patches and the calls of it.  Its sites, counters and counter
 * references stay.
 */
void fplan_unplace(struct func_plan *fplan);

/* relocated_middles.c */

/*
 * If the function plan has jumps with unknown targets, place traps at all
 * instructions that only its relocated function runs and no patch covers.
 */
void relocated_middles(struct build *build, uint32_t fplan);
/*
 * Note that another function jumps to target in a function plan that has a
 * relocated function.  If need be a trap at target leads into that; if even a
 * trap cannot, the function runs in the original again and is not counted.
 */
void relocated_mid_entry(struct build *build, uint32_t fplan, uint64_t target);
/* Place the trap of a hook at addr in a function that is relocated already. */
void relocated_hook(struct build *build, uint32_t fplan, uint64_t addr);

/* analyse.c */

/*
 * Look at all function plans of build->todo and place their counters.  Looking
 * at one may add more to build->todo.
 */
void build_analyse(struct build *build);
/* False if plan_open's progress asked to stop. */
bool build_goes_on(struct build *build);

#endif
