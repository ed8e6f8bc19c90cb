/*
 * The table of all CPUs that pmon knows.  Knows nothing else of them.
 */
#include "arch/arch.h"

static const struct arch *const archs[] = {
	&arch_x86_64, &arch_m68k, &arch_m68000, &arch_aarch64, &arch_vax,
};

const struct arch *
arch_find(unsigned machine, unsigned elf_class, uint32_t flags)
{
	for (size_t i = 0; i < sizeof(archs) / sizeof(*archs); i++)
		if (archs[i]->machine == machine &&
		    archs[i]->elf_class == elf_class &&
		    (flags & archs[i]->flags_mask) == archs[i]->flags)
			return archs[i];
	return NULL;
}
