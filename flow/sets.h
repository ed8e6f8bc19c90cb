/*
 * Disjoint sets of small numbers (union-find with path halving: R. E. Tarjan
 * and J. van Leeuwen, "Worst-case Analysis of Set Union Algorithms", JACM
 * 31(2) 1984).  The caller's array has an element per number, which leads
 * towards the representative of the number's set.
 */
#ifndef FLOW_SETS_H
#define FLOW_SETS_H

#include <stdbool.h>
#include <stdint.h>

/* Make every one of n numbers a set of its own. */
static inline void
sets_reset(uint32_t *sets, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sets[i] = i;
}

/* The representative of i's set. */
static inline uint32_t
set_find(uint32_t *sets, uint32_t i)
{
	while (sets[i] != i)
		i = sets[i] = sets[sets[i]];
	return i;
}

/*
 * Join the sets of a and b, whose representative is then b's; false if they
 * were one set already.
 */
static inline bool
set_join(uint32_t *sets, uint32_t a, uint32_t b)
{
	a = set_find(sets, a);
	b = set_find(sets, b);
	sets[a] = b;
	return a != b;
}

#endif
