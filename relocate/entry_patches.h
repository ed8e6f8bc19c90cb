/*
 * Where the original is patched, and how.  For relocate/ only.
 */
#ifndef RELOCATE_ENTRY_PATCHES_H
#define RELOCATE_ENTRY_PATCHES_H

#include "relocate/shape.h"

/*
 * Choose relocated->entry_patches, and the figures that go with them, for what
 * the shape says is relocated.  Where there is no room for a patch a call may
 * be moved into the relocated function, and the shape changes.
 */
void entry_patches_make(struct shape *shape, struct relocated *relocated);

/*
 * Turn the entry patches' offsets from numbers of segments into offsets in the
 * relocated function, once that is laid out.
 */
void entry_patches_lead(const struct shape *shape, struct relocated *relocated);

#endif
