/*
 * Finds where an indirect jump goes.  For flow/ only.  Pure.
 */
#ifndef FLOW_TARGET_FIND_H
#define FLOW_TARGET_FIND_H

#include "flow/table_read.h"

/*
 * Add what is found of the indirect jump at instruction insn: targets->pointer
 * and failed say how much that is.  Takes v->budget steps at most.
 */
void targets_find(struct values *v, const struct marks *marks, uint32_t insn,
		  struct targets *targets);

/* Add a target that is not in the function. */
void target_away(const struct cfg_input *in, struct targets *targets,
		 uint64_t addr);

#endif
