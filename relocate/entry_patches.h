/*
 * Where the original is patched, and how.  For relocate/ only.
 */
#ifndef RELOCATE_ENTRY_PATCHES_H
#define RELOCATE_ENTRY_PATCHES_H

#include "relocate/shape.h"

/*
 * Choose the entry patches of what the shape says is copied:
 * relocated->entry_patches and the figures behind them.  Where there is no room
 * calls are moved into the relocated function.
 */
void entry_patches_make(struct shape *shape, struct relocated *relocated);

/* Where they lead, once the relocated function is laid out. */
void entry_patches_lead(const struct shape *shape, struct relocated *relocated);

#endif
