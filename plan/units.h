/*
 * Units: functions, lines and inlined functions with their counts, as reports
 * of source want them.
 */
#ifndef PLAN_UNITS_H
#define PLAN_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan;

/*
 * One unit.  A line of a file is one unit however many functions have code
 * for it.  `why`, if set, says why the unit's count is not known.
 */
struct unit {
	uint8_t kind;		/* UNIT_FUNC, UNIT_LINE or UNIT_INLINE */
	uint32_t ref;		/* UNIT_FUNC: plan->image->funcs[ref];
				   UNIT_INLINE: image->inlines[ref], the first
				   of all copies of one function;
				   UNIT_LINE: file, image->files[ref] */
	uint32_t line;		/* UNIT_LINE, UNIT_INLINE's declaration */
	uint32_t func;		/* UNIT_LINE: image->funcs[func] has code of
				   it (others may, too), or FUNC_NONE */
	uint64_t n;
	const char *why;	/* static string or NULL */
	bool summed;		/* some of its code could be counted */
};

/* A row, function or inlined copy that could not be counted. */
struct skip {
	uint64_t addr;
	const char *why;	/* static string */
};

/*
 * Add up the counts of functions, lines and inlined functions in propagated
 * function plans.  Returns *n units, sorted by kind, then lines by file and
 * line, functions by addr; the caller frees the array.
 *
 * A function's count is the arrivals at its entry other than by its own jumps.
 * A line's count is how often control enters its code from another line's or
 * from outside the function, and how often it goes round a loop within the
 * line.  Each instruction belongs to the last row that begins a statement
 * (is_stmt) at or before it; a row that is empty because of others at the same
 * address counts arrivals there from other lines.  An inlined function's count
 * is the arrivals at the entry of each of its copies from outside that copy.
 */
struct unit *plan_units(struct plan *plan, size_t *n);

#endif
