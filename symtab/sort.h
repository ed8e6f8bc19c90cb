/*
 * A stable sort by address.  Private to symtab/.
 */
#ifndef SYMTAB_SORT_H
#define SYMTAB_SORT_H

#include <stddef.h>

/*
 * Sort n elements of size bytes by the uint64_t that each begins with;
 * elements of one address keep their order.  Natural merge sort (Knuth, The
 * Art of Computer Programming 3, 5.2.4, algorithm N): fast on long runs.
 */
void sort_by_addr(void *base, size_t n, size_t size);

#endif
