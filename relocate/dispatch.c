/*
 * Dispatches: where several indirect jumps lead to the same blocks, how often
 * control took which edge shows only at the jump.  Finds the jumps, and makes
 * the maps from targets to the numbers of their counters: hash tables without
 * collisions.  Emits no code.
 */
#include "relocate/dispatch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "relocate/flags.h"
#include "util/fail.h"
#include "util/mem.h"

/*
 * A hash of the size HASH_LEAST times the targets or more, up to 1 <<
 * HASH_BITS; FACTORS are tried for each size.
 */
enum { HASH_LEAST = 4, HASH_BITS = 16, FACTORS = 256 };

static uint32_t
hash_of(const struct dispatch_map *map, uint64_t target)
{
	uint32_t h = (uint32_t)(target - map->targets[0]) * map->factor;

	return h >> (32 - map->bits);
}

/* Fill the hash; false if two targets have the same place in it. */
static bool
hash_fill(struct dispatch_map *map, bool *taken)
{
	memset(taken, false, (size_t)1 << map->bits);
	for (uint32_t i = 0; i < map->ntargets; i++) {
		uint32_t at = hash_of(map, map->targets[i]);

		if (taken[at])
			return false;
		taken[at] = true;
		map->hash[at] = (uint16_t)i;
	}
	return true;
}

static bool
hash_make(struct dispatch_map *map)
{
	bool *taken = mem_alloc((size_t)1 << HASH_BITS), found = false;

	map->hash = mem_alloc(((size_t)1 << HASH_BITS) * sizeof(*map->hash));
	map->bits = 1;
	map->factor = UINT32_C(0x9e3779b1);
	while (UINT32_C(1) << map->bits < HASH_LEAST * map->ntargets)
		map->bits++;
	for (; map->bits <= HASH_BITS && !found; map->bits += !found)
		for (int i = 0; i < FACTORS && !found; i++) {
			map->factor = map->factor * UINT32_C(1664525) +
				      UINT32_C(1013904223);
			found = hash_fill(map, taken);
		}
	free(taken);
	return found;
}

/* The edge from an indirect jump that has a probe, from e on, or ARC_NONE. */
static uint32_t
edge_probed(const struct shape *shape, uint32_t block, uint32_t e)
{
	const struct flow *flow = shape->flow;

	for (; e < flow->out[FLOW_BLOCK + block + 1]; e++)
		if (flow->edges[e].by == BY_TABLE &&
		    shape->probes[e] != PROBE_NONE)
			return e;
	return ARC_NONE;
}

/*
 * The targets of a jump, in the order of their probes' slots, into *map.  false
 * if a slot does not follow the last one.
 */
static bool
targets_find(const struct shape *shape, uint32_t block,
	     struct dispatch_map *map)
{
	const struct probe *first = NULL;
	uint32_t e = shape->flow->out[FLOW_BLOCK + block];

	for (; (e = edge_probed(shape, block, e)) != ARC_NONE; e++) {
		const struct probe *probe =
			&shape->in->probes[shape->probes[e]];
		uint32_t to = shape->flow->edges[e].to - FLOW_BLOCK;

		if (!first)
			first = probe;
		if (probe->slot != first->slot + map->ntargets ||
		    probe->operand != first->operand ||
		    map->ntargets == UINT16_MAX)
			return false;
		*vec_push(map->targets,
			  map->ntargets) = shape_first(shape, to)->addr;
	}
	return true;
}

/* The map's number among those of the function, which has it then, or -1. */
static long
map_take(struct relocated *relocated, struct dispatch_map *map)
{
	for (uint32_t i = 0; i < relocated->nmaps; i++) {
		const struct dispatch_map *other = &relocated->maps[i];

		if (other->ntargets != map->ntargets ||
		    memcmp(other->targets, map->targets,
			   map->ntargets * sizeof(*map->targets)))
			continue;
		free(map->targets);
		return i;
	}
	if (!hash_make(map)) {
		free(map->hash);
		free(map->targets);
		return -1;
	}
	*vec_push(relocated->maps, relocated->nmaps) = *map;
	return relocated->nmaps - 1;
}

/* Whether there can be a dispatch in place of the block's indirect jump. */
static bool
jump_serves(const struct shape *shape, uint32_t block)
{
	const struct insn *last = shape_last(shape, block);
	size_t avail;
	const uint8_t *code = shape->in->text(shape->in->ctx, last->addr,
					      &avail);

	return shape->arch->emit.dispatch_load && !shape->in->shared &&
	       shape->arch->emit.dispatch_load(code, last->len) &&
	       !flags_before_last(shape->in, shape->motions, shape->live,
				  block);
}

int
dispatches_make(struct shape *shape, struct relocated *relocated)
{
	for (uint32_t b = 0; b < shape->cfg->nblocks; b++) {
		struct dispatch_map map = { 0 };
		long number = -1;

		if (shape->table_arc[b] == ARC_NONE || !shape_runs(shape, b))
			continue;
		if (jump_serves(shape, b)) {
			if (targets_find(shape, b, &map))
				number = map_take(relocated, &map);
			else
				free(map.targets);
		}
		if (number < 0)
			return fail("the edges of the jump at %#" PRIx64
				    " need counters but cannot be told apart",
				    shape_last(shape, b)->addr);
		shape->maps[b] = (uint32_t)number;
	}
	return 0;
}

/* The bytes of a map in the relocated function. */
static uint32_t
map_size(const struct dispatch_map *map)
{
	return map->ntargets * (uint32_t)sizeof(uint64_t) +
	       (uint32_t)(sizeof(*map->hash) << map->bits);
}

void
dispatches_place(struct relocated *relocated)
{
	for (uint32_t i = 0; i < relocated->nmaps; i++) {
		struct dispatch_map *map = &relocated->maps[i];

		map->offset = (relocated->size + 7) & ~UINT32_C(7);
		relocated->size = map->offset + map_size(map);
		must(relocated->size < UINT32_MAX / 2);
	}
}

void
dispatch_map_write(const struct dispatch_map *map, uint64_t bias,
		   uint8_t *bytes)
{
	for (uint32_t i = 0; i < map->ntargets; i++) {
		uint64_t va = map->targets[i] + bias;

		memcpy(bytes + i * sizeof(va), &va, sizeof(va));
	}
	memcpy(bytes + map->ntargets * sizeof(uint64_t), map->hash,
	       sizeof(*map->hash) << map->bits);
}

void
dispatch_maps_free(struct dispatch_map *maps, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(maps[i].targets);
		free(maps[i].hash);
	}
	free(maps);
}
