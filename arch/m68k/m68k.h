/*
 * What the files of the 68000 archs share.  Private to arch/m68k/: others use
 * struct arch.
 */
#ifndef ARCH_M68K_M68K_H
#define ARCH_M68K_M68K_H

#include "arch/arch.h"
#include "arch/m68k/regs.h"

/* Effective address modes; from EA_ABS_WORD on the register field tells. */
enum ea_mode {
	EA_DATA,
	EA_ADDR,
	EA_INDIRECT,
	EA_POST,		/* (An)+ */
	EA_PRE,			/* -(An) */
	EA_DISP,
	EA_INDEX,
	EA_ABS_WORD,
	EA_ABS_LONG,
	EA_PC_DISP,
	EA_PC_INDEX,
	EA_IMM,
	EA_NONE,		/* an invalid mode */
};

/* The bytes of one instruction, and its CPU. */
struct m68k_code {
	const uint8_t *p;
	size_t size;
	uint64_t addr;
	bool full;		/* 68020: full extension words, bsr.l */
};

/* The word at offset, 0 if it is not within the bytes. */
uint16_t m68k_word(const struct m68k_code *code, size_t offset);
/* The number of size bytes at offset, sign-extended. */
int64_t m68k_signed(const struct m68k_code *code, size_t offset, size_t size);

/* The effective address mode in the low six bits of an operation word. */
static inline enum ea_mode
m68k_mode(uint16_t op)
{
	unsigned mode = op >> 3 & 7, reg = op & 7;

	if (mode < 7)
		return mode;
	return reg <= 4 ? EA_ABS_WORD + reg : EA_NONE;
}

/*
 * How many bytes of extension words at offset belong to an effective address;
 * size is that of an immediate operand.
 */
size_t m68k_ea_size(const struct m68k_code *code, enum ea_mode mode,
		    size_t offset, size_t size);

/*
 * The place of that width that an effective address describes.  PLACE_NONE if
 * it is an immediate operand or goes through memory.
 */
struct place m68k_ea_place(const struct m68k_code *code, uint16_t op,
			   size_t offset, uint8_t width);

/*
 * The instruction's length, told by its words alone, or 0 if it cannot be one.
 * May be more than code->size.
 */
size_t m68k_size(const struct m68k_code *code);

/* The kind of an instruction; *target is 0 if it has no known target. */
enum insn_kind m68k_kind(const struct m68k_code *code, uint64_t *target);

struct m68k_code m68k_code_of(const uint8_t *code, size_t size, uint64_t addr,
			      bool full);

int m68000_effect(const uint8_t *code, size_t size, uint64_t addr,
		  struct effect *effect);
int m68k_effect(const uint8_t *code, size_t size, uint64_t addr,
		struct effect *effect);
int m68k_emul_prepare(const uint8_t *code, size_t size, uint64_t va,
		      struct emul *emul);
enum emul_result m68k_emul_run(const struct emul *emul, struct regs *regs,
			       const struct memory *memory);
int m68000_slot_make(const uint8_t *code, size_t size, uint64_t va,
		     uint64_t slot_va, struct slot_code *slot);
int m68k_slot_make(const uint8_t *code, size_t size, uint64_t va,
		   uint64_t slot_va, struct slot_code *slot);

#endif
