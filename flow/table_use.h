/*
 * Finds the instruction by which an indirect jump reads its table.  For flow/
 * only.  Pure.
 */
#ifndef FLOW_TABLE_USE_H
#define FLOW_TABLE_USE_H

#include "flow/values.h"

/*
 * How the jump, a graph's instruction that goes to `targets` (ntargets
 * instructions, ascending), uses a table of addresses: see struct table_use.
 * Returns 0, and the caller owns use->entries; or -1 without a message if no
 * instruction of the jump's block reads the target and nothing else, with an
 * index in a register.
 */
int table_use_find(struct values *v, uint32_t jump, const uint32_t *targets,
		   size_t ntargets, struct table_use *use);

#endif
