/*
 * What the parts that make a plan share.  For plan/ only.
 */
#ifndef PLAN_BUILD_H
#define PLAN_BUILD_H

#include "flow/entries.h"
#include "plan/code.h"
#include "plan/graph.h"
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
	uint32_t body;
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
	struct part *owners;	/* ascending: which body has a range */
	size_t nowners;
	struct part *parts;	/* found later */
	size_t nparts;
	uint64_t *intruded;	/* ascending: addresses in the middle of
				   functions to which control may come from
				   elsewhere */
	size_t nintruded;
	uint32_t *todo;		/* bodies to be looked at */
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

/* Look at all bodies of build->todo, which may add more. */
void build_analyse(struct build *build);

/* False if plan_open is to stop. */
bool build_goes_on(struct build *build);

/* The graph of a body, as build_analyse makes it. */
void body_graph(struct build *build, struct body *body);
/* The flow of its cfg, with leaks where the plan has them. */
void body_flow_build(struct build *build, struct body *body);
/* Code that the body's graph has outside its ranges is its. */
void body_parts(struct build *build, uint32_t index);
/* copied.c */

/*
 * Count in a copy of the body, which was found to have hooks from this number
 * on; false if that cannot be, or is not wished.
 */
bool copy_place_counters(struct build *build, uint32_t body,
			 const bool *wanted, const struct weights *weights,
			 size_t hooks);
/*
 * Another function jumps into one that is run in a copy: to where that can be
 * entered, or can be made to be by a trap; else it is to run in the original
 * again, and is not counted.
 */
void copy_intrude(struct build *build, uint32_t body, uint64_t target);
/* There is a hook in one that is copied already: it gets its trap. */
void copy_hook(struct build *build, uint32_t body, uint64_t addr);

/* The graph of a body; rows: line rows begin blocks.  To be freed. */
struct cfg *body_cfg(struct build *build, const struct body *body, bool rows);

/* hooks.c */

/* Find the hooks in all functions of the image. */
void image_hooks(struct build *build, unsigned wanted);
/* Find the hooks in a body's ranges. */
void body_hooks(struct build *build, const struct body *body);
/* Give the plan's hooks from number `first` on their sites. */
void hooks_place(struct build *build, size_t first);
uint32_t build_site(struct build *build, uint64_t addr, uint32_t body);

/* It is not waiting any more. */
void body_ready(struct build *build, struct body *body);
/* Let go its graph. */
void body_forget(struct body *body);
/* Another gauge, at a site that is there. */
void body_gauge(struct plan *plan, struct body *body, const struct term *term);

/* intrude.c */

/* Control may come to addr in the middle of the body: look at it now. */
void build_enters(struct build *build, uint32_t body, uint64_t addr);
/* Is there an instruction wherever control may come to the body so? */
bool intrusions_known(const struct build *build, const struct body *body);
/*
 * The function calls parts of itself (subroutines without a name).  Whether
 * any was found that the graph does not know to be entered.
 */
bool calls_inside(struct build *build, const struct body *body);
/*
 * Control goes from the body `from` to target.  In the middle of another
 * function: that one is to be looked at before it is entered so, with this in
 * mind.  If it has been looked at already, nothing can be derived in it any
 * more.
 */
void intrusion_note(struct build *build, uint32_t from, uint64_t target);
/* Does it go to the middle of another body, if it is an instruction? */
bool insn_may_intrude(const struct build *build, uint32_t index,
		      const struct insn *insn);
/* Where control goes from a body with a graph to the middle of others. */
void intrusions_note(struct build *build, uint32_t body);
/*
 * Have the body, which waits and has a graph, looked at again if the small
 * functions just before it jump into its middle: true if so.
 */
bool neighbours_enter(struct build *build, uint32_t body);

/* calls.c */

/* Whether nothing but calls is wanted of the body. */
bool body_calls_alone(const struct body *body);
/*
 * In a copy calls are what comes to the function's beginning, less what comes
 * from its own blocks: what of these ways must have counters, unless wanted is
 * NULL.  False if not all can.
 */
bool calls_want_ways(const struct body *body, bool *wanted);
/*
 * See to it that they count: by traps, and without a graph.  If there may be
 * no traps the body is not counted at all.
 */
void calls_place(struct build *build, uint32_t body);

/* lines.c: the lines of the image as a whole, and of one body. */
void plan_lines_open(struct build *build);
void plan_lines_close(struct build *build);
/* Whether any line of the body is chosen. */
bool plan_lines_wanted(const struct build *build, const struct body *body);
/* Addresses at which lines begin, appended to *leaders. */
void plan_lines_leaders(const struct build *build, const struct body *body,
			uint64_t **leaders, size_t *n);
/* What the body's lines count, by unit. */
void plan_lines_emit(struct build *build, const struct body *body,
		     entries_emit *emit, void *ctx);

/* inlines.c: the inlined copies, likewise. */
void plan_inlines_open(struct build *build);
void plan_inlines_close(struct build *build);
bool plan_inlines_wanted(const struct build *build, const struct body *body);
void plan_inlines_emit(struct build *build, const struct body *body,
		       entries_emit *emit, void *ctx);

#endif
