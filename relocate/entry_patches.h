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
 * Whether it is certain that the n bytes of the original from addr on stay as
 * they are: only if they belong to one instruction that is no call, and do not
 * include its first byte.
 */
bool entry_patches_spare(const struct shape *shape,
			 const struct relocated *relocated, uint64_t addr,
			 unsigned n);

/*
 * Turn the entry patches' offsets from numbers of segments into offsets in the
 * relocated function, once that is laid out.
 */
void entry_patches_lead(const struct shape *shape, struct relocated *relocated);

#endif
