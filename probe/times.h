/*
 * The times of a function's calls, in ticks of a clock where they are measured,
 * in nanoseconds where they are reported.
 */
#ifndef PROBE_TIMES_H
#define PROBE_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct func_plan;

/*
 * Bins of times: each power of two is divided into so many, so that the times in
 * one bin differ by 25 % at most.
 */
enum { TIME_PARTS = 4, TIME_BINS = 48 * TIME_PARTS };

struct times {
	uint64_t calls;		/* begun */
	uint64_t ended;
	uint64_t total;		/* of calls that are within no other call of
				   the same function */
	uint64_t self;		/* in no function that was called from there */
	uint64_t sum, min, max;	/* of calls that ended; 0 if none has */
	uint64_t *bins;		/* TIME_BINS: how many ended calls; or NULL */
	char *event;		/* what is counted in place of time, or NULL */
	bool lost;		/* a call was taken to have ended, and was seen
				   to end later */
};

/* The bin of a time, and the longest time of a bin. */
unsigned time_bin(uint64_t time);
uint64_t time_bin_end(unsigned bin);
/* The first bin from `bin` on that has calls, or TIME_BINS. */
unsigned time_bin_next(const struct times *times, unsigned bin);

/*
 * A number that so many percent of the calls that ended did not exceed: the end
 * of a bin, or the longest.  0 if none has ended.
 */
uint64_t times_percentile(const struct times *times, unsigned percent);

/* One more call has ended. */
void times_ended(struct times *times, uint64_t time);
void times_add(struct times *into, const struct times *from);
/* The same; owned by the caller. */
struct times *times_copy(const struct times *from);
/*
 * The same in a unit of which a tick has so many; events stay as they are.  Owned
 * by the caller.
 */
struct times *times_scale(const struct times *from, double units);
/* No calls. */
void times_clear(struct times *times);
void times_free(struct times *times);

/*
 * Why the function's times, if it has any, are not what its calls took; a
 * static string or the plan's; or NULL.
 */
const char *fplan_untimed(const struct func_plan *fplan);

#endif
