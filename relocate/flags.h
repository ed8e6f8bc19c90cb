/*
 * Which flags a probe has to preserve.  For relocate/ only.  Pure.
 */
#ifndef RELOCATE_FLAGS_H
#define RELOCATE_FLAGS_H

#include "relocate/relocate.h"

/*
 * Live variables (Aho, Sethi & Ullman, "Compilers", 1986, section 10.6): per
 * block, the flags that may be used after its beginning before they are set
 * again.  The caller owns the array.  motions are those of in->cfg's
 * instructions.  Calls and returns neither take nor leave flags (System V ABI
 * for AMD64, 3.2.1).
 */
uint32_t *flags_live(const struct relocate_input *in,
		     const struct motion *motions);

/* The same before an instruction of a block. */
uint32_t flags_before(const struct relocate_input *in,
		      const struct motion *motions, const uint32_t *live,
		      uint32_t block, uint32_t insn);

/* The same before the last instruction of a block. */
uint32_t flags_before_last(const struct relocate_input *in,
			   const struct motion *motions, const uint32_t *live,
			   uint32_t block);

/*
 * The same at an address outside the function, to which it jumps: all flags but
 * those that are set there first, as far as its first instructions show.
 */
uint32_t flags_at(const struct relocate_input *in, uint64_t addr);

#endif
