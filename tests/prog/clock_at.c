/*
 * Preloaded into pmon: each look at the processor time that pmon has used finds
 * 0.6 seconds more of it.  So pmon drops counters as soon as it may.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

int
clock_gettime(clockid_t clock, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *);
	static long tenths;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	if (clock != CLOCK_PROCESS_CPUTIME_ID)
		return real(clock, t);
	tenths += 6;
	*t = (struct timespec){ tenths / 10, tenths % 10 * 100000000 };
	return 0;
}
