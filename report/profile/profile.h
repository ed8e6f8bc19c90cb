/*
 * A profile: what one data file (pmon.out), or several merged, holds: runs,
 * objects, and per function its blocks and edges with their counts.  It needs
 * neither the program nor its DWARF, and never looks at them.
 */
#ifndef REPORT_PROFILE_PROFILE_H
#define REPORT_PROFILE_PROFILE_H

#include "flow/propagate.h"
#include "symtab/image.h"

static const uint32_t PART_NONE = UINT32_MAX;
static const uint32_t OBJECT_NONE = UINT32_MAX;

/*
 * Of calls, abnormal edges and increments: more than 64 bits hold, so not
 * known.
 */
static const uint64_t NUMBER_UNKNOWN = UINT64_MAX;

/* What was asked to be counted in an object; bits of its `units`. */
enum profile_unit {
	PROFILE_FUNCS = 1,
	PROFILE_LINES = 2,
	PROFILE_INLINES = 4,
	PROFILE_BLOCKS = 8,
	PROFILE_EDGES = 16,
	PROFILE_INSNS = 32,
	PROFILE_CALLS = 64,	/* where indirect ones go */
};

/* Besides enum placement_method: the files merged had different ones. */
enum { PLACE_MIXED = 255 };

/* Stops of the program for one cause. */
struct profile_stop {
	char *cause;		/* in words, owned */
	uint64_t n, ns;		/* how many, nanoseconds of all */
};

/* One run of pmon.  All strings are owned, and never NULL if not said. */
struct profile_run {
	uint64_t id;		/* random; no run is merged twice */
	uint64_t start;		/* UTC, nanoseconds since 1970 */
	uint64_t elapsed;	/* nanoseconds */
	uint64_t processes, threads;	/* seen */
	uint64_t events;	/* traps handled */
	char *command;		/* the program and its arguments */
	char *outcome;		/* "exited with status 1" */
	char *version;		/* of the pmon that ran it */
	char **remarks;		/* what the user should know */
	size_t nremarks;
	struct profile_stop *stops;
	size_t nstops;		/* 0: not known */
};

/*
 * A process or thread that was counted by itself (--separate).  A profile
 * without has no parts, and every function has PART_NONE.
 */
struct profile_part {
	uint32_t run;		/* index into profile->runs */
	uint32_t parent;	/* an earlier part of that run, or PART_NONE */
	uint32_t pid, tid;	/* tid 0: all the process's threads */
	uint64_t start;		/* nanoseconds since the run's */
	char *program;		/* path */
};

struct profile_block {
	uint64_t addr;
	uint32_t size;		/* bytes */
	uint32_t ninsns;
	struct count count;	/* of its first instruction; n is 0 if
				   unknown, as in all counts */
};

struct profile_edge {
	uint32_t from, to;	/* FLOW_ROOT, FLOW_EXIT or FLOW_BLOCK + index */
	uint8_t by;		/* enum flow_by */
	struct count count;
};

/* Control left, or came to, this place over no edge. */
struct profile_abnormal {
	uint64_t addr;		/* of an instruction */
	uint32_t rest;		/* instructions of its block from it on */
	bool during;		/* it had begun (a call did not come back), so
				   was counted; else it was about to be run */
	uint64_t left, came;	/* times */
};

/* Where an indirect call or jump went. */
struct profile_call {
	uint64_t addr;		/* of the instruction */
	uint32_t object;	/* of the target: an index, or OBJECT_NONE */
	uint64_t target;	/* its addr in that; with OBJECT_NONE 0 */
	uint64_t n;
};

enum profile_state {
	PROFILE_NEVER,		/* never entered: every count is 0 and
				   COUNT_EXACT, there are no abnormal edges or
				   calls; blocks and edges may be left out */
	PROFILE_COUNTED,
	PROFILE_UNKNOWN,	/* not counted */
};

/*
 * A function, or as much of it as one part of a run has executed.
 *
 * nblocks may be 0: then its graph is not known, and it has at most one edge,
 * FLOW_ROOT -> FLOW_EXIT, whose count is that of the calls.  Else edges
 * ascend by `from`, as in struct flow, without EXIT -> ROOT: edge 0 is ROOT ->
 * entry.
 */
struct profile_func {
	uint64_t addr;		/* link address of the entry */
	uint32_t part;		/* index into profile->parts, or PART_NONE */
	uint8_t state;		/* enum profile_state */
	bool unresolved;	/* has indirect jumps that are not resolved */
	char *name;		/* linkage name, may be "" */
	char *why;		/* PROFILE_UNKNOWN: the reason; else NULL */
	struct range *ranges;
	size_t nranges;
	struct profile_block *blocks;	/* ascending addr */
	size_t nblocks;
	struct profile_edge *edges;
	size_t nedges;
	struct profile_abnormal *abnormals;	/* ascending addr, during */
	size_t nabnormals;
	struct profile_call *calls;	/* ascending addr, object with NONE
					   first, target */
	size_t ncalls;
	uint64_t sites;		/* planted */
	uint64_t counters;	/* placed; several may share a site */
	uint64_t increments;	/* of their counters */
	uint64_t every;		/* increments of one counter per block */
	uint8_t doubt;		/* enum count_reason: why not all of its
				   instructions ran as often as its blocks say;
				   0: they did.  Only of PROFILE_COUNTED with
				   blocks */
	uint64_t *passed;	/* in doubt: instructions behind calls that
				   were counted themselves, ascending */
	size_t npassed;
};

struct profile_object {
	char *path;
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;
	uint64_t text_size;	/* without a build-id, of its executable */
	uint32_t text_crc;	/* segments: bytes, CRC-32; else both 0 */
	uint16_t machine;	/* e_machine */
	uint8_t placement;	/* enum placement_method, or PLACE_MIXED */
	uint32_t units;		/* enum profile_unit; 0: nothing was counted,
				   calls went there */
	struct profile_func *funcs;	/* ascending addr, then part with NONE
					   first */
	size_t nfuncs;
};

struct profile {
	struct profile_run *runs;
	size_t nruns;
	struct profile_part *parts;	/* those of a run together */
	size_t nparts;
	struct profile_object *objects;
	size_t nobjects;
};

void profile_free(struct profile *profile);

/*
 * What is wrong with a profile, of what is said above; NULL if nothing.  One
 * that is read is right, and one that is written must be.
 */
const char *profile_fault(const struct profile *profile);

/* The count of a function's calls. */
struct count profile_calls(const struct profile_func *func);

/*
 * Instructions executed; *known is set to whether that is all: else the
 * function is in doubt, some block's count is not known, or the sum is more
 * than 64 bits hold.
 */
uint64_t profile_executed(const struct profile_func *func, bool *known);

/* Set path, machine and what identifies an image. */
void profile_identify(struct profile_object *object,
		      const struct image *image);

/*
 * Whether a and b are the same file: one build-id, or both without, one path,
 * size and CRC.  Less than, equal to or greater than 0.
 */
int profile_object_compare(const struct profile_object *a,
			   const struct profile_object *b);

/* ---- files: profile_write.c, profile_read.c; see man/pmon.out.5 */

/*
 * Write a data file, in whole or not at all: what was there before stays
 * there if it fails.  What cannot be renamed (/dev/stdout, a pipe) is written
 * directly.  0, or -1 with the message set.
 */
int profile_write(const struct profile *profile, const char *path);

/* Whether a file begins as a data file does. */
bool profile_is(const char *path);

/* NULL with the message set, which names the file. */
struct profile *profile_read(const char *path);

/* The same in memory; what is encoded is owned by the caller. */
uint8_t *profile_encode(const struct profile *profile, size_t *size);
struct profile *profile_decode(const char *path, const uint8_t *bytes,
			       size_t size);

/* ---- several profiles: profile_merge.c */

/*
 * Add `from` to `into`, and empty it.  Functions of the same object at the
 * same addr are one: what was never entered adds nothing; counts are added;
 * a count that is unknown in one is unknown; one that was not taken in all is
 * REASON_PARTIAL; what is in doubt in one is in doubt; if one is
 * PROFILE_UNKNOWN or their blocks or edges differ
 * all is unknown.  Functions and objects in one only are kept.  The order of
 * merging does not matter: runs are sorted by start, objects by path.
 * -1 with the message if a run is in both, which profile_runs_check tells;
 * then nothing is changed.
 */
int profile_runs_check(const struct profile *into, const struct profile *from);
int profile_merge(struct profile *into, struct profile *from);

/* Add up the parts: one function per addr, PART_NONE, is left. */
void profile_join_parts(struct profile *profile);

/* ---- what changed: profile_diff.c */

struct diff_block {
	size_t block;		/* index into graph->blocks */
	uint64_t before, after;	/* counts */
};

/* A function of both. */
struct diff_func {
	const struct profile_object *object;	/* of the later profile */
	const struct profile_func *before, *after;
	const struct profile_func *graph;	/* after, or before if after has
						   no blocks; NULL if not the
						   same in both */
	bool insns;		/* the numbers are instructions executed, else
				   (its blocks are not known) calls */
	uint64_t before_n, after_n;
	struct diff_block *blocks;	/* that changed, biggest first */
	size_t nblocks;
};

/* What there is to say of two profiles, which must outlive it. */
struct profile_diff {
	struct diff_func *funcs;	/* that changed, biggest first */
	size_t nfuncs;
	size_t same;		/* functions with the same counts */
	size_t unknown;		/* not known in one of the two */
	size_t only_before, only_after;	/* not counted in the other, or one of
					   several of that name */
	size_t rebuilt;		/* objects whose build changed; there functions
				   are compared by name */
};

/*
 * Compare two profiles without parts.  An object's like is the same file, or
 * else one of the same path, or the only one of the same name.
 */
struct profile_diff *profile_diff(const struct profile *before,
				  const struct profile *after);
void profile_diff_free(struct profile_diff *diff);

#endif
