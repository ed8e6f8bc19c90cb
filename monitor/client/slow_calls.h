/*
 * Calls that took longer than the user allows (--slow).
 */
#ifndef MONITOR_CLIENT_SLOW_CALLS_H
#define MONITOR_CLIENT_SLOW_CALLS_H

#include "monitor/run.h"

/* The longest time that a call of the function may take, in ns; 0: any. */
uint64_t slow_limit(const struct options *opts, const struct func *func);

/* One function of a stack. */
struct slow_frame {
	const struct plan *plan;
	uint32_t fplan;
};

/*
 * Tell the user of a call that took so many nanoseconds, with those that it was
 * in: n frames, the outermost first.
 */
void slow_call(struct run *run, pid_t tid, uint64_t ns,
	       const struct slow_frame *frames, size_t n);

/* How many frames are shown: the innermost. */
enum { SLOW_FRAMES = 24 };

#endif
