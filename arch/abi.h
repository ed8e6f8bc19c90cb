/*
 * How Linux programs of a CPU call the kernel: numbers and registers of the
 * few system calls pmon makes in a target's name or watches for.
 */
#ifndef ARCH_ABI_H
#define ARCH_ABI_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"

struct abi {
	int nr_mmap, nr_munmap, nr_mprotect, nr_mremap;
	int nr_sigreturn;
	int nr_fork, nr_vfork, nr_clone, nr_clone3;
	int nr_exec, nr_execat;
	int nr_getaffinity, nr_setaffinity;
	int nr_close, nr_connect;
	uint8_t reg_nr;		/* call number, to make a call */
	uint8_t reg_result;
	uint8_t reg_orig;	/* number of the call a task is in; -1: none */
	uint8_t reg_arg[6];
};

/* The abi of an arch that has native processes, or NULL. */
const struct abi *abi_find(const struct arch *arch);

extern const struct abi abi_x86_64;

#endif
