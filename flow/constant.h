/*
 * Registers that hold a constant, wherever control comes from or as the target
 * of a call.  Pure.
 */
#ifndef FLOW_CONSTANT_H
#define FLOW_CONSTANT_H

#include "flow/cfg.h"

/*
 * Whether the register holds the same constant, *value, whenever control comes
 * to the instruction.  Needs in->arch, text, data and ctx only.  False for
 * functions with unresolved jumps or mid-entries.
 */
bool constant_at(const struct cfg *cfg, const struct cfg_input *in, size_t insn,
		 uint8_t reg, uint64_t *value);

/*
 * Add to cfg->outs the places in the middle of other functions that the code
 * calls by a register which the same block has set to a constant.
 */
void constants_called(struct cfg *cfg, const struct cfg_input *in);

#endif
