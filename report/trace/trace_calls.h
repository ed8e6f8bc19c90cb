/*
 * The calls of a trace, one after the other, and the times of functions.
 */
#ifndef REPORT_TRACE_TRACE_CALLS_H
#define REPORT_TRACE_TRACE_CALLS_H

#include "report/trace/trace_read.h"

/* How a call ended. */
enum call_end {
	CALL_RETURNED,		/* or jumped to another function instead */
	CALL_LEFT,		/* by a jump: longjmp, an exception */
	CALL_ENDED,		/* its thread ended or runs another program */
	CALL_OPEN,		/* it has not, as far as the trace goes */
	CALL_LOST,		/* not known: there are too many stacks */
};

/* A call that begins or ends. */
struct trace_call {
	uint32_t thread, func;
	uint32_t stack;		/* which one of the thread's; see time_stacks.h */
	size_t depth;		/* calls on the stack that it is in */
	uint64_t stamp;		/* when it does, and ... */
	uint64_t now;		/* ... what the thread's clock shows then */
	bool before;		/* it began before: where the trace or the part
				   of it begins, or in the process that forked
				   this one */
	enum call_end how;	/* if it ends: how, and ... */
	uint64_t ticks;		/* ... for how long the thread ran meanwhile */
};

/* What calls are told to; any may be NULL. */
struct trace_watch {
	void (*began)(void *ctx, const struct trace_call *call);
	void (*ended)(void *ctx, const struct trace_call *call);
	/* Another item than a record. */
	void (*happened)(void *ctx, const struct trace_item *item);
};

/* The part of a trace that is wanted. */
struct trace_part {
	bool from_given, to_given;
	uint64_t from, to;	/* nanoseconds since the run's start; or ... */
	const char *from_func, *to_func;	/* ... from where a function is first
						   called; until that call, or
						   the next one, ends; or NULL */
	char *const *names;	/* how functions are shown, which these may be
				   given as, besides linkage names; or NULL */
	uint32_t tid;		/* of the only threads; 0: of all */
};

/* What was seen of a trace, or a part. */
struct trace_sums {
	struct times *times;	/* per function, in ticks */
	uint64_t *calls;	/* per thread: that began */
	uint64_t *first, *last;	/* per thread: stamps of its first and last
				   item; 0: none */
	uint64_t items;
	uint64_t begin, end;	/* stamps of the first and the last of these */
};

/*
 * Follow the trace's calls, and tell them.  The sums are the caller's, who frees
 * them with trace_sums_free, also after an error.  0, or -1 with the message: the
 * trace is damaged, or a function of the part is not in it.
 */
MUST_CHECK int trace_follow(const struct trace *trace,
			    const struct trace_part *part,
			    const struct trace_watch *watch, void *ctx,
			    struct trace_sums *sums);
void trace_sums_free(const struct trace *trace, struct trace_sums *sums);

#endif
