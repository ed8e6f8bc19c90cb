/*
 * Reads traces: their tables, and the items of all threads in the order of time.
 */
#ifndef REPORT_TRACE_TRACE_READ_H
#define REPORT_TRACE_TRACE_READ_H

#include "report/trace/trace_items.h"
#include "report/trace/trace_tables.h"

struct trace {
	char *path;		/* as given */
	struct trace_tables tables;
	double tick_ns;		/* nanoseconds of a tick */
	struct chunk *chunks;	/* of items, in the order of the file */
	size_t nchunks;
	char *fault;		/* why the end is missing, or NULL: it is
				   complete */
	int fd;
	uint64_t size;		/* of the file */
};

/* Is the file a trace?  Not if it cannot be read. */
bool trace_file_is(const char *path);

/*
 * Open a trace.  What was written before a kill, a full disk or damage is there;
 * trace->fault says so.  NULL with the message, which begins with the path.
 */
struct trace *trace_open(const char *path);
void trace_close(struct trace *trace);

/* Nanoseconds from the run's start to the stamp; and of so many ticks. */
uint64_t trace_ns(const struct trace *trace, uint64_t stamp);
uint64_t trace_ticks_ns(const struct trace *trace, uint64_t ticks);

/* Reads the items of a trace, which must live as long. */
struct trace_cursor;
/*
 * From the first one on; where a thread's chunks are missing from its beginning
 * on, `begun` is told the calls that are taken to have begun before, the
 * outermost first, at the first item's time.
 */
typedef void trace_begun(void *ctx, const struct trace_item *first,
			 const struct trace_frame *frames, size_t n);
struct trace_cursor *trace_cursor_open(const struct trace *trace,
				       trace_begun *begun, void *ctx);
void trace_cursor_close(struct trace_cursor *cursor);
/*
 * Get the next item, in the order of stamps; of the same stamp, those of threads
 * that began earlier first.  1; 0 at the end; -1 with the message if the trace is
 * damaged there.
 */
MUST_CHECK int trace_next(struct trace_cursor *cursor, struct trace_item *item);

#endif
