/*
 * Sorted arrays of addresses or other 64-bit numbers.
 */
#ifndef UTIL_ADDRS_H
#define UTIL_ADDRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sort n numbers, which may be none; then addrs may be NULL. */
void addrs_sort(uint64_t *addrs, size_t n);
/* Is addr one of n sorted numbers? */
bool addrs_has(const uint64_t *addrs, size_t n, uint64_t addr);
/*
 * Insert addr into *addrs, an array of *n sorted numbers that mem.h allocated.
 * False if it is there already.
 */
bool addrs_add(uint64_t **addrs, size_t *n, uint64_t addr);

#endif
