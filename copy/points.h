/*
 * Where the original is patched, and how.  For copy/ only.
 */
#ifndef COPY_POINTS_H
#define COPY_POINTS_H

#include "copy/shape.h"

/*
 * Choose the points of what the shape says is copied: copy->points and the
 * figures behind them.  Where there is no room calls are moved into the copy.
 */
void points_make(struct shape *shape, struct copy *copy);

/* Where they lead, once the copy is laid out. */
void points_lead(const struct shape *shape, struct copy *copy);

#endif
