/*
 * The time that has gone by (CLOCK_MONOTONIC): only differences mean something.
 */
#ifndef UTIL_CLOCK_H
#define UTIL_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);	/* nanoseconds */
double clock_seconds(void);

/* A moment, on that clock and by the CPU's time stamp counter (stamp.h). */
struct moment {
	uint64_t stamp, ns;
};

/* Now; of some tries that where reading the clocks took the least. */
struct moment moment_now(void);

#endif
