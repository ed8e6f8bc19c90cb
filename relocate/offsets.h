/*
 * Where the fragments of a relocated function are in it.  For relocate/ only.
 */
#ifndef RELOCATE_OFFSETS_H
#define RELOCATE_OFFSETS_H

#include "relocate/relocate.h"

/*
 * The beginning of a relocated function, and of its loops' heads; and the lines
 * in which code is fetched, of which a loop is to touch no more than it must.
 */
enum { ALIGN_RELOCATED = 16, ALIGN_LOOP = 16, ALIGN_LINE = 64 };

/*
 * Set the offsets and sizes of the fragments, of which those from number n on
 * are rarely run, and the relocated function's size and alignment.
 */
void offsets_make(struct relocated *relocated, uint32_t n);

#endif
