/*
 * How Linux programs of a CPU call the kernel and each other: numbers and
 * registers of the few system calls pmon makes in a target's name or watches
 * for, and the registers by which stacks are unwound.
 */
#ifndef ARCH_ABI_H
#define ARCH_ABI_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"

enum { DWARF_REGS = 32 };

enum { ARG_NONE = 0xff };

/*
 * A system call that moves bytes and returns how many: which of its arguments,
 * from 0 on, are the buffer (or ARG_NONE), the number of bytes, and the place
 * in the file (or ARG_NONE).
 */
struct abi_transfer {
	int nr;
	uint8_t buf, len, pos;
};

struct abi {
	int nr_mmap, nr_munmap, nr_mprotect, nr_mremap;
	int nr_sigreturn, nr_sigaction;
	int nr_fork, nr_vfork, nr_clone, nr_clone3;
	int nr_exec, nr_execat;
	int nr_getaffinity, nr_setaffinity;
	int nr_close, nr_connect;
	int nr_memfd_create, nr_ftruncate;
	/* Where a handler's return finds the pc and the stack pointer, from
	   its own stack pointer on. */
	uint16_t context_pc, context_sp;
	uint8_t reg_nr;		/* call number, to make a call */
	uint8_t reg_result;
	uint8_t reg_orig;	/* number of the call a task is in; -1: none;
				   REG_NONE: no register tells */
	uint8_t reg_arg[6];
	/* Of DWARF's register numbers, from 0 on, which each is. */
	uint8_t dwarf[DWARF_REGS];
	uint8_t ndwarf;
	/* Those that wait until all is moved, unless they are interrupted. */
	const struct abi_transfer *transfers;
	uint8_t ntransfers;
	uint32_t preserved;	/* 1 << reg: by functions, but for the stack
				   pointer */
};

/* The Linux abi of an arch, or NULL. */
const struct abi *abi_find(const struct arch *arch);

extern const struct abi abi_x86_64, abi_m68k, abi_aarch64;

#endif
