/*
 * VAX registers as indices into struct regs.
 */
#ifndef ARCH_VAX_REGS_H
#define ARCH_VAX_REGS_H

enum {
	VAX_R0,			/* .. r11 */
	VAX_AP = 12,
	VAX_FP,
	VAX_SP,
	VAX_PC,
	VAX_PSL,
	VAX_NREGS,
};

/* Bits of the processor status longword. */
enum {
	VAX_PSL_C = 1,
	VAX_PSL_T = 0x10,	/* trace after the instruction */
	VAX_PSL_TP = 0x40000000,	/* trace pending */
};

#endif
