/*
 * Sorts addresses, looks them up, and keeps them sorted.
 */
#include "util/addrs.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/search.h"

static int
addr_compare(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

void
addrs_sort(uint64_t *addrs, size_t n)
{
	if (n)
		qsort(addrs, n, sizeof(*addrs), addr_compare);
}

bool
addrs_has(const uint64_t *addrs, size_t n, uint64_t addr)
{
	size_t at = search_first(n, i, addrs[i] >= addr);

	return at < n && addrs[at] == addr;
}

bool
addrs_add(uint64_t **addrs, size_t *n, uint64_t addr)
{
	size_t at = search_first(*n, i, (*addrs)[i] >= addr);

	if (at < *n && (*addrs)[at] == addr)
		return false;
	(void)vec_push(*addrs, *n);
	memmove(*addrs + at + 1, *addrs + at, (*n - 1 - at) * sizeof(addr));
	(*addrs)[at] = addr;
	return true;
}
