/*
 * Where the fragments of a relocated function are within it.  For relocate/
 * only.
 */
#ifndef RELOCATE_OFFSETS_H
#define RELOCATE_OFFSETS_H

#include "relocate/relocate.h"

/*
 * Alignment of a relocated function without loops, and of loops' heads; and the
 * size of the lines in which code is fetched, of which a loop should touch as
 * few as possible.
 */
enum { ALIGN_RELOCATED = 16, ALIGN_LOOP = 16, ALIGN_LINE = 64 };

/*
 * Set the offsets and sizes of the fragments, and the relocated function's size
 * and alignment.  Fragments from number n on are rarely run.
 */
void offsets_make(struct relocated *relocated, uint32_t n);

#endif
