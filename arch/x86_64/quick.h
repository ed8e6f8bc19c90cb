/*
 * The parts of the instructions that quick.c decodes.  For arch/x86_64/ only.
 */
#ifndef ARCH_X86_64_QUICK_H
#define ARCH_X86_64_QUICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct quick {
	uint8_t len;
	uint8_t kind;		/* enum insn_kind */
	unsigned prefixes;	/* bytes of them, REX aside */
	uint8_t prefix;		/* the one that chooses the instruction */
	uint8_t rex;		/* 0: none */
	bool escaped;		/* the opcode follows 0f */
	uint8_t opcode;
	bool has_modrm;
	uint8_t modrm;
	bool relative;		/* its address is relative to the pc */
	bool based;		/* its address has a base register */
	uint8_t disp, disp_len;	/* the displacement's offset and bytes */
	uint8_t imm_len;
	bool direct;		/* the constant is a jump's distance */
};

/*
 * Find the parts of an instruction, if it is one of those that most code is
 * made of; else false.
 */
bool x86_parts(const uint8_t *code, size_t size, struct quick *parts);

/* Bytes of an operand that may have 2, 4 or 8. */
uint8_t quick_width(const struct quick *parts);
/* A constant of 4 bytes or more, with its sign extended as Zydis does. */
uint64_t quick_constant(const uint8_t *code, const struct quick *parts);

#endif
