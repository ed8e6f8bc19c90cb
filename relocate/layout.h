/*
 * The order of a relocated function's fragments.  For relocate/ only.
 */
#ifndef RELOCATE_LAYOUT_H
#define RELOCATE_LAYOUT_H

#include "relocate/shape.h"
#include "util/fail.h"

/*
 * Make the fragments of what the shape says is relocated, in the order of the
 * original, so that neighbours stay neighbours; rarely run code comes last.
 * Sets relocated->fragments and relocated->size, and the shape's segments'
 * fragment and way.  Returns 0, or -1 with the message if a probe would have
 * to preserve the flags and cannot.
 */
int layout_make(struct shape *shape, struct relocated *relocated) MUST_CHECK;

#endif
