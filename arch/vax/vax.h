/*
 * What the files of arch/vax share: an instruction taken apart.  Private to
 * arch/vax/.  "The handbook" is the VAX Architecture Handbook, Digital
 * Equipment Corporation, 1981.
 */
#ifndef ARCH_VAX_VAX_H
#define ARCH_VAX_VAX_H

#include "arch/arch.h"

enum {
	VAX_OPERANDS_MAX = 6,
	VAX_BRANCHES_MAX = 1 << 16,	/* entries of a CASE's table */
};

/* One instruction of the tables in opcodes.c. */
struct vax_op {
	const char *name;	/* NULL: reserved */
	/*
	 * Two letters per operand, as the handbook writes them: the access
	 * (read, write, modify, address, v bit field, branch) and the type
	 * (byte, word, longword, quadword, octaword, f, d, g, h floating).
	 */
	const char *operands;
	uint8_t kind;		/* enum insn_kind; jmp and calls are indirect
				   unless their operand is a fixed address */
};

enum vax_mode {
	VAX_LITERAL,		/* value: the six bits */
	VAX_REGISTER,
	VAX_DEFERRED,		/* (Rn) */
	VAX_DECREMENT,		/* -(Rn) */
	VAX_INCREMENT,		/* (Rn)+ */
	VAX_INCREMENT_DEFERRED,	/* @(Rn)+ */
	VAX_DISPLACEMENT,	/* value(Rn), value is sign-extended */
	VAX_DISPLACEMENT_DEFERRED,
	VAX_IMMEDIATE,		/* value: its low 64 bits */
	VAX_ABSOLUTE,		/* @#value */
	VAX_RELATIVE,		/* value: the address */
	VAX_RELATIVE_DEFERRED,
	VAX_BRANCH,		/* value: the address */
};

/* An operand: the handbook, "Instruction formats and addressing modes". */
struct vax_operand {
	char access, type;	/* the letters of struct vax_op */
	uint8_t mode;		/* enum vax_mode */
	uint8_t reg;
	uint8_t index;		/* register, or REG_NONE */
	uint8_t size;		/* bytes of its type */
	uint8_t at;		/* offset of value's bytes in the code */
	uint64_t value;
};

struct vax_insn {
	const struct vax_op *op;
	struct vax_operand operands[VAX_OPERANDS_MAX];
	unsigned n;
	uint8_t len;		/* without a CASE's table */
};

/* The opcode at code, and its length; NULL if it is reserved or cut off. */
const struct vax_op *vax_op_find(const uint8_t *code, size_t size,
				 uint8_t *len);

/*
 * Take the instruction at addr apart.  0, or -1 if it is none, or if it has an
 * operand that the processor always refuses (reserved addressing mode fault).
 */
int vax_insn_read(const uint8_t *code, size_t size, uint64_t addr,
		  struct vax_insn *insn);

/*
 * The number of entries in the table behind a CASE: limit + 1 words (the
 * handbook, "CASE").  0 if the limit is not constant or it is no CASE.
 */
uint32_t vax_case_entries(const struct vax_insn *insn);

int vax_print(const uint8_t *code, size_t size, uint64_t addr, char *buf,
	      size_t buflen);
int vax_effect(const uint8_t *code, size_t size, uint64_t addr,
	       struct effect *effect);
/* Does it read or change the T bit, by which programs are stepped? */
bool vax_step_shows(const uint8_t *code, size_t size);

#endif
