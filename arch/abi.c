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

bool
abi_maps(const struct abi *abi, int64_t nr)
{
	const int maps[] = {
		abi->nr_mmap,	abi->nr_munmap,	       abi->nr_mprotect,
		abi->nr_mremap, abi->nr_pkey_mprotect, abi->nr_remap_file_pages,
		abi->nr_shmat,	abi->nr_personality,
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		if (nr > 0 && nr == maps[i])
			return true;
	return false;
}

size_t
abi_matter(const struct abi *abi, int numbers[ABI_MATTER])
{
	const int matter[ABI_MATTER] = {
		abi->nr_sigaction,     abi->nr_sigprocmask,
		abi->nr_clone,	       abi->nr_clone3,
		abi->nr_exec,	       abi->nr_execat,
		abi->nr_mmap,	       abi->nr_munmap,
		abi->nr_mprotect,      abi->nr_mremap,
		abi->nr_pkey_mprotect, abi->nr_remap_file_pages,
		abi->nr_shmat,	       abi->nr_personality,
		abi->nr_thread_reg,
	};
	size_t n = 0;

	for (size_t i = 0; i < ABI_MATTER; i++)
		if (matter[i] > 0)
			numbers[n++] = matter[i];
	return n;
}
