/*
 * Derives the count of every block and edge from the counters of a placement:
 * Ball & Larus 1994, figures 6 and 8, with exit counters (section 3.2).
 * Never guesses: a count that does not follow is unknown.  Pure.
 * doc/theory/placement.md says which counts are unknown, and why.
 */
#ifndef FLOW_PROPAGATE_H
#define FLOW_PROPAGATE_H

#include "flow/placement.h"

enum count_state {
	COUNT_UNKNOWN,
	COUNT_DERIVED,
	COUNT_EXACT,		/* has its own counter, or is an edge whose
				   carrier block has one */
};

/* Why a count is unknown. */
enum count_reason {
	REASON_NONE,
	REASON_UNPLACED,	/* the counters placed do not determine it */
	REASON_LOST,		/* a counter that determines it was lost */
	REASON_CONTRADICTION,	/* the measurements contradict themselves */
	REASON_STACK,		/* control may have left unseen */
	REASON_MID_ENTRY,	/* control may have come unseen */
	REASON_GRAPH,		/* the counters are of another graph */
	REASON_SIGNAL,		/* it may have left unseen for a handler */
	REASON_UNDERIVABLE,	/* a thread ended at an unknown place */
	REASON_NO_TRAPS,	/* stacks are not walked */
	REASON_LEFT,		/* a stack was left in an unknown way */
	REASON_RELOCATED,	/* its relocated function was given up */
	REASON_HOST,		/* the program ran on unseen by the host */
	REASON_ATTACHED,	/* it may have been interrupted, or left, in
				   the middle before counting began */
	REASON_TAMPERED,	/* the program changed pmon's counters */
	REASON_UNPROVEN,	/* it may be data: nothing leads to it */
	/* Reasons in merged profiles: data files have these numbers. */
	REASON_PARTIAL = 16,	/* not counted in all of the profiles */
	REASON_OVERFLOW,	/* more than 64 bits hold */
	REASON_DIFFERS,		/* its text is not the file's */
	REASON_CAME_BACK,	/* a call may have come back after all */
	REASON_DROPPED,		/* a trap that it needs cost too much */
	REASON_MAX = 63,
};

/*
 * Whether control may have come or gone at any instruction of the function.
 * Then only the first instruction of a block has the block's count.
 */
static inline bool
reason_anywhere(uint8_t reason)
{
	return reason == REASON_MID_ENTRY || reason == REASON_SIGNAL ||
	       reason == REASON_UNDERIVABLE || reason == REASON_ATTACHED;
}

/*
 * Whether control may not have come back from calls.  Then no count is known
 * behind a call.
 */
static inline bool
reason_calls(uint8_t reason)
{
	return reason == REASON_STACK || reason == REASON_NO_TRAPS ||
	       reason == REASON_LEFT || reason == REASON_DROPPED;
}

struct count {
	uint64_t n;
	uint8_t state;		/* enum count_state */
	uint8_t reason;		/* enum count_reason */
};

/* How an abnormal edge left a block, or came into it. */
enum abnormal {
	LEFT_BEFORE,		/* before its first instruction, which was not
				   counted: v -> EXIT */
	LEFT_BEHIND,		/* at a later point, such as a call that did
				   not come back: v -> EXIT */
	CAME_BEFORE,		/* from elsewhere to its first instruction,
				   which was then counted: ROOT -> v */
	CAME_BEHIND,		/* to a later instruction: ROOT -> v */
};

struct flow_extra {
	uint32_t block;		/* of the cfg */
	uint8_t how;		/* enum abnormal */
	uint64_t n;		/* how often */
};

enum propagated {
	FLOW_CONSISTENT,
	FLOW_INCONSISTENT,	/* control came to a block and left it unequally
				   often */
	FLOW_NEGATIVE,		/* a count comes out below zero */
};

/* The measurements of one placement. */
struct measured {
	const uint64_t *counters;	/* as placement->arcs */
	const bool *lost;		/* likewise: never counted; or NULL */
	const struct flow_extra *extras;
	size_t nextras;
	const bool *open;	/* per node: control may have come there, or
				   left, unreported and over no arc; or NULL */
	uint8_t doubt;		/* enum count_reason: why nodes are open */
};

/*
 * Derive all counts that the measurements determine, and fill counts[], one per
 * arc of the flow (flow_arcs).  A count is determined if its arc lies on no
 * cycle of uncounted arcs.  An open node has one more arc, to the outside,
 * whose count nobody knows: that is an uncounted arc, too, and may close more
 * cycles.  The count of EXIT -> ROOT is how often control came in.  The count
 * of a leak (BY_LEAK) may be negative: control came back more often than it had
 * left, as by longjmp.  If the result is not FLOW_CONSISTENT the counts are
 * useless, and *bad, unless bad is NULL, is an arc at or near the fault.
 */
enum propagated propagate(const struct flow *flow,
			  const struct placement *placement,
			  const struct measured *measured, struct count *counts,
			  uint32_t *bad);

#endif
