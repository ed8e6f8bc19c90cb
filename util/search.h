/*
 * Binary search in sorted arrays.
 */
#ifndef UTIL_SEARCH_H
#define UTIL_SEARCH_H

#include <stddef.h>

/*
 * The first i in [0, n) for which cond is true, or n if there is none.  `i` is
 * the name that the expression cond uses.  If cond is true for an i, it must
 * be true for all that follow.
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
