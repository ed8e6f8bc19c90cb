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

/* The flags that instructions compute. */
enum {
	X86_INC_FLAGS = X86_PF | X86_AF | X86_ZF | X86_SF | X86_OF,
	X86_FLAGS = X86_INC_FLAGS | X86_CF,
};

/*
 * What struct motion's cond says of a branch: the low four bits of a jcc's
 * opcode, or of a loop's or jcxz's with COND_COUNT.
 */
enum x86_cond {
	COND_COUNT = 1 << 4,
	COND_SHORT = 1 << 5,	/* with the prefix for a 32-bit register */
	COND_XBEGIN = 1 << 6,
};

static inline bool
fits_int32(uint64_t v)
{
	return (int64_t)v == (int32_t)v;
}

/*
 * Decode in full; operands has room for ZYDIS_MAX_OPERAND_COUNT, or is NULL
 * if they are not wanted, which is faster.  0, or -1 if it is no instruction.
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
bool x86_locked(const uint8_t *code, size_t size);
int x86_slot_make(const uint8_t *code, size_t size, uint64_t va,
		  uint64_t slot_va, struct slot_code *slot);

/*
 * Change the 32-bit displacement at `disp` in an instruction, which was at va
 * and is for to_va now, so that it leads where it led.  0, or -1: too far.
 */
int x86_rebase(uint8_t *bytes, unsigned disp, uint64_t va, uint64_t to_va);

int x86_motion(const uint8_t *code, size_t size, uint64_t addr,
	       struct motion *motion);
unsigned x86_fragment_size(const struct fragment *fragment);
bool x86_fragment_reaches(const struct fragment *fragment, int64_t distance);
int x86_fragment_write(const struct fragment *fragment,
		       const struct fragment_at *at, uint8_t *bytes);
enum fragment_inside x86_fragment_inside(const struct fragment *fragment,
					 unsigned offset);
int x86_jump_write(uint64_t from, uint64_t to, unsigned len, uint8_t *bytes);
int x86_call_write(uint64_t from, uint64_t to, uint8_t *bytes);

/* hints.c */
size_t x86_hint(const uint8_t *code, size_t n, size_t from,
		enum hint_kind *kind);

#endif
