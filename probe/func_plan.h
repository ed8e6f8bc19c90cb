/*
 * Function plans: one function of an image, or nameless code, with its sites,
 * its placement and, once they are derived, its counts.  Link addresses only.
 */
#ifndef PROBE_FUNC_PLAN_H
#define PROBE_FUNC_PLAN_H

#include "flow/propagate.h"
#include "probe/times.h"
#include "program/code.h"
#include "program/select.h"
#include "symtab/image.h"

static const uint32_t FPLAN_NONE = UINT32_MAX;
static const uint32_t SITE_NONE = UINT32_MAX;

struct site {
	uint64_t addr;
	struct insn insn;
	uint32_t fplan;		/* plan->fplans[fplan] contains it; or
				   FPLAN_NONE: a hook alone */
	bool branch;		/* count how often it is taken */
	bool targets;		/* count where its jump or call goes */
	bool waiting;		/* entry of a function that is still to be
				   looked at */
	bool idle;		/* nothing is counted here any more */
	bool lost;		/* could not be planted in some process */
	bool lifted;		/* its trap is gone: it has counted once, or
				   cost too much */
	bool leads;		/* its trap leads into the function plan's
				   relocated function */
	bool skips;		/* it jumps past a prefix at which there is, or
				   may be, a trap: it is to go to the prefix */
	uint32_t hook;		/* plan->hooks[hook - 1] is here; 0: none */
	uint64_t hits;		/* by plan_propagate */
};

/* How to read the counter of one arc of a placement. */
struct counter_ref {
	uint32_t site;
	uint8_t kind;		/* enum term_kind */
	uint64_t to;		/* TERM_TARGET */
};

/*
 * A counter behind a call.  With the counter of the call's block it tells how
 * often the call did not come back, or came back twice.
 */
struct pass {
	uint32_t insn;		/* behind the call, by its index in the cfg */
	uint32_t site;
	uint32_t first;		/* the site where the call's block begins */
	bool measured;		/* by plan_propagate: neither is lost */
};

struct relocated;		/* see relocate/relocate.h */

enum fplan_state {
	FPLAN_WAITING,		/* never entered: all its counts are 0 */
	FPLAN_READY,		/* its counters are placed */
	FPLAN_FAULTY,		/* it is not counted: see `why` */
};

/* How often control left an instruction, or came to it, over no edge. */
struct abnormal_insn {
	uint32_t insn;		/* by its index in the cfg */
	bool during;		/* after it began (a call); else before */
	uint64_t left, came;
};

/*
 * One function of the image, or nameless code.  cfg and flow are NULL until
 * the function is looked at, and stay NULL if only its calls are counted, by
 * traps.
 */
struct func_plan {
	uint32_t func;		/* image->funcs[func], or FUNC_NONE */
	uint8_t state;		/* enum fplan_state */
	bool entry;		/* ranges[0] begins with its entry */
	bool stub;		/* nameless: one of the linker's stubs */
	bool guest; /* its entry is in another function plan's code */
	bool looked;		/* its mid-entries into others are noted */
	bool named;		/* its calls are a unit */
	unsigned units;		/* asked for: 1 << enum unit_kind */
	const struct range *ranges;
	size_t nranges;
	bool lost;		/* its relocated function could not be planted
				   somewhere */
	bool differs;		/* it is lost because its text is not the
				   file's: the program, or a tool, changed it */
	bool partial;		/* its cfg and flow are those of its beginning
				   alone: see probe/beginning.h */
	bool whole;		/* its beginning alone does not suffice */
	bool mid_entered; /* control may come to its middle unseen */
	bool came_back;		/* calls that were taken not to may have come
				   back, or control came to its code that no
				   flow is known to lead to: ... */
	bool strayed;		/* ... the latter */
	bool interrupted;	/* a signal interrupted it; the handler came
				   back if all stacks are known */
	bool missed;		/* it may have run before it was looked at */
	bool unwritten;		/* some of its traps could not be written in
				   some process: nothing is known */
	char *dropped;		/* why counters of it were dropped, or NULL */
	char *untimed;		/* why its times cannot be known, or NULL */
	const char *why;	/* if FPLAN_FAULTY; outlives the plan */
	uint32_t site;		/* at its entry, or SITE_NONE */
	struct cfg *cfg;
	struct flow *flow;
	struct placement *placement;
	struct counter_ref *counter_refs;	/* as placement->arcs; without a
						   placement, of its own jumps
						   to its entry */
	uint32_t ncounter_refs;
	struct relocated *relocated;	/* counts in its place, or NULL */
	char *stays;		/* why it has none though the plan asks
				   for some, or NULL */
	struct entry_patch *former;	/* entry patches as they were before
					   they became traps */
	uint32_t nformer;
	uint32_t relocated_at;	/* offset of the relocated function in the
				   module's memory for them */
	struct direct_call *callers;	/* calls of it in relocated functions */
	uint32_t ncallers;
	struct pass *passes;	/* ascending */
	size_t npasses;
	/* By plan_propagate: */
	uint8_t doubt;		/* enum count_reason: why not everything is
				   derived; measured counts are known */
	struct count *counts;	/* per arc of the flow */
	struct abnormal_insn *abnormal_insns;	/* ascending insn */
	size_t nabnormal_insns;
	struct count calls;
	struct times *times;	/* in nanoseconds; NULL: none, or not measured
				   (plan->tick_ns) */
	size_t nsites;		/* not idle, hooks aside */
	size_t ncounters;	/* placed; several may share a site */
	uint64_t increments;	/* of its sites and its relocated function */
};

/* The function of the function plan's image, or NULL for nameless code. */
static inline const struct func *
fplan_func(const struct func_plan *fplan, const struct image *image)
{
	return fplan->func == FUNC_NONE ? NULL : &image->funcs[fplan->func];
}

/*
 * How often the instruction with this index began, in a propagated function
 * plan.
 */
struct count fplan_insn(const struct func_plan *fplan, uint32_t insn);

/*
 * How often control came to the instruction over an edge or from the
 * instruction before it, whether or not it then began.
 */
struct count fplan_arrivals(const struct func_plan *fplan, uint32_t insn);

#endif
