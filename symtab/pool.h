/*
 * Where an image's small objects live: a pool of memory that is released as a
 * whole, and a map from numbers to numbers.
 */
#ifndef SYMTAB_POOL_H
#define SYMTAB_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool {
	struct pool_block *blocks;
	size_t used, size;	/* of the first block */
};

/* Zeroed memory, aligned for any type; never fails. */
void *pool_alloc(struct pool *pool, size_t size);
/* A copy of n bytes of s, and a NUL. */
char *pool_string(struct pool *pool, const char *s, size_t n);
void pool_free(struct pool *pool);

/* A map from a number to a number.  All zeros is an empty map. */
struct map {
	struct map_slot *slots;
	size_t n, size;		/* size is 0 or a power of two */
};

bool map_get(const struct map *map, uint64_t key, uint32_t *value);
/* Add a key; false, and nothing changes, if the key is there already. */
bool map_put(struct map *map, uint64_t key, uint32_t value);
void map_free(struct map *map);

/* A hash of n bytes; different strings may have the same one. */
uint64_t map_hash(const void *bytes, size_t n);
/* The hash of bytes that have this one, with n more behind them. */
uint64_t map_hash_add(uint64_t hash, const void *bytes, size_t n);

#endif
