/*
 * Finds the jump table from which an instruction reads.  Reads no entries.
 * For flow/ only.  Pure.
 */
#ifndef FLOW_TABLE_FIND_H
#define FLOW_TABLE_FIND_H

#include "flow/values.h"

/*
 * A table at addr of entries `width` bytes wide: an entry e leads to
 * base + e * scale.
 */
struct table {
	uint64_t addr, base;
	uint8_t width, scale;
	bool sign;
	struct use index;
};

/*
 * Find the table of which the memory at `at`'s place is an entry, and set its
 * addr, width and index; base, scale and sign stay as they are.
 * CONSTANT_UNREACHED means the same as for values_constant.
 */
enum constant table_find(struct values *v, const struct use *at,
			 struct table *table);

#endif
