/*
 * A stable sort by address.  Knows of an element only that it begins with an
 * address.
 */
#include "symtab/sort.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

static uint64_t
key(const char *base, size_t i, size_t size)
{
	uint64_t addr;

	memcpy(&addr, base + i * size, sizeof(addr));
	return addr;
}

/* The end of the ascending run that begins at i. */
static size_t
run_end(const char *base, size_t i, size_t n, size_t size)
{
	if (i < n)
		i++;
	while (i < n && key(base, i - 1, size) <= key(base, i, size))
		i++;
	return i;
}

/* Merge [a, b) and [b, c) of from into to. */
static void
merge(char *to, const char *from, size_t a, size_t b, size_t c, size_t size)
{
	size_t i = a, j = b;

	for (size_t k = a; k < c; k++) {
		size_t take;

		if (j == c ||
		    (i < b && key(from, i, size) <= key(from, j, size)))
			take = i++;
		else
			take = j++;
		memcpy(to + k * size, from + take * size, size);
	}
}

void
sort_by_addr(void *base, size_t n, size_t size)
{
	char *from = base, *spare, *to;

	if (run_end(base, 0, n, size) == n)
		return;
	to = spare = mem_alloc(n * size);
	while (run_end(from, 0, n, size) < n) {
		char *other = from;
		size_t b, c;

		for (size_t a = 0; a < n; a = c) {
			b = run_end(from, a, n, size);
			c = run_end(from, b, n, size);
			merge(to, from, a, b, c, size);
		}
		from = to;
		to = other;
	}
	if (from != base)
		memcpy(base, from, n * size);
	free(spare);
}
