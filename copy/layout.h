/*
 * The order of a copy's pieces, and where they are.  For copy/ only.
 */
#ifndef COPY_LAYOUT_H
#define COPY_LAYOUT_H

#include "copy/shape.h"

/*
 * Make the pieces of what the shape says is copied, in the order of the
 * original, so that what is next to each other there is so here; what is
 * rarely run comes behind all.  Sets copy->pieces and copy->size, and of the
 * shape's segments piece and way.  0, or -1 with the message if a counter
 * would have to keep the flags and cannot.
 */
int layout_make(struct shape *shape, struct copy *copy);

#endif
