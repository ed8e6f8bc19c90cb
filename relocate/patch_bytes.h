/*
 * The bytes of the patches that lead into a relocated function.
 */
#ifndef RELOCATE_PATCH_BYTES_H
#define RELOCATE_PATCH_BYTES_H

#include "relocate/relocate.h"
#include "util/fail.h"

/* Bytes to put at a va: len of them. */
struct code_patch {
	uint64_t va;
	uint8_t bytes[INSN_MAX];
	uint8_t len;
};

/*
 * The one or two patches of an entry patch; the second, if any, must be written
 * first.  Returns how many, or -1 with the message.
 */
int entry_patch_bytes(const struct relocated *relocated,
		      const struct entry_patch *entry_patch,
		      const struct relocated_place *place,
		      struct code_patch patches[2]) MUST_CHECK;

/*
 * The patch that makes a call, in any function, go straight into this relocated
 * function, past the entry patch at the call's target.  Returns 0, or -1 without
 * a message if relocated_called finds none there or the call is too far away.
 */
int relocated_redirect(const struct relocated *relocated,
		       const struct relocated_place *place,
		       const struct direct_call *call,
		       struct code_patch *patch);

#endif
