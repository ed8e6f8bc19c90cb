/*
 * Implements the pool as a list of blocks, and the map as a hash table with
 * open addressing.  Knows nothing of programs.
 */
#include "symtab/pool.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum { POOL_BLOCK = 64 << 10, POOL_ALIGN = 16, MAP_MIN = 64 };

struct pool_block {
	struct pool_block *next;
	_Alignas(16) char bytes[];
};

void *
pool_alloc(struct pool *pool, size_t size)
{
	struct pool_block *block;
	size_t used = (pool->used + POOL_ALIGN - 1) & -(size_t)POOL_ALIGN;

	if (!pool->blocks || used > pool->size || size > pool->size - used) {
		pool->size = size > POOL_BLOCK ? size : POOL_BLOCK;
		block = mem_alloc(sizeof(*block) + pool->size);
		block->next = pool->blocks;
		pool->blocks = block;
		used = 0;
	}
	pool->used = used + size;
	return pool->blocks->bytes + used;
}

char *
pool_string(struct pool *pool, const char *s, size_t n)
{
	char *copy = pool_alloc(pool, n + 1);

	memcpy(copy, s, n);
	return copy;
}

void
pool_free(struct pool *pool)
{
	struct pool_block *block, *next;

	for (block = pool->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	*pool = (struct pool){ 0 };
}

struct map_slot {
	uint64_t key;
	uint32_t value;
	bool used;
};

/* The slot of the key, or the free slot where it belongs. */
static struct map_slot *
map_slot(const struct map *map, uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15;
	size_t i = (size_t)(h ^ h >> 32);

	for (;; i++) {
		struct map_slot *slot = &map->slots[i & (map->size - 1)];

		if (!slot->used || slot->key == key)
			return slot;
	}
}

bool
map_get(const struct map *map, uint64_t key, uint32_t *value)
{
	const struct map_slot *slot;

	if (!map->size)
		return false;
	slot = map_slot(map, key);
	if (slot->used)
		*value = slot->value;
	return slot->used;
}

static void
map_grow(struct map *map)
{
	struct map old = *map;

	map->size = old.size ? 2 * old.size : MAP_MIN;
	map->slots = mem_alloc(map->size * sizeof(*map->slots));
	for (size_t i = 0; i < old.size; i++)
		if (old.slots[i].used)
			*map_slot(map, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

bool
map_put(struct map *map, uint64_t key, uint32_t value)
{
	struct map_slot *slot;

	if (map->n >= map->size / 2)
		map_grow(map);
	slot = map_slot(map, key);
	if (slot->used)
		return false;
	*slot = (struct map_slot){ key, value, true };
	map->n++;
	return true;
}

void
map_free(struct map *map)
{
	free(map->slots);
	*map = (struct map){ 0 };
}

/* FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ */
uint64_t
map_hash_add(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	while (n--)
		hash = (hash ^ *p++) * 0x100000001b3;
	return hash;
}

uint64_t
map_hash(const void *bytes, size_t n)
{
	return map_hash_add(0xcbf29ce484222325, bytes, n);
}
