/*
 * The counts of units: functions, lines and inlined functions, as reports of
 * source want them.
 */
#ifndef PROBE_SUMS_H
#define PROBE_SUMS_H

#include "program/units.h"

struct plan;

/*
 * Add up the counts of functions, lines and inlined functions in propagated
 * function plans.  Returns *n units, sorted by kind, then lines by file and
 * line, functions by addr; the caller frees the array.
 *
 * A function's count is the arrivals at its entry other than by its own jumps.
 * A line's count is how often control enters its code from another line's or
 * from outside the function, and how often it goes round a loop within the
 * line.  Each instruction belongs to the last row that begins a statement
 * (is_stmt) at or before it, unless line_row_apart; a row that is empty because
 * of others at the same address counts arrivals there from other lines.  An
 * inlined function's count is the arrivals at the entry of each of its copies
 * from outside that copy.
 */
struct unit *plan_units(struct plan *plan, size_t *n);

#endif
