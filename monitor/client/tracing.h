/*
 * Writes the trace of a run (--trace).  Is told what times.c finds.
 */
#ifndef MONITOR_CLIENT_TRACING_H
#define MONITOR_CLIENT_TRACING_H

#include "monitor/run.h"
#include "report/trace/trace_items.h"

struct tracing;

/*
 * Begin the trace that the options ask for, if any; `cost` is what a record
 * takes, in ticks.  0, or -1 with the message: its file cannot be written.
 */
int tracing_open(struct run *run, uint64_t cost) MUST_CHECK;
/*
 * Write the rest.  0, or -1 with the message if any of it could not be written.
 * There may be no trace.
 */
int tracing_end(struct run *run) MUST_CHECK;
void tracing_close(struct run *run);
/*
 * Write what the ring has (--ring).  0, or -1 with the message if that fails or
 * there is no ring.
 */
int tracing_save(struct run *run) MUST_CHECK;

/* A function has its number, the next one: its entries and exits may be told. */
void tracing_func(struct tracing *tracing, const struct plan *plan,
		  uint32_t fplan);
/* A function's calls are not in the trace. */
void tracing_untraced(struct tracing *tracing, const struct plan *plan,
		      uint32_t fplan, const char *why);

/* The number of a thread that begins. */
uint32_t tracing_thread(const struct run *run, const struct task *task);
/* It runs another program. */
void tracing_program(const struct run *run, const struct task *task,
		     uint32_t thread);
/* Something happened in a thread. */
void tracing_item(struct tracing *tracing, const struct trace_item *item);
/* The child begins with the calls of its maker; its clock shows `now`. */
void tracing_forked(struct tracing *tracing, uint32_t maker, uint32_t child,
		    uint64_t now);
/* Write what was told, if it is time for that: to be called now and then. */
void tracing_look(struct run *run);

#endif
