/*
 * Which flags a probe has to preserve.  For relocate/ only.  Pure.
 */
#ifndef RELOCATE_FLAGS_H
#define RELOCATE_FLAGS_H

#include "flow/cfg.h"

/*
 * Live variables (Aho, Sethi & Ullman, "Compilers", 1986, section 10.6): per
 * block, the flags that may be used after its beginning before they are set
 * again.  The caller owns the array.  motions are those of the cfg's
 * instructions.  Calls and returns neither take nor leave flags (System V ABI
 * for AMD64, 3.2.1); code outside the function that a block jumps to may use
 * all of them.
 */
uint32_t *flags_live(const struct arch *arch, const struct cfg *cfg,
		     const struct motion *motions);

/* The same before the last instruction of a block. */
uint32_t flags_before_last(const struct arch *arch, const struct cfg *cfg,
			   const struct motion *motions, const uint32_t *live,
			   uint32_t block);

#endif
