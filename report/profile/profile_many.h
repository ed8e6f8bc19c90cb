/*
 * Several profiles: made one, and compared.
 */
#ifndef REPORT_PROFILE_PROFILE_MANY_H
#define REPORT_PROFILE_PROFILE_MANY_H

#include "report/profile/profile_data.h"
#include "util/fail.h"

/* ---- several profiles: profile_union.c, profile_merge.c */

/*
 * profile_merge adds `from` to `into` and empties it.  -1 with the message set
 * if a run is in both, and then nothing is changed; profile_runs_check tells
 * this beforehand.
 *
 * Functions of the same object at the same addr become one:
 * - a function that was never entered adds nothing;
 * - counts are added; a count that is unknown in one is unknown;
 * - if one has no blocks, all counts but the calls are REASON_PARTIAL;
 * - a function in doubt in one is in doubt;
 * - if one is PROFILE_UNKNOWN, or blocks or edges differ, it is unknown.
 * Functions and objects that only one has are kept.  The order of merging does
 * not matter: runs are sorted by start, objects by path.
 */
MUST_CHECK int profile_runs_check(const struct profile *into,
				  const struct profile *from);
MUST_CHECK int profile_merge(struct profile *into, struct profile *from);

/* Add up the parts: leaves one function per addr, of PART_NONE. */
void profile_join_parts(struct profile *profile);

/* ---- what changed: profile_diff.c */

struct diff_block {
	size_t block;		/* index into graph->blocks */
	uint64_t before, after;	/* counts */
};

/* A function that is in both profiles. */
struct diff_func {
	const struct profile_object *object;	/* of the later profile */
	const struct profile_func *before, *after;
	const struct profile_func *graph;	/* after, or before if after has
						   no blocks; NULL if not the
						   same in both */
	bool insns;		/* before_n and after_n are instructions
				   executed; else calls, as those are not
				   known */
	uint64_t before_n, after_n;
	struct diff_block *blocks;	/* changed ones, biggest change
					   first */
	size_t nblocks;
};

/* The differences of two profiles, which must outlive it. */
struct profile_diff {
	struct diff_func *funcs;	/* changed ones, biggest change
					   first */
	size_t nfuncs;
	size_t same;		/* functions with the same counts */
	size_t unknown;		/* functions not known in one of the two */
	size_t only_before, only_after;	/* functions that the other did not
					   count, or with a name that is not
					   unique */
	size_t rebuilt;		/* objects whose build changed; their
				   functions are compared by name */
};

/*
 * Compare two profiles without parts.  An object is compared with the same
 * file, or else with the only one of the same path and machine, or else of the
 * same file name and machine.  profile_diff_free frees the result.
 */
struct profile_diff *profile_diff(const struct profile *before,
				  const struct profile *after);
void profile_diff_free(struct profile_diff *diff);

#endif
