/*
 * Where an image's small things live: a pool of memory released as a whole,
 * and a map from numbers to numbers for the readers' look-ups.
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

/* Zeroed memory, aligned for anything; never fails. */
void *pool_alloc(struct pool *pool, size_t size);
char *pool_string(struct pool *pool, const char *s, size_t n);
void pool_free(struct pool *pool);

/* From a number to a number.  All zeros is an empty map. */
struct map {
	struct map_slot *slots;
	size_t n, size;		/* size is 0 or a power of two */
};

bool map_get(const struct map *map, uint64_t key, uint32_t *value);
/* Adds; false, and nothing done, if the key was there. */
bool map_put(struct map *map, uint64_t key, uint32_t value);
void map_free(struct map *map);

/* A number made from a string; different strings may share one. */
uint64_t map_hash(const char *s, size_t n);

#endif
