/*
 * Linux's system calls on aarch64: include/uapi/asm-generic/unistd.h, which
 * has no fork or vfork.
 */
#include "arch/aarch64/regs.h"
#include "arch/abi.h"

const struct abi abi_aarch64 = {
	.nr_mmap = 222,
	.nr_munmap = 215,
	.nr_madvise = 233,
	.nr_mprotect = 226,
	.nr_mremap = 216,
	.nr_sigreturn = 139,
	.nr_sigaction = -1,
	.nr_sigprocmask = -1,
	.nr_fork = -1,
	.nr_vfork = -1,
	.nr_clone = 220,
	.nr_clone3 = 435,
	.nr_exec = 221,
	.nr_execat = 281,
	.nr_getaffinity = 123,
	.nr_setaffinity = 122,
	.nr_open = -1,
	.nr_openat = 56,
	.nr_openat2 = 437,
	.nr_close = 57,
	.nr_connect = 203,
	.reg_nr = A64_X8,
	.reg_result = A64_X0,
	.reg_orig = REG_NONE,
	.reg_arg = { A64_X0, A64_X0 + 1, A64_X0 + 2, A64_X0 + 3, A64_X0 + 4,
		     A64_X0 + 5 },
};
