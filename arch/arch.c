/*
 * The table of all CPUs pmon knows.
 */
#include "arch/arch.h"

static const struct arch *const archs[] = { &arch_x86_64 };

const struct arch *
arch_find(unsigned machine, unsigned elf_class)
{
	for (size_t i = 0; i < sizeof(archs) / sizeof(*archs); i++)
		if (archs[i]->machine == machine &&
		    archs[i]->elf_class == elf_class)
			return archs[i];
	return NULL;
}
