/*
 * How Linux programs of a CPU call the kernel and each other: the numbers and
 * registers of the few system calls that pmon injects or watches for, and the
 * registers by which stacks are unwound.  Constants only.
 */
#ifndef ARCH_ABI_H
#define ARCH_ABI_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"

enum { DWARF_REGS = 32 };

enum { ARG_NONE = 0xff };

/*
 * The kernel's internal results for "restart, or EINTR" (linux/errno.h), from
 * the first to the last.  The last is for calls that nr_restart continues.
 */
enum { RESTART_FIRST = 512, RESTART_BLOCK = 516 };

/* Whether a system call with this result will be restarted, or fail so. */
static inline bool
result_restarts(int64_t result)
{
	return result <= -RESTART_FIRST && result >= -RESTART_BLOCK;
}

/* What kind of file a call writes to; several are or'ed. */
enum file_kind {
	FILE_OTHER = 1,		/* or not known, or calls on it do not wait */
	FILE_PIPE = 2,
	FILE_SOCKET = 4,
	FILE_DEVICE = 8,	/* a terminal, for example */
};

/*
 * A system call that moves bytes, or entries, and returns how many: all, unless
 * it is interrupted.  Numbers, from 0, of its arguments, or ARG_NONE.
 */
struct abi_transfer {
	int nr;
	uint8_t buf, len;	/* for the buffer, and the number of bytes */
	uint8_t fd;		/* for the file written to: the call waits until
				   all is moved only if that is ... */
	uint8_t files;		/* ... one of these (enum file_kind) */
	bool waits;		/* when all is moved: a full result does not
				   tell whether it also waited; with length 0
				   it only waits */
};

/* How a system call is told how long to wait at most. */
enum timeout_kind {
	TIMEOUT_MS,		/* an int of milliseconds; negative: for ever */
	TIMEOUT_TIMESPEC,	/* the address of a timespec, or 0 */
	TIMEOUT_TIMEVAL,	/* the same of a timeval */
	TIMEOUT_URING,		/* io_uring_enter(2), IORING_ENTER_EXT_ARG */
};

/*
 * A system call with a relative timeout that may fail with EINTR when it is
 * interrupted, with its timeout as it was.
 */
struct abi_timeout {
	int nr;
	uint8_t arg;		/* number of the argument, from 0 */
	enum timeout_kind kind;
};

struct abi {
	int nr_mmap, nr_munmap, nr_mprotect, nr_mremap, nr_madvise;
	/* These as well change what can be executed; 0: not looked for. */
	int nr_pkey_mprotect, nr_remap_file_pages, nr_shmat, nr_personality;
	int nr_thread_reg;	/* sets arch->reg_thread; 0: none does */
	int nr_sigreturn, nr_sigaction, nr_sigprocmask;
	int nr_fork, nr_vfork, nr_clone, nr_clone3;
	int nr_exec, nr_execat;
	int nr_getaffinity, nr_setaffinity;
	int nr_open, nr_openat, nr_openat2;
	int nr_close, nr_connect;
	int nr_restart;		/* goes on with a call that was interrupted */
	int nr_memfd_create, nr_ftruncate;
	/* Offsets of the interrupted pc and stack pointer in a signal handler's
	   context, which the stack pointer points to at sigreturn. */
	uint16_t context_pc, context_sp;
	uint16_t context_mask;	/* of the signals that are blocked then; 0: not
				   known */
	/* Those of all registers, in the order of DWARF's numbers. */
	uint16_t context[DWARF_REGS];
	/* The register of flags, its offset there, and the flag that is set in
	   it while a task is stepped; 0: steps set none. */
	uint8_t reg_flags;
	uint16_t context_flags;
	uint32_t flag_step;
	uint8_t reg_nr;		/* call number, to make a call */
	uint8_t reg_result;
	uint8_t reg_orig;	/* has the number of the call a task is in, or
				   -1; REG_NONE: there is no such register */
	uint8_t reg_arg[6];
	/* The registers in the order of DWARF's numbers. */
	uint8_t dwarf[DWARF_REGS];
	uint8_t ndwarf;
	/* Calls that move all bytes before they return, unless interrupted. */
	const struct abi_transfer *transfers;
	uint8_t ntransfers;
	const struct abi_timeout *timeouts;
	uint8_t ntimeouts;
	/* Where the return address is, from the frame pointer on (the caller's
	   frame pointer is at 0), and where the caller's stack continues. */
	uint8_t frame_return, frame_size;
	uint32_t preserved;	/* 1 << reg: what functions preserve, but for
				   the stack pointer */
};

/* The Linux ABI of an arch, or NULL. */
const struct abi *abi_find(const struct arch *arch);

/* Whether the system call may change what code a process can execute. */
bool abi_maps(const struct abi *abi, int64_t nr);

/*
 * The numbers of the system calls that matter to the monitor (program/hook.h)
 * into numbers[]; returns how many.
 */
enum { ABI_MATTER = 15 };
size_t abi_matter(const struct abi *abi, int numbers[ABI_MATTER]);

extern const struct abi abi_x86_64, abi_m68k, abi_aarch64;

#endif
