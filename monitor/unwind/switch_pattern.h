/*
 * Patterns of stack switches: what two stacks must have in common with those
 * of a switch that was followed, so that the same frames are left and come to.
 */
#ifndef MONITOR_UNWIND_SWITCH_PATTERN_H
#define MONITOR_UNWIND_SWITCH_PATTERN_H

#include "arch/switch_filter.h"
#include "monitor/unwind/stack.h"
#include "symtab/image.h"

/* One of the two stacks. */
struct pattern_stack {
	const struct walk *walk;
	uint64_t sp;		/* as in struct switch_pattern */
	bool after;		/* it is come to */
	bool fp_known;		/* the frame pointer where the walk began */
};

/* Add what the stack must have.  false if that is not words alone. */
bool pattern_add(struct stack *stack, pid_t tid, const struct pattern_stack *of,
		 struct switch_pattern *pattern);
/* Whether all places that the pattern leads to, or comes from, are in ranges. */
bool pattern_within(const struct switch_pattern *pattern,
		    const struct range *ranges, size_t n);
/* A hash of everything but the counter, not 0. */
uint64_t pattern_hash(const struct switch_pattern *pattern);

#endif
