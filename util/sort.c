/*
 * Sorts arrays by qsort(3), unless they are sorted.
 */
#include "util/sort.h"

#include <stdlib.h>

void
sort(void *base, size_t n, size_t size,
     int (*compare)(const void *a, const void *b))
{
	const char *rows = base;
	size_t i = 1;

	while (i < n && compare(rows + (i - 1) * size, rows + i * size) <= 0)
		i++;
	if (i < n)
		qsort(base, n, size, compare);
}
