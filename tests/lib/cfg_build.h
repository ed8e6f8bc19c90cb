/*
 * Flow graphs of nothing but code and leaders.
 */
#ifndef TESTS_LIB_CFG_BUILD_H
#define TESTS_LIB_CFG_BUILD_H

#include "flow/cfg.h"

/* cfg_make of n ranges [lo[i], hi[i]) with these leaders. */
struct cfg *cfg_build(const struct arch *arch, const uint64_t *lo,
		      const uint64_t *hi, size_t n, const uint64_t *leaders,
		      size_t nleaders, cfg_text *text, void *ctx);

#endif
