/*
 * What the files of the x86-64 arch share.  Private to arch/x86_64/: others
 * use struct arch.
 */
#ifndef ARCH_X86_64_X86_H
#define ARCH_X86_64_X86_H

#include <Zydis/Zydis.h>

#include "arch/arch.h"
#include "arch/x86_64/regs.h"

/* Values of struct emul's op. */
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
	OP_RETURN,		/* imm: further bytes to drop */
	OP_BRANCH,		/* if cond */
	OP_LOOP,
	OP_LOOPE,
	OP_LOOPNE,
	OP_JRCXZ,
};

/*
 * Bits of struct emul's flags.  dst and src are registers, or the base
 * registers of operands in memory; src is unused with EMUL_SRC_IMM.
 */
enum x86_emul_flag {
	EMUL_DST_MEM = 1 << 0,
	EMUL_SRC_MEM = 1 << 1,
	EMUL_SRC_IMM = 1 << 2,
	EMUL_DST_HIGH = 1 << 3,	/* ah, ch, dh, bh */
	EMUL_SRC_HIGH = 1 << 4,
	EMUL_SIGNED = 1 << 5,	/* movsx; OP_MOV's cond: the source's width */
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
 * Values of a branch's cond in struct motion: the low four bits of the opcode
 * of a jcc, or with COND_COUNT of a loop or jrcxz.
 */
enum x86_cond {
	COND_COUNT = 1 << 4,
	COND_SHORT = 1 << 5,	/* counts in ecx, by a prefix */
	COND_XBEGIN = 1 << 6,
};

static inline bool
fits_int32(uint64_t v)
{
	return (int64_t)v == (int32_t)v;
}

/* classes.c: struct arch's classes. */
unsigned x86_classes(const uint8_t *code, size_t size);

/*
 * Decode in full.  operands has room for ZYDIS_MAX_OPERAND_COUNT of them, or
 * is NULL, which is faster.  0, or -1 if the bytes are no instruction.
 */
int x86_decode(const uint8_t *code, size_t size, ZydisDecodedInstruction *zinsn,
	       ZydisDecodedOperand *operands);
enum insn_kind x86_kind(const ZydisDecodedInstruction *zinsn);

/* General registers by their numbers in instructions, and in Zydis's order. */
extern const uint8_t x86_gprs[16];
/* The general register that reg is or is part of, or X86_NONE. */
uint8_t x86_gpr(ZydisRegister reg);

/* A register (X86_NONE: no place), and the sum reg + index * scale + disp. */
struct place x86_place_reg(uint8_t reg, uint8_t width);
struct place x86_place_sum(uint8_t reg, uint8_t index, uint8_t scale,
			   int64_t disp);

int x86_effect(const uint8_t *code, size_t size, uint64_t addr,
	       struct effect *effect);
/* The same, always by decoding in full; or if that is not needed, else false. */
int x86_effect_full(const uint8_t *code, size_t size, uint64_t addr,
		    struct effect *effect);
bool x86_quick_effect(const uint8_t *code, size_t size, uint64_t addr,
		      struct effect *effect);
int x86_emul_prepare(const uint8_t *code, size_t size, uint64_t va,
		     struct emul *emul);
enum emul_result x86_emul_run(const struct emul *emul, struct regs *regs,
			      const struct memory *memory);
bool x86_step_shows(const uint8_t *code, size_t size);
bool x86_locked(const uint8_t *code, size_t size);
int x86_switch_make(const struct switch_input *in, uint64_t va,
		    struct switch_filter *filter);
int x86_entry_make(const struct entry_input *in, uint64_t va,
		   struct entry_filter *entry);
enum switch_inside x86_entry_leave(const struct entry_filter *entry,
				   uint32_t offset, const uint64_t *scratch,
				   struct regs *regs);
void x86_entry_regs(const uint64_t *record, struct regs *regs, uint32_t *known);
enum switch_inside x86_switch_leave(const struct switch_filter *filter,
				    uint32_t offset, const uint64_t *scratch,
				    struct regs *regs);
int x86_filter_make(const struct filter_input *in, uint64_t va,
		    struct call_filter *filter);
int x86_slot_make(const uint8_t *code, size_t size, uint64_t va,
		  uint64_t slot_va, struct slot_code *slot);

/*
 * Adjust the 32-bit displacement at offset `disp` of an instruction that moves
 * from va to to_va, so that its target stays.  0, or -1 if that is too far.
 */
int x86_rebase(uint8_t *bytes, unsigned disp, uint64_t va, uint64_t to_va);

int x86_motion(const uint8_t *code, size_t size, uint64_t addr,
	       struct motion *motion);
/* The same, decoding in full always. */
int x86_motion_full(const uint8_t *code, size_t size, uint64_t addr,
		    struct motion *motion);
uint32_t x86_probe_flags(enum probe_op op, int32_t operand);
unsigned x86_fragment_size(const struct fragment *fragment);
bool x86_fragment_reaches(const struct fragment *fragment, int64_t distance);
int x86_fragment_write(const struct fragment *fragment,
		       const struct fragment_at *at, uint8_t *bytes);
enum fragment_inside x86_fragment_inside(const struct fragment *fragment,
					 unsigned offset);
/* thread_page.c */
enum {
	GS_LEN = 9,		/* op %gs:disp32 with a 64-bit operand */
	GS_STORE_LEN = 8,	/* mov %r32, %gs:disp32 */
};
/* How many bytes the operand of an addition takes: 1 or 4. */
unsigned x86_imm_size(int32_t operand);
/*
 * Write the GS_LEN bytes of an operation with %gs:disp and a register or,
 * by reg, an extension of the opcode; an immediate operand follows.
 */
int x86_gs_put(uint8_t *p, uint8_t opcode, unsigned reg, uint64_t disp);
/* Write the GS_STORE_LEN bytes that store a 32-bit register at %gs:disp. */
void x86_gs_store(uint8_t *p, unsigned reg, uint64_t disp);

/* record.c: PROBE_RECORD and PROBE_RECORD_EVENTS. */
unsigned x86_record_size(enum probe_op op);
int x86_record_write(const struct fragment *fragment,
		     const struct fragment_at *at, uint8_t *bytes);
enum fragment_inside x86_record_inside(enum probe_op op, unsigned offset);
/* record_cost.c */
uint64_t x86_record_cost(const struct page_offsets *offsets);
uint8_t x86_dispatch_load(const uint8_t *code, size_t len);
unsigned x86_dispatch_size(const struct fragment *fragment);
int x86_dispatch_write(const struct fragment *fragment,
		       const struct fragment_at *at, uint8_t *bytes);
enum fragment_inside x86_dispatch_inside(const struct fragment *fragment,
					 unsigned offset);
uint8_t x86_index_touch(const uint8_t *code, size_t len);
bool x86_computes(const uint8_t *code, size_t len);
unsigned x86_index_size(const struct fragment *fragment);
int x86_index_write(const struct fragment *fragment,
		    const struct fragment_at *at, uint8_t *bytes);
enum fragment_inside x86_index_inside(const struct fragment *fragment,
				      unsigned offset);
int x86_jump_write(uint64_t from, uint64_t to, unsigned len, uint8_t *bytes);
int x86_call_write(uint64_t from, uint64_t to, uint8_t *bytes);

/* injected.c */
size_t x86_injected_write(const struct injected *injected, uint64_t va,
			  uint8_t *bytes, size_t size);
int64_t x86_injected_result(const struct regs *regs, size_t i);

/* handler.c */
uint64_t x86_handler(const uint8_t *code, size_t size, uint64_t addr);

/* quick.c */
/*
 * Decode, if it is one of the instructions that most code is made of, as
 * arch->decode does; else false.
 */
bool x86_quick(const uint8_t *code, size_t size, uint64_t addr,
	       struct insn *insn);
bool x86_addressless(const uint8_t *code, size_t size);

/* hints.c */
size_t x86_hint(const uint8_t *code, size_t n, size_t from,
		enum hint_kind *kind);

#endif
