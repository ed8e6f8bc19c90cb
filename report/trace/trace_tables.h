/*
 * What a trace tells besides its items: what ran, which functions and threads
 * there were, and how the time stamp is to be understood; and how that is
 * written as bytes.  Pure.
 */
#ifndef REPORT_TRACE_TRACE_TABLES_H
#define REPORT_TRACE_TRACE_TABLES_H

#include "report/trace/trace_chunks.h"
#include "symtab/image.h"
#include "util/clock.h"

struct trace_run {
	char *command;		/* the program and its arguments; owned */
	char *version;		/* of pmon; owned */
	uint64_t start;		/* nanoseconds since 1970, UTC */
	uint64_t stamp;		/* the CPU's time stamp then */
	uint64_t cost;		/* ticks that a record takes */
};

/* A program or library. */
struct trace_object {
	char *path;		/* owned */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;
};

struct trace_func {
	uint32_t object;	/* its number */
	uint64_t addr;
	char *name;		/* linkage name; owned */
	char *file;		/* of its declaration, or ""; owned */
	uint32_t line;		/* or 0 */
};

enum { TRACE_THREAD_NONE = UINT32_MAX };

struct trace_thread {
	uint32_t pid, tid;
	uint64_t began;		/* stamp */
	char *program;		/* path of the last one; owned */
};

struct trace_tables {
	struct trace_run run;
	struct trace_object *objects;
	size_t nobjects;
	struct trace_func *funcs;
	size_t nfuncs;
	struct trace_thread *threads;
	size_t nthreads;
	struct moment clock;	/* the last one; nanoseconds since the run's
				   start */
};

void trace_tables_free(struct trace_tables *tables);

/* Put the data of chunks. */
void trace_run_put(struct sink *out, const struct trace_run *run);
/* Objects and functions from these numbers on. */
void trace_funcs_put(struct sink *out, const struct trace_tables *tables,
		     size_t first_object, size_t first_func);
void trace_thread_put(struct sink *out, const struct trace_thread *thread);
/* The thread runs this program now. */
void trace_program_put(struct sink *out, uint32_t thread, const char *program);
void trace_clock_put(struct sink *out, const struct moment *clock);
/* Entries of the index: of n chunks. */
void trace_index_put(struct sink *out, const struct chunk *chunks, size_t n);

/*
 * Add what a chunk of that kind, neither items nor an index, holds.  False if
 * its data are not valid.
 */
bool trace_tables_get(struct trace_tables *tables, enum chunk_kind kind,
		      const uint8_t *bytes, size_t n);
/*
 * Get an index.  The chunks, owned by the caller, have no sizes yet.  NULL if it
 * is not valid.
 */
struct chunk *trace_index_get(const uint8_t *bytes, size_t n, size_t *nchunks);

#endif
