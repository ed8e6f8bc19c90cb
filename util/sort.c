/*
 * Sorts arrays.  Knows of an element only what a comparison says, or that the
 * element begins with an address.
 */
#include "util/sort.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/fail.h"
#include "util/mem.h"

enum {
	DIGITS = sizeof(uint64_t),	/* bytes */
	VALUES = 256,			/* of a digit */
	WORD = sizeof(uint64_t),
};

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

/* ---- by address */

static uint64_t
key(const char *base, size_t i, size_t size)
{
	uint64_t addr;

	memcpy(&addr, base + i * size, sizeof(addr));
	return addr;
}

/* Compilers make a call of a memcpy whose size they do not know. */
static void
element_copy(char *to, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i += WORD)
		memcpy(to + i, from + i, WORD);
}

static bool
ascends(const char *base, size_t n, size_t size)
{
	for (size_t i = 1; i < n; i++)
		if (key(base, i - 1, size) > key(base, i, size))
			return false;
	return true;
}

/* Move the elements to `to`, ordered by that digit, of which `counts` tells. */
static void
digit_sort(char *to, const char *from, size_t n, size_t size, unsigned digit,
	   const size_t counts[VALUES])
{
	size_t at[VALUES], sum = 0;

	for (unsigned v = 0; v < VALUES; v++) {
		at[v] = sum;
		sum += counts[v];
	}
	for (size_t i = 0; i < n; i++)
		element_copy(to + size * at[key(from, i, size) >> 8 * digit &
					    (VALUES - 1)]++,
			     from + i * size, size);
}

void
sort_by_addr(void *base, size_t n, size_t size)
{
	size_t counts[DIGITS][VALUES] = { 0 };
	char *from = base, *to, *spare;

	must(size % WORD == 0);
	if (ascends(base, n, size))
		return;
	for (size_t i = 0; i < n; i++)
		for (unsigned d = 0; d < DIGITS; d++)
			counts[d][key(from, i, size) >> 8 * d & (VALUES - 1)]++;
	to = spare = mem_alloc(n * size);
	for (unsigned d = 0; d < DIGITS; d++) {
		char *other = from;

		/* Most addresses have the same first digits. */
		if (counts[d][key(from, 0, size) >> 8 * d & (VALUES - 1)] == n)
			continue;
		digit_sort(to, from, n, size, d, counts[d]);
		from = to;
		to = other;
	}
	if (from != base)
		memcpy(base, from, n * size);
	free(spare);
}

void
sort_by_addr_and(void *base, size_t n, size_t size,
		 int (*compare)(const void *a, const void *b))
{
	char *rows = base;
	size_t lo, hi;

	sort_by_addr(base, n, size);
	for (lo = 0; lo < n; lo = hi) {
		for (hi = lo + 1;
		     hi < n && key(rows, hi, size) == key(rows, lo, size); hi++)
			;
		sort(rows + lo * size, hi - lo, size, compare);
	}
}
