/*
 * From the counters of a placement to the count of every block and edge:
 * Ball & Larus 1994, figures 6 and 8, with exit counters (section 3.2).
 * Pure.
 */
#ifndef FLOW_PROPAGATE_H
#define FLOW_PROPAGATE_H

#include "flow/placement.h"

enum count_state {
	COUNT_UNKNOWN,
	COUNT_DERIVED,
	COUNT_EXACT,		/* has a counter of its own, or an edge that of
				   its block */
};

/* Why a count is unknown. */
enum count_reason {
	REASON_NONE,
	REASON_UNPLACED,	/* the counters placed do not determine it */
	REASON_LOST,		/* the counters lost would have */
	REASON_CONTRADICTION,	/* what was measured cannot be */
	REASON_STACK,		/* control may have left unseen */
	REASON_MID_ENTRY,	/* control may have come unseen */
	REASON_GRAPH,		/* what was counted had another graph */
	REASON_SIGNAL,		/* it may have left unseen for a handler */
	REASON_UNDERIVABLE,		/* a thread ended, who knows where */
	REASON_NO_TRAPS,	/* stacks are not looked at */
	REASON_LEFT,		/* a stack was left, who knows how */
	REASON_RELOCATED,		/* its copy was given up */
	REASON_HOST,		/* it ran on unseen by the host */
	REASON_ATTACHED,	/* it may have been interrupted, or left, in
				   the middle before counting began */
	REASON_TAMPERED,	/* the program changed what it counts with */
	REASON_UNPROVEN,	/* it may be data: nothing leads to it */
	/* Of counts merged: data files have these numbers. */
	REASON_PARTIAL = 16,	/* not counted in all of them */
	REASON_OVERFLOW,	/* more than 64 bits hold */
	REASON_DIFFERS,		/* its text is not the file's */
	REASON_MAX = 63,
};

/*
 * Control may have come or gone at any instruction of the function: of a block
 * nothing is known behind its first.
 */
static inline bool
reason_anywhere(uint8_t reason)
{
	return reason == REASON_MID_ENTRY || reason == REASON_SIGNAL ||
	       reason == REASON_UNDERIVABLE || reason == REASON_ATTACHED;
}

/* Control may not have come back from calls: nothing is known behind them. */
static inline bool
reason_calls(uint8_t reason)
{
	return reason == REASON_STACK || reason == REASON_NO_TRAPS ||
	       reason == REASON_LEFT;
}

struct count {
	uint64_t n;
	uint8_t state;		/* enum count_state */
	uint8_t reason;		/* enum count_reason */
};

/* How control left a block, or came into it, over no edge. */
enum abnormal {
	LEFT_BEFORE,		/* stopped before its first instruction, which
				   was not counted: v -> EXIT */
	LEFT_BEHIND,		/* at a later instruction, such as a call that
				   did not come back: v -> EXIT */
	CAME_BEFORE,		/* from elsewhere to its first instruction,
				   which was then counted: ROOT -> v */
	CAME_BEHIND,		/* to a later one: ROOT -> v */
};

struct flow_extra {
	uint32_t block;		/* of the cfg */
	uint8_t how;		/* enum abnormal */
	uint64_t n;		/* times */
};

enum propagated {
	FLOW_CONSISTENT,
	FLOW_INCONSISTENT,	/* what comes to a block is not what leaves */
	FLOW_NEGATIVE,		/* a count comes out below zero */
};

/* What was measured, of one placement. */
struct measured {
	const uint64_t *counters;	/* as placement->arcs */
	const bool *lost;		/* as that, never counted; or NULL */
	const struct flow_extra *extras;
	size_t nextras;
	const bool *open;	/* per node: control may have come there, or
				   left, over no arc and unreported; or NULL */
	uint8_t doubt;		/* enum count_reason: why nodes are open */
};

/*
 * Derive what can be: counts, one per arc of the flow (flow_arcs), is filled. A
 * count is determined if its arc lies on no cycle of arcs that were not
 * counted; those are found, not guessed.  Kirchhoff's law holds at a node that
 * is open only with one more arc, to the outside, whose count nobody knows: so
 * what such arcs can reach without passing what was counted is unknown.  EXIT
 * -> ROOT is how often control came in.  A leak (BY_LEAK) may be below zero: so
 * much more came back than had left, as by longjmp.  If the result is not
 * FLOW_CONSISTENT the counts are of no use, and *bad, unless NULL, is an arc at
 * or near the fault.
 */
enum propagated propagate(const struct flow *flow,
			  const struct placement *placement,
			  const struct measured *measured,
			  struct count *counts, uint32_t *bad);

#endif
