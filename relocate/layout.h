/*
 * The order of a relocated function's fragments, and where they are.  For
 * relocate/ only.
 */
#ifndef RELOCATE_LAYOUT_H
#define RELOCATE_LAYOUT_H

#include "relocate/shape.h"

/*
 * Make the fragments of what the shape says is copied, in the order of the
 * original, so that what is next to each other there is so here; what is rarely
 * run comes behind all.  Sets relocated->fragments and relocated->size, and of
 * the shape's segments fragment and way.  0, or -1 with the message if a
 * counter would have to keep the flags and cannot.
 */
int layout_make(struct shape *shape, struct relocated *relocated);

#endif
