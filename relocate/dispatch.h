/*
 * The indirect jumps that have a dispatch, and the maps in which dispatches
 * look targets up.  For relocate/ only.
 */
#ifndef RELOCATE_DISPATCH_H
#define RELOCATE_DISPATCH_H

#include "relocate/shape.h"

/*
 * Make the maps of the indirect jumps whose edges have probes: jumps with the
 * same targets share one.  Sets relocated->maps and shape->maps.  Returns 0, or
 * -1 with the message if such edges cannot be told apart.
 */
int dispatches_make(struct shape *shape, struct relocated *relocated);

/*
 * Find which of the jumps that have a dispatch can count their edges by the
 * index with which their tables are read, and give each entry a probe.  Sets
 * relocated->indexes and shape->indexes.  edge_index.c.
 */
void indexes_make(struct shape *shape, struct relocated *relocated);

/* Place the maps behind the fragments; relocated->size grows. */
void dispatches_place(struct relocated *relocated);

/* Write a map, for targets that are at addr + bias. */
void dispatch_map_write(const struct dispatch_map *map, uint64_t bias,
			uint8_t *bytes);

void dispatch_maps_free(struct dispatch_map *maps, uint32_t n);

#endif
