/*
 * Work on many equal things by two processors.
 */
#ifndef UTIL_HALVES_H
#define UTIL_HALVES_H

#include <stddef.h>

/*
 * Call work(ctx, 0, n / 2) here and work(ctx, n / 2, n) in another thread at the
 * same time, or behind the first where no thread can be made.  Returns when both
 * have.  The other thread gets no signals.
 */
void halves_work(void (*work)(void *ctx, size_t first, size_t last), void *ctx,
		 size_t n);

#endif
