/*
 * What the files of the aarch64 arch share.  Private to arch/aarch64/: others
 * use struct arch.
 */
#ifndef ARCH_AARCH64_AARCH64_H
#define ARCH_AARCH64_AARCH64_H

#include "arch/aarch64/regs.h"
#include "arch/arch.h"

/* Read the instruction word at code; false if size is too small for one. */
bool a64_word(const uint8_t *code, size_t size, uint32_t *word);

/* A field of n bits at lo, extended by its sign. */
static inline int64_t
a64_signed(uint32_t word, unsigned lo, unsigned n)
{
	return (int64_t)((uint64_t)word << (64 - lo - n)) >> (64 - n);
}

static inline uint32_t
a64_field(uint32_t word, unsigned lo, unsigned n)
{
	return word >> lo & (UINT32_MAX >> (32 - n));
}

/* The kind of an instruction; *target is 0 if it has no target. */
enum insn_kind a64_kind(uint32_t word, uint64_t addr, uint64_t *target);

/* Is the instruction adr or adrp, and what address does it compute? */
bool a64_is_adr(uint32_t word);
uint64_t a64_adr(uint32_t word, uint64_t addr);

int a64_effect(const uint8_t *code, size_t size, uint64_t addr,
	       struct effect *effect);
int a64_emul_prepare(const uint8_t *code, size_t size, uint64_t va,
		     struct emul *emul);
enum emul_result a64_emul_run(const struct emul *emul, struct regs *regs,
			      const struct memory *memory);
int a64_slot_make(const uint8_t *code, size_t size, uint64_t va,
		  uint64_t slot_va, struct slot_code *slot);

#endif
