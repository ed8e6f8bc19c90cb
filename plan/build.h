/*
 * What the parts that build a plan share: the units and terms found so far.
 * For plan/ only.
 */
#ifndef PLAN_BUILD_H
#define PLAN_BUILD_H

#include "plan/code.h"
#include "plan/graph.h"

static const uint32_t UNIT_NONE = UINT32_MAX;	/* REGION_NONE as well */

/* A term of a unit, before sites have numbers. */
struct raw_term {
	uint64_t addr;
	uint32_t unit;
	uint8_t kind;		/* enum term_kind */
	int8_t sign;
};

/* What is known of a file of the image: whether its lines are chosen. */
enum choice {
	CHOICE_NONE,
	CHOICE_ALL,
	CHOICE_SOME,		/* ask for each line */
};

struct build {
	struct plan *plan;
	const struct image *image;
	const struct selection *sel;
	unsigned units;		/* 1 << enum unit_kind */
	struct graphs *graphs;
	struct raw_term *raws;
	size_t nraws;
	/* Lines: a hash of (file, line), the units so far, by plan->units. */
	uint32_t *line_index;
	size_t line_index_size, nlines;
	uint8_t *choices;	/* enum choice of each file */
	uint32_t *stmts;	/* per row: the is_stmt row in force, or none */
	uint64_t *last_point;	/* per unit: address of the last empty row */
	size_t nlast_point;
	uint32_t func;		/* whose lines are being looked at */
	/* Inlined copies: their units. */
	uint32_t *copy_units;
};

uint32_t build_unit(struct build *build, enum unit_kind kind, uint32_t ref,
		    uint32_t line);
void build_skip(struct build *build, uint64_t addr, const char *why);

/* Append a term to the unit: an entries_emit, ctx is the build. */
void build_term(void *ctx, uint32_t unit, const struct term *term);

/* Give units their order and sites their numbers. */
void build_freeze(struct build *build);

/* lines.c: the lines of the image as a whole, and of one piece of code. */
void plan_lines_open(struct build *build);
void plan_lines_close(struct build *build);
/* Whether any line of the code is chosen. */
bool plan_lines_wanted(const struct build *build, const struct code *code);
/* Addresses at which lines begin, appended to *leaders. */
void plan_lines_leaders(const struct build *build, const struct code *code,
		   uint64_t **leaders, size_t *n);
void plan_lines_add(struct build *build, const struct code *code,
		const struct cfg *cfg);

/* inlines.c: the inlined copies, likewise. */
void plan_inlines_open(struct build *build);
void plan_inlines_close(struct build *build);
bool plan_inlines_wanted(const struct build *build, const struct code *code);
void plan_inlines_leaders(const struct build *build, const struct code *code,
		     uint64_t **leaders, size_t *n);
void plan_inlines_add(struct build *build, const struct code *code,
		  const struct cfg *cfg);

#endif
