/*
 * What a profile holds: runs, parts, objects and their functions with counts.
 */
#ifndef REPORT_PROFILE_PROFILE_DATA_H
#define REPORT_PROFILE_PROFILE_DATA_H

#include "flow/propagate.h"
#include "probe/death.h"
#include "probe/times.h"
#include "symtab/image.h"

static const uint32_t PART_NONE = UINT32_MAX;
static const uint32_t OBJECT_NONE = UINT32_MAX;

/*
 * A number of calls, abnormal edges or increments that does not fit in 64 bits,
 * so is not known.
 */
static const uint64_t NUMBER_UNKNOWN = UINT64_MAX;

/* The units that were counted in an object: bits of its `units`. */
enum profile_unit {
	PROFILE_FUNCS = 1,
	PROFILE_LINES = 2,
	PROFILE_INLINES = 4,
	PROFILE_BLOCKS = 8,
	PROFILE_EDGES = 16,
	PROFILE_INSNS = 32,
	PROFILE_CALLS = 64,	/* targets of indirect calls */
};

/*
 * A placement besides enum placement_method: that of merged files which differ
 * in it, but for PLACE_ONCE, which stays.
 */
enum { PLACE_MIXED = 255 };

/* The program's stops for one cause. */
struct profile_stop {
	char *cause;		/* in words, owned */
	uint64_t n, ns;		/* number; nanoseconds in all */
};

/* Where a signal ended the program: see struct death. */
struct profile_death {
	uint32_t object;	/* index into profile->objects, from 1 on; 0:
				   not known */
	uint64_t addr;
	uint8_t how;		/* enum death_how */
};

/* One run of pmon.  All strings are owned; none is NULL. */
struct profile_run {
	uint64_t id;		/* random; no run is merged twice */
	uint64_t start;		/* UTC, nanoseconds since 1970 */
	uint64_t elapsed;	/* nanoseconds */
	uint64_t processes, threads;	/* seen */
	uint64_t events;	/* traps handled */
	char *command;		/* the program and its arguments */
	char *outcome;		/* "exited with status 1" */
	struct profile_death death;
	char *version;		/* of the pmon that ran it */
	char **remarks;		/* notes for the user */
	size_t nremarks;
	struct profile_stop *stops;
	size_t nstops;		/* 0: not known */
};

/*
 * A process or thread that was counted by itself (--separate).  A profile of a
 * run without --separate has no parts; all its functions have PART_NONE.
 */
struct profile_part {
	uint32_t run;		/* index into profile->runs */
	uint32_t parent;	/* an earlier part of that run, or PART_NONE */
	uint32_t pid, tid;	/* tid 0: all the process's threads */
	uint64_t start;		/* nanoseconds after the run's */
	char *program;		/* path */
};

struct profile_block {
	uint64_t addr;
	uint32_t size;		/* bytes */
	uint32_t ninsns;
	struct count count;	/* of its first instruction; as in all counts,
				   n is 0 if unknown */
};

struct profile_edge {
	uint32_t from, to;	/* FLOW_ROOT, FLOW_EXIT or FLOW_BLOCK + index */
	uint8_t by;		/* enum flow_by */
	struct count count;
};

/* The abnormal edges of one instruction. */
struct profile_abnormal {
	uint64_t addr;		/* of an instruction */
	uint32_t rest;		/* instructions from here to the block's end */
	bool during;		/* the instruction had begun (a call that did
				   not come back), so was counted; else it was
				   about to run */
	uint64_t left, came;	/* times that control did */
};

/* One target of an indirect call or jump. */
struct profile_call {
	uint64_t addr;		/* of the instruction */
	uint32_t object;	/* of the target: an index, or OBJECT_NONE */
	uint64_t target;	/* its addr there; 0 for OBJECT_NONE */
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
 * A function, or what one part of a run executed of it.
 *
 * If nblocks is 0 the graph is not known; then there is at most one edge,
 * FLOW_ROOT -> FLOW_EXIT, whose count is that of the calls.  Otherwise edges
 * ascend by `from`, as in struct flow, but without EXIT -> ROOT: edge 0 is
 * ROOT -> entry.
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
	uint64_t increments;	/* of those counters */
	uint64_t every;		/* increments if each block had a counter */
	uint8_t doubt;		/* enum count_reason: why instructions may have
				   run more or less often than their blocks; 0:
				   no doubt.  Only of PROFILE_COUNTED with
				   blocks */
	uint64_t *passed;	/* in doubt: addrs of instructions behind
				   calls with counters of their own,
				   ascending */
	size_t npassed;
	struct times *times;	/* in nanoseconds; NULL: none are known */
	char *untimed;		/* why they are not what calls took, or NULL */
};

struct profile_object {
	char *path;
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;
	uint64_t text_size;	/* if there is no build-id, bytes of its */
	uint32_t text_crc;	/* executable segments and their CRC-32;
				   else both 0 */
	uint16_t machine;	/* e_machine */
	uint8_t placement;	/* enum placement_method, or PLACE_MIXED */
	uint32_t units;		/* enum profile_unit; 0: nothing was counted,
				   the object is here as a target of calls */
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

#endif
