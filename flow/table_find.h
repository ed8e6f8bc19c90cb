/*
 * Jump tables in the code: what table a place is an entry of.  For flow/
 * only.  Pure.
 */
#ifndef FLOW_TABLE_FIND_H
#define FLOW_TABLE_FIND_H

#include "flow/values.h"

/* A table: entries are base plus `width` bytes times scale. */
struct table {
	uint64_t addr, base;
	uint8_t width, scale;
	bool sign;
	struct spot index;
};

/*
 * What is at `at`'s place, in memory, is an entry of a table: find the
 * table's address, the width of its entries and its index; base, scale
 * and sign stay.  CONSTANT_UNREACHED: as values_constant says.
 */
enum constant table_find(struct values *v, const struct spot *at,
			 struct table *table);

#endif
