/*
 * The encoding that the writer and the reader of data files share: the numbers
 * that stand for flags, edges and states of counts, and the prediction of
 * counts.  See man/pmon.out.5.
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
 * The code of an edge is 1 + last + 2 * (goes + 3 * by), where `last` is 1 for
 * the last edge from its vertex.  A vertex without edges has the code 0.
 */
enum edge_goes { GOES_NEXT, GOES_EXIT, GOES_FAR, GOES };
enum { EDGES_NONE = 0, EDGE_CODES = 1 + 2 * GOES * (BY_LEAK + 1) };

/*
 * One code for both edges of a branch, in either order, as most blocks end in
 * a branch.
 */
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
 * Expected values, from which data files have the differences: functions begin
 * at the next multiple of FUNC_ALIGN behind another, and instructions have
 * INSN_SIZE bytes.
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

/* The block behind a vertex: control falls through to it. */
static inline uint32_t
vertex_next(uint32_t vert)
{
	return vert == FLOW_ROOT ? FLOW_BLOCK : vert + 1;
}

/*
 * How the states of a function's counts are written: twice one of these, plus 1
 * if its counts flow, that is if every forced count is as predicted.  Forced
 * counts that flow are not written.
 */
enum {
	STATES_DERIVED,		/* all known: a bit each, set if derived */
	STATES_EACH,		/* a byte each, state + 4 * reason */
	STATES_ALL,		/* this plus that byte: the same for all */
};

static inline uint8_t
state_code(const struct count *count)
{
	return (uint8_t)(count->state | count->reason << 2);
}

/* An arc: an edge, or a block as an edge from itself to itself. */
struct arc {
	uint32_t from, to;
	bool block;
	struct count *count;
};

/*
 * A function's arcs in the order in which their counts are written: ROOT's
 * edges, then for each block the block itself and its edges.  Each count is
 * predicted from those before it by Kirchhoff's law: a block's as the sum of
 * its known edges in; that of the last unknown edge out of a block, or back
 * into one, as the rest of the block's count; others as 0.  Data files have the
 * differences from that.  A prediction is forced if the law leaves no other
 * count.
 */
struct arcs {
	struct arc *arcs;
	size_t n;
	struct flow_sums *sums;	/* per vertex */
};

/* The counts remain the function's.  Its edges must lead to its blocks. */
struct arcs arcs_list(const struct profile_func *func);
void arcs_free(struct arcs *arcs);

/*
 * Call both for each arc in turn: arc_predict, and once its count is set
 * arc_known.
 */
uint64_t arc_predict(const struct arcs *arcs, size_t i, bool *forced);
void arc_known(struct arcs *arcs, size_t i);

/*
 * The number of counts that are not forced.  A function may have the graph of
 * the one before it (FUNC_SAME) only if at least one in SAME_MAX of its counts
 * is not forced.
 */
enum { SAME_MAX = 64 };

size_t arcs_free_count(const struct profile_func *func);

#endif
