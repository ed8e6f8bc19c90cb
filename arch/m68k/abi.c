/*
 * Linux's system calls on the 68000: arch/m68k/kernel/syscalls/syscall.tbl.
 */
#include "arch/abi.h"
#include "arch/m68k/regs.h"

const struct abi abi_m68k = {
	.nr_mmap = 192,		/* mmap2, whose offset is in pages */
	.nr_munmap = 91,
	.nr_madvise = 238,
	.nr_mprotect = 125,
	.nr_mremap = 163,
	.nr_sigreturn = 173,
	.nr_sigaction = -1,
	.nr_sigprocmask = -1,
	.nr_fork = 2,
	.nr_vfork = 190,
	.nr_clone = 120,
	.nr_clone3 = 435,
	.nr_exec = 11,
	.nr_execat = 355,
	.nr_getaffinity = 312,
	.nr_setaffinity = 311,
	.nr_open = 5,
	.nr_openat = 288,
	.nr_openat2 = 437,
	.nr_close = 6,
	.nr_connect = 359,
	.reg_nr = M68K_D0,
	.reg_result = M68K_D0,
	.reg_orig = REG_NONE,
	.reg_arg = { M68K_D1, M68K_D1 + 1, M68K_D1 + 2, M68K_D1 + 3,
		     M68K_D1 + 4, M68K_A0 },
};
