/*
 * The lines of an image and its inlined copies, and what they count: lines.c
 * and inlines.c.  For plan/ only.
 */
#ifndef PLAN_LINES_H
#define PLAN_LINES_H

#include "flow/entries.h"
#include "plan/plan.h"

struct build;

/* Make and free what build holds of the image's lines. */
void plan_lines_open(struct build *build);
void plan_lines_close(struct build *build);
/* Whether any line of the function plan is chosen. */
bool plan_lines_wanted(const struct build *build,
		       const struct func_plan *fplan);
/* Append the addresses at which lines begin to *leaders. */
void plan_lines_leaders(const struct build *build,
			const struct func_plan *fplan, uint64_t **leaders,
			size_t *n);
/* Emit the summands of the counts of the function plan's lines, by unit. */
void plan_lines_emit(struct build *build, const struct func_plan *fplan,
		     entries_emit *emit, void *ctx);

/* inlines.c: the same for inlined copies. */
void plan_inlines_open(struct build *build);
void plan_inlines_close(struct build *build);
bool plan_inlines_wanted(const struct build *build,
			 const struct func_plan *fplan);
void plan_inlines_emit(struct build *build, const struct func_plan *fplan,
		       entries_emit *emit, void *ctx);

#endif
