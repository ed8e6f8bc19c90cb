/*
 * Registers and memory of a task, and instructions that are emulated or run out
 * of line.
 */
#ifndef ARCH_EMUL_H
#define ARCH_EMUL_H

#include "arch/insn.h"

/*
 * A CPU's registers, in the order of the arch's own enumeration.  x86-64 has
 * the order of struct user_regs_struct.
 */
struct regs {
	uint64_t r[REGS_MAX];
};

/* How emulation reads and writes the target's memory; 0 or -1. */
struct memory {
	int (*read)(void *ctx, uint64_t va, void *buf, size_t len);
	int (*write)(void *ctx, uint64_t va, const void *buf, size_t len);
	void *ctx;
};

/* An instruction that emul_prepare has made ready for emulation. */
struct emul {
	uint64_t imm;
	uint64_t next;		/* va of the next instruction */
	uint8_t op;		/* op, cond, flags: as the arch numbers them */
	uint8_t cond;
	uint8_t dst, src, index;	/* registers */
	uint8_t scale;
	uint8_t width;		/* operand size in bytes */
	uint8_t flags;
	bool memory;		/* calls struct memory, which may be slow and
				   is not atomic */
	bool only_pc;		/* does nothing but set the pc to imm */
	int32_t disp;
};

enum emul_result {
	EMUL_DONE,		/* registers and memory are changed */
	EMUL_TAKEN,		/* the same, and the branch was taken */
	EMUL_FAULT,		/* memory is not accessible; nothing changed */
};

/*
 * The bytes that run one instruction out of line, at slot_va, and jump back
 * behind the original.  A pc at offset 0 of the slot means that the
 * instruction has not run, and one at `after` or later that it has.
 */
struct slot_code {
	uint8_t bytes[SLOT_MAX];
	uint8_t len;
	uint8_t after;		/* offset of the jump back */
};

/*
 * The bytes that run what comes before a system call out of line, look at the
 * call's number or an argument, and jump to the call; but for some values they
 * trap at offset `trap`.  The trap is no part of the program: its place is the
 * call.
 */
enum { FILTER_MAX = 5 * SLOT_MAX };

struct call_filter {
	uint8_t bytes[FILTER_MAX];
	uint8_t len;
	uint8_t trap;
};

/* What a filter is made of. */
struct filter_input {
	const uint8_t *code;	/* the instructions before the call ... */
	size_t len;
	uint64_t call;		/* va of the system call behind them */
	uint8_t reg;		/* whose low 32 bits are looked at */
	const int *numbers;	/* the values that trap */
	size_t n;
};

#endif
