/*
 * Sorting arrays in memory.
 */
#ifndef UTIL_SORT_H
#define UTIL_SORT_H

#include <stddef.h>

/* As qsort(3), but only looks at what is sorted already, as most arrays are. */
void sort(void *base, size_t n, size_t size,
	  int (*compare)(const void *a, const void *b));

#endif
