/*
 * Which flags a counter has to keep.  For relocate/ only.  Pure.
 */
#ifndef RELOCATE_FLAGS_H
#define RELOCATE_FLAGS_H

#include "flow/cfg.h"

/*
 * Per block, the flags that may be used after its beginning before they are
 * made anew: live variables (Aho, Sethi & Ullman, "Compilers", 1986, section
 * 10.6).  motions are those of the cfg's instructions.  Calls and returns
 * neither take nor leave flags (System V ABI for AMD64, 3.2.1); whoever is
 * jumped to outside of the function may use them all.
 */
uint32_t *flags_live(const struct arch *arch, const struct cfg *cfg,
		     const struct motion *motions);

/* Likewise before the last instruction of a block. */
uint32_t flags_before_last(const struct arch *arch, const struct cfg *cfg,
			   const struct motion *motions, const uint32_t *live,
			   uint32_t block);

#endif
