/*
 * The time that has gone by (CLOCK_MONOTONIC): only differences mean something.
 */
#ifndef UTIL_CLOCK_H
#define UTIL_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);	/* nanoseconds */
double clock_seconds(void);

#endif
