/*
 * What the files of the x86-64 arch share.  Not for others, who go through
 * struct arch.
 */
#ifndef ARCH_X86_64_X86_H
#define ARCH_X86_64_X86_H

#include <Zydis/Zydis.h>

#include "arch/arch.h"
#include "arch/x86_64/regs.h"

/* What struct emul's op says. */
enum x86_op {
	OP_NOP,
	OP_MOV,			/* also movzx, movsx: see enum x86_emul_flag */
	OP_LEA,
	OP_ADD,
	OP_SUB,
	OP_CMP,
	OP_AND,
	OP_TEST,
	OP_OR,
	OP_XOR,
	OP_INC,
	OP_DEC,
	OP_PUSH,
	OP_POP,
	OP_LEAVE,
	OP_JUMP,
	OP_CALL,
	OP_RETURN,		/* imm: bytes to drop besides */
	OP_BRANCH,		/* if cond */
	OP_LOOP,
	OP_LOOPE,
	OP_LOOPNE,
	OP_JRCXZ,
};

/*
 * Bits of struct emul's flags.  Of a memory operand dst or src is the base
 * register.  Without a source in memory or immediate it is a register.
 */
enum x86_emul_flag {
	EMUL_DST_MEM = 1 << 0,
	EMUL_SRC_MEM = 1 << 1,
	EMUL_SRC_IMM = 1 << 2,
	EMUL_DST_HIGH = 1 << 3,	/* ah, ch, dh, bh */
	EMUL_SRC_HIGH = 1 << 4,
	EMUL_SIGNED = 1 << 5,	/* movsx; the source's width is cond */
	EMUL_FS = 1 << 6,
	EMUL_GS = 1 << 7,
};

enum { X86_NONE = 0xff };	/* no base or index register */

/*
 * Decode in full; operands has room for ZYDIS_MAX_OPERAND_COUNT.  0, or -1
 * if it is no instruction.
 */
int x86_decode(const uint8_t *code, size_t size,
	       ZydisDecodedInstruction *zinsn, ZydisDecodedOperand *operands);
enum insn_kind x86_kind(const ZydisDecodedInstruction *zinsn);

/* A general register as one of enum x86_reg, or X86_NONE. */
uint8_t x86_gpr(ZydisRegister reg);

int x86_effect(const uint8_t *code, size_t size, uint64_t addr,
	       struct effect *effect);
int x86_emul_prepare(const uint8_t *code, size_t size, uint64_t va,
		     struct emul *emul);
enum emul_result x86_emul_run(const struct emul *emul, struct regs *regs,
			      const struct memory *memory);
bool x86_step_shows(const uint8_t *code, size_t size);
int x86_slot_make(const uint8_t *code, size_t size, uint64_t va,
		  uint64_t slot_va, struct slot_code *slot);

#endif
