/*
 * Search in sorted arrays.
 */
#ifndef UTIL_SEARCH_H
#define UTIL_SEARCH_H

#include <stddef.h>

/*
 * The first `i` in [0, n) of which `cond`, an expression with that name in it,
 * is true, and then must be of all that follow; n if there is none.
 */
#define search_first(n, i, cond) \
	({ \
		size_t lo_ = 0, hi_ = (n); \
		while (lo_ < hi_) { \
			size_t i = lo_ + (hi_ - lo_) / 2; \
			if (cond) \
				hi_ = i; \
			else \
				lo_ = i + 1; \
		} \
		lo_; \
	})

#endif
