/*
 * The CPU's time stamp counter, which pmon reads as the programs that it counts
 * do: Intel SDM volume 3, "Time-Stamp Counter".
 */
#ifndef UTIL_STAMP_H
#define UTIL_STAMP_H

#include <stdint.h>

static inline uint64_t
stamp_now(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;		/* pmon runs no programs of its own CPU there */
#endif
}

#endif
