/*
 * Runs single instructions on the CPU itself, from given registers and memory,
 * and returns the registers after them.  The pages are at fixed low addresses,
 * as the switch of all registers has none to spare for a pointer.
 */
#ifndef TESTS_LIB_NATIVE_H
#define TESTS_LIB_NATIVE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <asm/prctl.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/x86_64/regs.h"

enum {
	NATIVE_BASE = 0x10000000,	/* struct native */
	NATIVE_CODE = 0x10010000,	/* where instructions run */
	NATIVE_CODE_SIZE = 0x2000,
	NATIVE_SCRATCH = 0x10020000,	/* memory they may use */
	NATIVE_SCRATCH_SIZE = 256,
	NATIVE_LANDING = 7,		/* size of what native_landing writes */
};

struct native {
	uint64_t in[32], out[32];	/* as struct regs; out's rip: 0 fell
					   through, 1 jumped */
	uint64_t host_rsp;
	uint64_t code;
	uint64_t exits[2];
};

void native_switch(void);
void native_exit_next(void);
void native_exit_taken(void);

extern struct native *const native;

extern uint8_t *const native_scratch;

void native_map(uint64_t va, size_t size, int prot);
void native_open(void);

/* Get the segment bases of this process. */
void native_segments(struct regs *regs);

/* Write a landing at va; control leaves there as fallen through or taken. */
void native_landing(uint64_t va, int taken);

/* Run from va with these registers up to a landing. */
void native_run(uint64_t va, const struct regs *in, struct regs *out);

#endif
