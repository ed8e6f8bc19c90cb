/*
 * x86-64 registers as indices into struct regs, in the order of Linux's
 * struct user_regs_struct.
 */
#ifndef ARCH_X86_64_REGS_H
#define ARCH_X86_64_REGS_H

enum x86_reg {
	X86_R15,
	X86_R14,
	X86_R13,
	X86_R12,
	X86_RBP,
	X86_RBX,
	X86_R11,
	X86_R10,
	X86_R9,
	X86_R8,
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RSI,
	X86_RDI,
	X86_ORIG_RAX,
	X86_RIP,
	X86_CS,
	X86_EFLAGS,
	X86_RSP,
	X86_SS,
	X86_FS_BASE,
	X86_GS_BASE,
	X86_DS,
	X86_ES,
	X86_FS,
	X86_GS,
	X86_REGS,
};

/* Bits of X86_EFLAGS. */
enum x86_flag {
	X86_CF = 1 << 0,
	X86_PF = 1 << 2,
	X86_AF = 1 << 4,
	X86_ZF = 1 << 6,
	X86_SF = 1 << 7,
	X86_TF = 1 << 8,
	X86_DF = 1 << 10,
	X86_OF = 1 << 11,
};

#endif
