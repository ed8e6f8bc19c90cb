/*
 * Writes a trace: all of it as it comes, or the newest part of it.  Opens no
 * file.
 */
#ifndef REPORT_TRACE_TRACE_WRITE_H
#define REPORT_TRACE_TRACE_WRITE_H

#include "report/trace/trace_items.h"
#include "report/trace/trace_tables.h"

struct trace_writer;

/* Write these bytes.  0, or -1 with the message. */
typedef int trace_out(void *ctx, const uint8_t *bytes, size_t n);

/*
 * Begin a trace of the run, whose texts become the writer's.  With `ring`, not
 * 0, only the newest chunks are kept, of so many bytes in all, until
 * trace_writer_save; else everything goes to `out` in pieces.
 */
struct trace_writer *trace_writer_open(struct trace_run run, uint64_t ring,
				       trace_out *out, void *ctx);
void trace_writer_close(struct trace_writer *writer);

/* Add an object, function or thread, whose texts become the writer's. */
uint32_t trace_writer_object(struct trace_writer *writer,
			     struct trace_object object);
uint32_t trace_writer_func(struct trace_writer *writer, struct trace_func func);
uint32_t trace_writer_thread(struct trace_writer *writer,
			     struct trace_thread thread);
/* The thread runs another program, which becomes the writer's. */
void trace_writer_program(struct trace_writer *writer, uint32_t thread,
			  char *program);
/* What the time stamp is now. */
void trace_writer_clock(struct trace_writer *writer, struct moment clock);

/* Add an item of one of the threads.  Nothing follows its end. */
void trace_writer_item(struct trace_writer *writer,
		       const struct trace_item *item);
/* The stamp of the thread's last item, or 0. */
uint64_t trace_writer_last(const struct trace_writer *writer, uint32_t thread);
/* Write what was held back for larger chunks. */
void trace_writer_flush(struct trace_writer *writer);
/*
 * Write the rest and the index; with a ring, all that is kept, by these means.
 * 0, or -1 with the message of the first write that failed.
 */
MUST_CHECK int trace_writer_end(struct trace_writer *writer);
MUST_CHECK int trace_writer_save(struct trace_writer *writer, trace_out *out,
				 void *ctx);

/* Whether a write has failed; what came later was dropped. */
bool trace_writer_failed(const struct trace_writer *writer);

#endif
