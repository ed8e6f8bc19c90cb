/*
 * Makes graphs for tests.  Owns nothing.
 */
#include "tests/lib/cfg_build.h"

struct cfg *
cfg_build(const struct arch *arch, const uint64_t *lo, const uint64_t *hi,
	  size_t n, const uint64_t *leaders, size_t nleaders, cfg_text *text,
	  void *ctx)
{
	return cfg_make(&(struct cfg_input){
		.arch = arch, .lo = lo, .hi = hi, .n = n, .leaders = leaders,
		.nleaders = nleaders, .text = text, .ctx = ctx,
	});
}
