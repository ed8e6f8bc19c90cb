/*
 * Writes the bytes of patches: the jumps, chains and traps that lead from an
 * original into its relocated function, and the calls that go straight there.
 * Where entry patches are is decided in entry_patches.c.  Never touches a
 * process.
 */
#include "relocate/patch_bytes.h"

#include <inttypes.h>
#include <string.h>

#include "util/fail.h"

static int
jump_patch(const struct relocated *relocated, struct code_patch *patch,
	   uint64_t from, uint64_t to, unsigned len)
{
	patch->va = from;
	patch->len = (uint8_t)len;
	if (relocated->arch->emit.jump_write(from, to, len, patch->bytes))
		return fail("the code at %#" PRIx64 " is too far from its "
			    "relocated code",
			    from);
	return 0;
}

/* The entry's jump to its springboard, and the springboard. */
static int
spring_patch(const struct relocated *relocated, uint64_t va, int64_t spring,
	     uint64_t to, struct code_patch patches[2])
{
	unsigned len = relocated->arch->emit.jump_len;
	uint64_t at = va + len + (uint64_t)spring;

	return jump_patch(relocated, patches, va, at, len) ||
			       jump_patch(relocated, patches + 1, at, to, len) ?
		       -1 :
		       2;
}

int
entry_patch_bytes(const struct relocated *relocated,
		  const struct entry_patch *entry_patch,
		  const struct relocated_place *place,
		  struct code_patch patches[2])
{
	const struct arch *arch = relocated->arch;
	uint64_t va = place->bias + entry_patch->addr;
	uint64_t landing = place->bias + entry_patch->landing;
	uint64_t to = place->va + entry_patch->offset;

	switch ((enum entry_patch_via)entry_patch->via) {
	case VIA_JUMP:
		return jump_patch(relocated, patches, va, to,
				  arch->emit.jump_len) ?
			       -1 :
			       1;
	case VIA_CHAIN:
		return jump_patch(relocated, patches, va, landing,
				  arch->emit.chain_len) ||
				       jump_patch(relocated, patches + 1,
						  landing, to,
						  arch->emit.jump_len) ?
			       -1 :
			       2;
	case VIA_SPRING:
		if (place->spring)
			return spring_patch(relocated, va, place->spring, to,
					    patches);
		/* fallthrough */
	default:
		patches->va = va;
		patches->len = arch->trap_len;
		memcpy(patches->bytes, arch->trap, arch->trap_len);
		return 1;
	}
}

int
relocated_redirect(const struct relocated *relocated,
		   const struct relocated_place *place,
		   const struct direct_call *call, struct code_patch *patch)
{
	const struct entry_patch *entry_patch = relocated_called(relocated,
								 call->target);

	if (!entry_patch)
		return -1;
	patch->va = place->bias + call->addr;
	patch->len = relocated->arch->emit.call_len;
	return relocated->arch->emit.call_write(patch->va,
						place->va + entry_patch->offset,
						patch->bytes);
}
