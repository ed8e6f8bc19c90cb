/*
 * Reads the clock that nobody sets, and the time stamp beside it.
 */
#include "util/clock.h"

#include <time.h>

#include "util/stamp.h"

uint64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

double
clock_seconds(void)
{
	return (double)clock_ns() / 1e9;
}

struct moment
moment_now(void)
{
	enum { TRIES = 3 };
	struct moment moment = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = stamp_now(), ns = clock_ns();
		uint64_t took = stamp_now() - before;

		if (took >= least)
			continue;
		least = took;
		moment = (struct moment){ before + took / 2, ns };
	}
	return moment;
}
