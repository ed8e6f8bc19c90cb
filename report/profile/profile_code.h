/*
 * What the writer and the reader of data files share: how flags, edges and
 * states of counts are made numbers, and the prediction of counts.  See
 * man/pmon.out.5.
 */
#ifndef REPORT_PROFILE_PROFILE_CODE_H
#define REPORT_PROFILE_PROFILE_CODE_H

#include "report/profile/profile.h"

/* A function's flags; its state is in the low two bits. */
enum {
	FUNC_STATE = 3,
	FUNC_UNRESOLVED = 4,
	FUNC_SAME = 8,		/* the graph of the function before it */
	FUNC_RANGE = 16,	/* one range, which begins at addr */
	FUNC_ABNORMALS = 32,
	FUNC_CALLS = 64,
	FUNC_FIGURES = 128,
};

/*
 * An edge: 1 + last + 2 * (goes + 3 * by), where `last` is whether it is the
 * last from its vertex; 0 if there are none.
 */
enum edge_goes { GOES_NEXT, GOES_EXIT, GOES_FAR, GOES };
enum { EDGES_NONE = 0, EDGE_CODES = 1 + 2 * GOES * (BY_LEAK + 1) };

/* The two edges of a branch, which most blocks end with, in either order. */
enum {
	EDGES_TAKEN_FALL = EDGE_CODES,	/* BY_TAKEN far, BY_FALL next */
	EDGES_FALL_TAKEN,
	EDGES_CODES,
};

static inline unsigned
edge_code(enum edge_goes goes, unsigned by, bool last)
{
	return 1 + last + 2 * (goes + GOES * by);
}

/*
 * What numbers are expected to be, so that their differences are small: the
 * address of the function behind one, and instructions of a block.
 */
enum { FUNC_ALIGN = 16, INSN_SIZE = 4 };

static inline uint64_t
addr_expect(const struct profile_func *before)
{
	uint64_t end = 0;

	if (before)
		end = before->nranges ? before->ranges[0].hi : before->addr;
	return (end + FUNC_ALIGN - 1) & -(uint64_t)FUNC_ALIGN;
}

/* The block behind a vertex's: where code falls through to. */
static inline uint32_t
vertex_next(uint32_t vert)
{
	return vert == FLOW_ROOT ? FLOW_BLOCK : vert + 1;
}

/*
 * States of a function's counts: twice one of these, plus 1 if its counts flow,
 * that is if what follows from those before it does so, and is not written.
 */
enum {
	STATES_DERIVED,		/* known: a bit each, set if it is derived */
	STATES_EACH,		/* a byte each, state + 4 * reason */
	STATES_ALL,		/* this plus that byte: the same for all */
};

static inline uint8_t
state_code(const struct count *count)
{
	return (uint8_t)(count->state | count->reason << 2);
}

/* What has a count: an edge, or a block, from itself to itself. */
struct arc {
	uint32_t from, to;
	bool block;
	struct count *count;
};

/*
 * What has a count in the order in which they are written: ROOT's edges,
 * then for each block itself and its edges.  Each count is predicted from
 * those before it by Kirchhoff's law, as sum of what comes in, or rest of what
 * goes out or comes in; what is written is the difference.  If all that goes
 * in, or out, is known the law leaves no choice (`forced`).
 */
struct arcs {
	struct arc *arcs;
	size_t n;
	struct flow_sums *sums;	/* per vertex */
};

/* The counts remain the function's, which must be right (edges' ends). */
struct arcs arcs_list(const struct profile_func *func);
void arcs_free(struct arcs *arcs);

/* To be called for each in turn, with the counts before it known. */
uint64_t arc_predict(const struct arcs *arcs, size_t i, bool *forced);
void arc_known(struct arcs *arcs, size_t i);

/*
 * How many counts are not forced.  A graph is written once for several
 * functions only if these are at least one in SAME_MAX.
 */
enum { SAME_MAX = 64 };

size_t arcs_free_count(const struct profile_func *func);

#endif
