/*
 * Sorting arrays in memory.
 */
#ifndef UTIL_SORT_H
#define UTIL_SORT_H

#include <stddef.h>

/* As qsort(3), but only looks at what is sorted already, as most arrays are. */
void sort(void *base, size_t n, size_t size,
	  int (*compare)(const void *a, const void *b));

/*
 * Sort n elements of size bytes, a multiple of 8, by the uint64_t that each
 * begins with; elements of one address keep their order.  Takes time linear in
 * n: radix sort (Knuth, The Art of Computer Programming 3, 5.2.5, algorithm R).
 */
void sort_by_addr(void *base, size_t n, size_t size);
/* The same, with the elements of one address in the order of compare. */
void sort_by_addr_and(void *base, size_t n, size_t size,
		      int (*compare)(const void *a, const void *b));

#endif
