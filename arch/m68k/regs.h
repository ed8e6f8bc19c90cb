/*
 * 68000 registers as indices into struct regs, in the order of the GDB
 * remote protocol.
 */
#ifndef ARCH_M68K_REGS_H
#define ARCH_M68K_REGS_H

enum m68k_register {
	M68K_D0,
	M68K_D1,
	M68K_D7 = M68K_D0 + 7,
	M68K_A0,
	M68K_A1,
	M68K_A6 = M68K_A0 + 6,
	M68K_SP,
	M68K_PS,
	M68K_PC,
	M68K_REGS,
};

/* Condition codes, bits of M68K_PS. */
enum m68k_flag {
	M68K_C = 1 << 0,
	M68K_V = 1 << 1,
	M68K_Z = 1 << 2,
	M68K_N = 1 << 3,
	M68K_X = 1 << 4,
};

#endif
