/*
 * The table of system call conventions.
 */
#include "arch/abi.h"

#include <stddef.h>

const struct abi *
abi_find(const struct arch *arch)
{
	return arch == &arch_x86_64 ? &abi_x86_64 : NULL;
}
