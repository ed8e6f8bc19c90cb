/*
 * Finds the system call conventions of a CPU.  Knows no conventions itself.
 */
#include "arch/abi.h"

#include <stddef.h>

const struct abi *
abi_find(const struct arch *arch)
{
	if (arch == &arch_x86_64)
		return &abi_x86_64;
	if (arch == &arch_m68000 || arch == &arch_m68k)
		return &abi_m68k;
	if (arch == &arch_aarch64)
		return &abi_aarch64;
	return NULL;
}
