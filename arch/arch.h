/*
 * What pmon needs to know of a CPU: how to take one instruction apart, which
 * bytes trap, where a function's first instruction is, how to run one
 * instruction elsewhere or without running it at all.  Never touches a
 * process: memory and registers are handed in.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INSN_MAX = 16, SLOT_MAX = 32 };

enum insn_kind {
	INSN_PLAIN,		/* goes on with the next instruction */
	INSN_JUMP,		/* to target, always */
	INSN_BRANCH,		/* to target or the next instruction */
	INSN_JUMP_INDIRECT,	/* to somewhere computed */
	INSN_CALL,		/* to target, comes back to the next */
	INSN_CALL_INDIRECT,
	INSN_RETURN,
	INSN_SYSCALL,		/* enters the kernel, comes back */
	INSN_TRAP,		/* the program's own breakpoint instruction */
	INSN_STOP,		/* never goes on: hlt, ud2 */
};

/* What flow/ finds out of an instruction in its function. */
enum insn_flow {
	FLOW_PLAIN,		/* nothing: it does what its kind says */
	FLOW_NO_RETURN,		/* a call that never comes back */
	FLOW_TABLE,		/* an indirect jump: to its edges' targets */
	FLOW_TABLE_LEAVES,	/* ... or out of the function */
	FLOW_LEAVES,		/* an indirect jump: out of the function */
};

/* One decoded instruction.  target is 0 unless kind has one. */
struct insn {
	uint64_t addr;
	uint64_t target;
	uint8_t len;
	uint8_t kind;		/* enum insn_kind */
	uint8_t flow;		/* enum insn_flow; decoding leaves it 0 */
};

enum { REG_NONE = 0xff };

enum place_kind { PLACE_NONE, PLACE_REG, PLACE_MEM };

/*
 * Where a value is: in a register (an index into struct regs), or in memory
 * at reg + index * scale + disp; REG_NONE is 0.
 */
struct place {
	uint8_t kind;		/* enum place_kind */
	uint8_t width;		/* bytes */
	uint8_t reg, index, scale;
	int64_t disp;
};

enum effect_op {
	EFFECT_OTHER,		/* no more is known than what it changes */
	EFFECT_COPY,		/* dst = src, extended */
	EFFECT_SUM,		/* dst = the address that src describes */
	EFFECT_MASK,		/* dst = something & imm */
	EFFECT_SHIFT,		/* dst = something >> imm, unsigned */
	EFFECT_MIX,		/* dst = its bits rotated, or xor others */
};

/* When a branch is taken, by the flags of a compare of left with right. */
enum effect_cond {
	COND_OTHER,
	COND_ABOVE,		/* left > right, unsigned */
	COND_ABOVE_EQUAL,
	COND_BELOW,
	COND_BELOW_EQUAL,
	COND_GREATER,		/* the same, signed */
	COND_GREATER_EQUAL,
	COND_LESS,
	COND_LESS_EQUAL,
	COND_EQUAL,
	COND_NOT_EQUAL,
};

/*
 * What one instruction does to registers and memory, as far as following a
 * value backwards needs it.
 */
struct effect {
	uint8_t op;		/* enum effect_op */
	uint8_t cond;		/* enum effect_cond, of a branch */
	bool sign;		/* EFFECT_COPY: extended by its sign */
	bool flags;		/* changes the flags */
	bool compares;		/* ... to those of left (before) - right */
	bool stores;		/* writes memory other than dst */
	int32_t sp;		/* what it adds to the stack pointer, which is
				   then in neither dst nor kills */
	struct place dst, src;	/* an indirect jump or call: src is where the
				   address that it goes to is */
	uint64_t imm;
	struct place left;
	int64_t right;
	uint32_t kills;		/* registers changed, 1 << index, dst's too */
	uint32_t spoils;	/* a call: others that it need not preserve */
};

/*
 * A CPU's registers, in the order of the arch's own REG enumeration.  For
 * x86-64 it is that of struct user_regs_struct.
 */
struct regs {
	uint64_t r[32];
};

/* Access to the target's memory, lent to emulation; 0 or -1. */
struct memory {
	int (*read)(void *ctx, uint64_t va, void *buf, size_t len);
	int (*write)(void *ctx, uint64_t va, const void *buf, size_t len);
	void *ctx;
};

/* One instruction made ready to be emulated; filled by emul_prepare. */
struct emul {
	uint64_t imm;
	uint64_t next;		/* va of the instruction after it */
	uint8_t op;		/* the arch's own enumerations */
	uint8_t cond;
	uint8_t dst, src, index;	/* registers */
	uint8_t scale;
	uint8_t width;		/* operand size in bytes */
	uint8_t flags;
	bool memory;		/* reads or writes memory, with calls to struct
				   memory, which may be slow or come apart */
	bool only_pc;		/* all it does is to go on at imm */
	int32_t disp;
};

enum emul_result {
	EMUL_DONE,		/* registers and memory are as after it */
	EMUL_TAKEN,		/* the same, and the branch was taken */
	EMUL_FAULT,		/* memory was not there; nothing changed */
};

/*
 * The bytes that run one instruction out of line, at slot_va, and go back
 * behind the original.  Inside the slot the pc is either `start` (not yet
 * executed) or >= `after` (executed, on its way back).
 */
struct slot_code {
	uint8_t bytes[SLOT_MAX];
	uint8_t len;
	uint8_t after;		/* offset of the way back */
};

struct arch {
	const char *name;
	uint16_t machine;	/* e_machine */
	uint8_t elf_class;	/* e_ident[EI_CLASS] */
	uint8_t trap[4];
	uint8_t trap_len;
	uint8_t trap_pc;	/* the pc after a trap, minus its site */
	uint8_t syscall[4];	/* the system call instruction */
	uint8_t syscall_len;
	uint8_t reg_pc, reg_sp;	/* indices into struct regs */
	uint8_t reg_fp;		/* where code has a frame pointer */

	/*
	 * Decode the instruction at code, of which size bytes may be read
	 * and whose address is addr.  0, or -1 if it is none.  Sets no
	 * message: that bytes are no instruction is an answer.
	 */
	int (*decode)(const uint8_t *code, size_t size, uint64_t addr,
		      struct insn *insn);

	/*
	 * What the instruction at addr does; what is not known is left
	 * open.  0, or -1 if it is no instruction.  NULL: values cannot be
	 * followed on this CPU.
	 */
	int (*effect)(const uint8_t *code, size_t size, uint64_t addr,
		      struct effect *effect);

	/* Disassembly of one instruction into buf; 0 or -1. */
	int (*print)(const uint8_t *code, size_t size, uint64_t addr,
		     char *buf, size_t buflen);

	/* Address of the first instruction of the function at addr. */
	uint64_t (*first)(uint64_t addr);

	/*
	 * Make the instruction at va ready for emulation.  0, or -1 if it is
	 * not of the kinds that can be emulated.
	 */
	int (*emul_prepare)(const uint8_t *code, size_t size, uint64_t va,
			    struct emul *emul);
	enum emul_result (*emul_run)(const struct emul *emul,
				     struct regs *regs,
				     const struct memory *memory);

	/* Would a single step over the instruction show in what it does? */
	bool (*step_shows)(const uint8_t *code, size_t size);

	/*
	 * Relocate the instruction at va to run at slot_va.  0, or -1 if it
	 * cannot (too far, or a branch, which is to be emulated).
	 */
	int (*slot_make)(const uint8_t *code, size_t size, uint64_t va,
			 uint64_t slot_va, struct slot_code *slot);
};

/* The arch of an ELF machine, or NULL. */
const struct arch *arch_find(unsigned machine, unsigned elf_class);

extern const struct arch arch_x86_64;

#endif
