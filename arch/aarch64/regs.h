/*
 * aarch64 registers as indices into struct regs, in the order of the GDB
 * remote protocol.
 */
#ifndef ARCH_AARCH64_REGS_H
#define ARCH_AARCH64_REGS_H

enum a64_register {
	A64_X0,
	A64_X8 = A64_X0 + 8,
	A64_FP = A64_X0 + 29,
	A64_LR = A64_X0 + 30,
	A64_SP,
	A64_PC,
	A64_CPSR,
	A64_REGS,
};

/* Bits of A64_CPSR. */
enum { A64_V = 28, A64_C = 29, A64_Z = 30, A64_N = 31 };

#endif
