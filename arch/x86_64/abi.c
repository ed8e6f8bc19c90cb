/*
 * System calls of x86-64 Linux: System V ABI, AMD64 supplement, A.2.
 */
#include "arch/abi.h"

#include <sys/syscall.h>

#include "arch/x86_64/regs.h"

const struct abi abi_x86_64 = {
	.nr_mmap = SYS_mmap,
	.nr_munmap = SYS_munmap,
	.nr_mprotect = SYS_mprotect,
	.nr_mremap = SYS_mremap,
	.nr_sigreturn = SYS_rt_sigreturn,
	.nr_fork = SYS_fork,
	.nr_vfork = SYS_vfork,
	.nr_clone = SYS_clone,
	.nr_clone3 = SYS_clone3,
	.nr_exec = SYS_execve,
	.nr_execat = SYS_execveat,
	.nr_getaffinity = SYS_sched_getaffinity,
	.nr_setaffinity = SYS_sched_setaffinity,
	.nr_close = SYS_close,
	.nr_connect = SYS_connect,
	.reg_nr = X86_RAX,
	.reg_result = X86_RAX,
	.reg_orig = X86_ORIG_RAX,
	.reg_arg = { X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9 },
};
