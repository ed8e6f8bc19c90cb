/*
 * Where the pieces of a copy are in it.  For copy/ only.
 */
#ifndef COPY_OFFSETS_H
#define COPY_OFFSETS_H

#include "copy/copy.h"

/*
 * The beginning of a copy, and of its loops' heads; and the lines in which
 * code is fetched, of which a loop is to touch no more than it must.
 */
enum { ALIGN_COPY = 16, ALIGN_LOOP = 16, ALIGN_LINE = 64 };

/*
 * Set the offsets and sizes of the pieces, of which those from number n on are
 * rarely run, and the copy's size and alignment.
 */
void offsets_make(struct copy *copy, uint32_t n);

#endif
