/*
 * Makes up x86-64 instructions with random operands, and register values with
 * which they touch only the scratch memory and go only to the landings.
 * Encodings are from the Intel SDM, volume 2.
 */
#ifndef TESTS_LIB_INSNS_H
#define TESTS_LIB_INSNS_H

#include <stdbool.h>

#include "tests/lib/native.h"
#include "tests/lib/random.h"

enum form {
	MODRM,			/* /r: a register and a register or memory */
	DIGIT,			/* /digit: a register or memory */
	OPREG,			/* the register is in the opcode */
	FIXED,			/* no operand but immediates */
	REL,			/* a jump relative to its end */
};

enum shape_flag {
	NO_MEM = 1,		/* modrm gives a register only */
	ONLY_MEM = 2,
	STACK = 4,		/* uses rsp as the stack pointer */
	LOGIC = 8,		/* leaves AF undefined */
	GOES = 16,		/* its operand is its target */
	LOOPS = 32,		/* counts in rcx */
	FIXED_SIZE = 64,	/* no operand size but the default */
};

enum { B = 1, W = 2, D = 4, Q = 8 };	/* operand sizes */

/*
 * A kind of instruction.  With size B its opcode is one less.  imm: bytes of
 * the immediate; IMM_Z: as many as the operand has, but at most 4; IMM_V: as
 * many as the operand has.
 */
enum { IMM_Z = 16, IMM_V = 32 };

struct shape {
	const char *what;
	uint8_t map, opcode;	/* map: 0, or 0x0f */
	enum form form;
	uint8_t digit;
	uint8_t sizes;
	uint8_t imm;
	uint8_t flags;
};

struct made {
	uint8_t code[32];
	unsigned len;
	uint64_t va;
	const struct shape *shape;
	unsigned size;		/* of the operand, in bytes */
	int base, index, scale;	/* as encoded 0-15; -1: none */
	int target_reg;		/* holds its target; or -1 */
	uint64_t index_value;	/* if there is an index but no base */
	int64_t disp;
	uint8_t segment;	/* prefix, or 0 */
	bool memory;
	uint64_t ea;		/* of the operand in memory */
	uint64_t rsp;
	uint64_t target;
};

/* The register with encoding n. */
enum x86_reg encoded_reg(int n);

/* Make up one instruction of the shape, to run at va. */
void make_insn(struct made *made, const struct shape *shape, uint64_t va);

/* Set the registers and the scratch memory for an instruction. */
void make_state(const struct made *made, struct regs *regs);

#endif
