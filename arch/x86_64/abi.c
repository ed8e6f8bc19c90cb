/*
 * Linux's system calls on x86-64, registers that functions preserve, and DWARF
 * register numbers: System V ABI, AMD64 supplement, A.2, 3.2.1, 3.6.2.
 */
#include "arch/abi.h"

#include <sys/syscall.h>

#include "arch/x86_64/regs.h"

enum { WAITING = FILE_PIPE | FILE_SOCKET | FILE_DEVICE };

/*
 * Not splice, which moves what is there; nor pwrite64 and copy_file_range, which
 * no signal interrupts.
 */
static const struct abi_transfer transfers[] = {
	{ SYS_write, .buf = 1, .len = 2, .fd = 0, .files = WAITING },
	{ SYS_sendto, .buf = 1, .len = 2, .fd = 0, .files = FILE_SOCKET },
	/* The kernel itself keeps the offset of the file that is read. */
	{ SYS_sendfile, ARG_NONE, .len = 3, .fd = 0, .files = FILE_SOCKET },
	{ SYS_getrandom, .buf = 0, .len = 1, .fd = ARG_NONE },
	/* Returns the number of entries submitted even if it did not wait. */
	{ SYS_io_uring_enter, ARG_NONE, .len = 1, .fd = ARG_NONE,
	  .waits = true },
};

static const struct abi_timeout timeouts[] = {
	{ SYS_epoll_wait, 3, TIMEOUT_MS },
	{ SYS_epoll_pwait, 3, TIMEOUT_MS },
	{ SYS_epoll_pwait2, 3, TIMEOUT_TIMESPEC },
	{ SYS_semtimedop, 3, TIMEOUT_TIMESPEC },
	{ SYS_rt_sigtimedwait, 2, TIMEOUT_TIMESPEC },
	{ SYS_io_getevents, 4, TIMEOUT_TIMESPEC },
	{ SYS_io_uring_enter, 4, TIMEOUT_URING },
	/* The kernel restarts these unless it cannot write to their timeout. */
	{ SYS_select, 4, TIMEOUT_TIMEVAL },
	{ SYS_pselect6, 4, TIMEOUT_TIMESPEC },
	{ SYS_ppoll, 2, TIMEOUT_TIMESPEC },
};

const struct abi abi_x86_64 = {
	.nr_mmap = SYS_mmap,
	.nr_munmap = SYS_munmap,
	.nr_madvise = SYS_madvise,
	.nr_mprotect = SYS_mprotect,
	.nr_mremap = SYS_mremap,
	.nr_pkey_mprotect = SYS_pkey_mprotect,
	.nr_remap_file_pages = SYS_remap_file_pages,
	.nr_shmat = SYS_shmat,
	.nr_personality = SYS_personality,
	.nr_thread_reg = SYS_arch_prctl,
	.nr_sigreturn = SYS_rt_sigreturn,
	.nr_sigaction = SYS_rt_sigaction,
	.nr_sigprocmask = SYS_rt_sigprocmask,
	.nr_fork = SYS_fork,
	.nr_vfork = SYS_vfork,
	.nr_clone = SYS_clone,
	.nr_clone3 = SYS_clone3,
	.nr_exec = SYS_execve,
	.nr_execat = SYS_execveat,
	.nr_getaffinity = SYS_sched_getaffinity,
	.nr_setaffinity = SYS_sched_setaffinity,
	.nr_open = SYS_open,
	.nr_openat = SYS_openat,
	.nr_openat2 = SYS_openat2,
	.nr_restart = SYS_restart_syscall,
	.nr_close = SYS_close,
	.nr_connect = SYS_connect,
	.nr_memfd_create = SYS_memfd_create,
	.nr_ftruncate = SYS_ftruncate,
	.transfers = transfers,
	.ntransfers = sizeof(transfers) / sizeof(transfers[0]),
	.timeouts = timeouts,
	.ntimeouts = sizeof(timeouts) / sizeof(timeouts[0]),
	.context_pc = 168,	/* of struct ucontext */
	.context_sp = 160,
	.context_mask = 296,
	.context = {
		144, 136, 152, 128, 112, 104, 120, 160,
		40, 48, 56, 64, 72, 80, 88, 96, 168,
	},
	.reg_flags = X86_EFLAGS,
	.context_flags = 176,
	.flag_step = X86_TF,
	.reg_nr = X86_RAX,
	.reg_result = X86_RAX,
	.reg_orig = X86_ORIG_RAX,
	.reg_arg = { X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9 },
	.dwarf = {
		X86_RAX, X86_RDX, X86_RCX, X86_RBX, X86_RSI, X86_RDI,
		X86_RBP, X86_RSP, X86_R8, X86_R9, X86_R10, X86_R11,
		X86_R12, X86_R13, X86_R14, X86_R15, X86_RIP,
	},
	.ndwarf = 17,
	.frame_return = 8,
	.frame_size = 16,
	.preserved = 1 << X86_RBX | 1 << X86_RBP | 1 << X86_R12 |
		     1 << X86_R13 | 1 << X86_R14 | 1 << X86_R15,
};
