/*
 * What pmon needs to know of a CPU: how to decode an instruction, which bytes
 * trap, where a function's first instruction is, how to run an instruction
 * elsewhere or emulate it.  Never touches a process: the caller passes memory
 * and registers in.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INSN_MAX = 64, SLOT_MAX = 32, REGS_MAX = 36 };

enum insn_kind {
	INSN_PLAIN,		/* to the next instruction */
	INSN_JUMP,		/* to target, always */
	INSN_BRANCH,		/* to target or the next instruction */
	INSN_JUMP_INDIRECT,	/* to somewhere computed */
	INSN_CALL,		/* to target, returns to the next one */
	INSN_CALL_INDIRECT,
	INSN_RETURN,
	INSN_SYSCALL,		/* enters the kernel, returns to the next one */
	INSN_TRAP,		/* the program's own breakpoint instruction */
	INSN_STOP,		/* never goes on: hlt, ud2 */
};

/* What flow/ finds out about an instruction in its function. */
enum insn_flow {
	FLOW_PLAIN,		/* nothing beyond its kind */
	FLOW_NO_RETURN,		/* a call that never returns */
	FLOW_TABLE,		/* an indirect jump: to its edges' targets */
	FLOW_TABLE_LEAVES,	/* ... or out of the function */
	FLOW_LEAVES,		/* an indirect jump: out of the function */
};

/*
 * One decoded instruction.  target is 0 unless kind has one.  The next
 * instruction is at addr + len: a jump table between the two counts as a part
 * of this instruction.
 */
struct insn {
	uint64_t addr;
	uint64_t target;
	uint32_t len;
	uint8_t kind;		/* enum insn_kind */
	uint8_t flow;		/* enum insn_flow; decode sets 0 */
	bool skips;		/* jumps past the prefix (arch->locked) of the
				   instruction at target; decode sets false,
				   and target to the address jumped to */
};

enum { REG_NONE = 0xff };

enum place_kind { PLACE_NONE, PLACE_REG, PLACE_MEM };

/*
 * Where a value is: in a register (an index into struct regs), or in memory
 * at reg + index * scale + disp, where REG_NONE counts as 0.
 */
struct place {
	uint8_t kind;		/* enum place_kind */
	uint8_t width;		/* bytes */
	uint8_t reg, index, scale;
	uint8_t index_width;	/* low bytes of index that are used; 0: all */
	bool index_sign;	/* ... extended by their sign */
	int64_t disp;
};

enum effect_op {
	EFFECT_OTHER,		/* only what it changes is known */
	EFFECT_COPY,		/* dst = src, extended */
	EFFECT_SUM,		/* dst = the address that src describes */
	EFFECT_MASK,		/* dst = something & imm; or, if src is
				   a place, src extended by that */
	EFFECT_SHIFT,		/* dst = something >> imm, unsigned */
	EFFECT_MIX,		/* dst = dst rotated, or xor something */
};

/* The result of a compare of left with right at which a branch is taken. */
enum effect_cond {
	COND_OTHER,
	COND_ABOVE,		/* left > right, unsigned */
	COND_ABOVE_EQUAL,
	COND_BELOW,
	COND_BELOW_EQUAL,
	COND_GREATER,		/* from here on signed */
	COND_GREATER_EQUAL,
	COND_LESS,
	COND_LESS_EQUAL,
	COND_EQUAL,
	COND_NOT_EQUAL,
};

/*
 * What one instruction does to registers and memory, as far as following
 * values backwards through code requires.
 */
struct effect {
	uint8_t op;		/* enum effect_op */
	uint8_t cond;		/* enum effect_cond, of a branch */
	bool sign;		/* EFFECT_COPY: extended by its sign */
	bool flags;		/* changes the flags */
	bool compares;		/* ... to those of left - right, with left's
				   value before the instruction */
	bool stores;		/* writes memory other than dst */
	int32_t sp;		/* what it adds to the stack pointer, which is
				   then in neither dst nor kills */
	struct place dst, src;	/* an indirect jump or call: src holds the
				   address it goes to, or with EFFECT_SUM
				   describes that address */
	uint64_t imm;
	struct place left;
	int64_t right;
	struct place operand;	/* replaces right, or EFFECT_MASK's imm, unless
				   it is PLACE_NONE */
	uint32_t kills;		/* registers changed, with dst's: 1 << index */
	uint32_t spoils;	/* others that a call need not preserve */
};

/*
 * A CPU's registers, in the order of the arch's own enumeration.  x86-64 has
 * the order of struct user_regs_struct.
 */
struct regs {
	uint64_t r[REGS_MAX];
};

/* How emulation reads and writes the target's memory; 0 or -1. */
struct memory {
	int (*read)(void *ctx, uint64_t va, void *buf, size_t len);
	int (*write)(void *ctx, uint64_t va, const void *buf, size_t len);
	void *ctx;
};

/* An instruction that emul_prepare has made ready for emulation. */
struct emul {
	uint64_t imm;
	uint64_t next;		/* va of the next instruction */
	uint8_t op;		/* op, cond, flags: as the arch numbers them */
	uint8_t cond;
	uint8_t dst, src, index;	/* registers */
	uint8_t scale;
	uint8_t width;		/* operand size in bytes */
	uint8_t flags;
	bool memory;		/* calls struct memory, which may be slow and
				   is not atomic */
	bool only_pc;		/* does nothing but set the pc to imm */
	int32_t disp;
};

enum emul_result {
	EMUL_DONE,		/* registers and memory are changed */
	EMUL_TAKEN,		/* the same, and the branch was taken */
	EMUL_FAULT,		/* memory is not accessible; nothing changed */
};

/*
 * The bytes that run one instruction out of line, at slot_va, and jump back
 * behind the original.  A pc at offset 0 of the slot means that the
 * instruction has not run, and one at `after` or later that it has.
 */
struct slot_code {
	uint8_t bytes[SLOT_MAX];
	uint8_t len;
	uint8_t after;		/* offset of the jump back */
};

/*
 * What must be known of an instruction to move it into a relocated function.
 * Flags are bits of the arch's flags register.
 */
struct motion {
	bool idle;		/* has no effect but to go on */
	bool lands;		/* is idle, and marks a place where indirect
				   jumps may arrive */
	bool stack;		/* a call whose operand may be relative to the
				   stack pointer */
	uint8_t disp;		/* offset in its code of a 32-bit displacement
				   relative to the pc; 0: none */
	uint8_t cond;		/* of a branch, as the arch numbers them */
	uint32_t reads;		/* flags it may use */
	uint32_t writes;	/* flags it sets in any case */
	uint64_t refers;	/* an address among its operands that it does
				   not jump to, or 0 */
};

/*
 * A relocated function is a sequence of fragments.  A fragment that jumps goes
 * to another fragment or to an address of the original.
 */
enum fragment_kind {
	FRAGMENT_NOTHING,	/* stands for an instruction left out */
	FRAGMENT_INSN,		/* the instruction at addr */
	FRAGMENT_COUNT,		/* add one to the thread's counter; changes
				   arch->count_flags */
	FRAGMENT_COUNT_KEEP,	/* the same, and preserves the flags */
	FRAGMENT_COUNT_LOCKED,	/* add one to a counter shared by all threads;
				   changes arch->count_flags */
	FRAGMENT_GO,		/* jump */
	FRAGMENT_BRANCH,	/* jump if the branch at addr is taken */
	FRAGMENT_BRANCH_NOT,	/* jump if it is not */
	FRAGMENT_CALL,		/* the call at addr, with its original return
				   address */
	FRAGMENT_ALIGN,		/* padding */
};

static const uint32_t FRAGMENT_OUT = UINT32_MAX;

struct fragment {
	uint64_t addr;		/* the original pc that it stands for */
	uint64_t target;	/* the original address it jumps to */
	uint32_t to;		/* index of a fragment, or FRAGMENT_OUT: to the
				   original */
	uint32_t counter;	/* number of the counter it adds to */
	uint32_t arc;		/* that is counted: see relocate/relocate.h */
	uint32_t offset;	/* in the relocated function */
	uint8_t kind;		/* enum fragment_kind */
	uint8_t size;		/* in the relocated function */
	uint8_t len;		/* of the instruction at addr */
	uint8_t disp, cond;	/* as in struct motion */
	bool arrived;		/* control is at addr, and its arrival there is
				   counted */
	bool direct;		/* FRAGMENT_CALL: to target */
	bool wide;		/* has the long form, which reaches farther */
};

/* The addresses that a fragment is written for. */
struct fragment_at {
	uint64_t va;
	uint64_t original;	/* va of the instruction at addr */
	uint64_t to;		/* va that it jumps to */
	uint64_t counter;	/* offset in the thread counter page; va if all
				   threads share the counter */
	uint64_t scratch;	/* offset of the scratch slot in that page */
	const uint8_t *code;	/* of the instruction at addr */
};

/* What a pc within a fragment means. */
enum fragment_inside {
	INSIDE_START,		/* at its start: nothing is done yet */
	INSIDE_SAVED,		/* a register is in the scratch slot, and the
				   counter is not changed yet */
	INSIDE_ADDED,		/* the same, but the counter is changed */
	INSIDE_BETWEEN,		/* no original pc corresponds to this one, but
				   one will after an instruction or two */
	INSIDE_NOT,		/* no instruction begins there */
};

enum { FRAGMENT_MAX = 64 };

/* What the instruction of a hint may do. */
enum hint_kind {
	HINT_NONE,
	HINT_SWITCH,		/* move something but the frame pointer into
				   the stack pointer */
	HINT_SYSCALL,		/* make a system call */
	HINT_THREAD_REG,	/* set reg_thread */
	HINT_THREAD_REG_CALL,	/* ... if thread_reg_call can be called */
};

enum { HINT_CONTEXT = 128 };

/*
 * A register in the GDB remote protocol's g packet.  A table of them is in the
 * packet's order, so the bytes of those before give a register's offset.
 */
struct wire_reg {
	uint8_t bytes;
	uint8_t reg;		/* index into struct regs, or REG_NONE */
};

struct arch {
	const char *name;
	uint16_t machine;	/* e_machine */
	uint8_t elf_class;	/* e_ident[EI_CLASS]: 32 or 64 bits */
	bool big_endian;
	uint32_t flags_mask, flags;	/* e_flags that its programs have */
	uint8_t trap[4];	/* the trap instruction */
	uint8_t trap_len;
	uint8_t trap_pc;	/* the pc after a trap, minus its site */
	uint8_t trap_signal;	/* that the kernel sends for a trap */
	uint8_t syscall[4];	/* the system call instruction */
	uint8_t syscall_len;
	uint8_t reg_pc, reg_sp;	/* indices into struct regs */
	uint8_t reg_fp;		/* the usual frame pointer */
	uint8_t reg_thread;	/* points to the thread counter page */
	/*
	 * reg_thread_mark is a register that pmon sets to thread_reg_mark
	 * along with reg_thread, if the kernel can keep both.  It changes when
	 * a system call sets reg_thread, even to the value that it had.
	 */
	uint8_t reg_thread_mark;
	uint64_t thread_reg_mark;
	const char *thread_reg_call;	/* library function to set reg_thread */
	const struct wire_reg *wire;	/* of the GDB remote protocol */
	size_t nwire;

	/*
	 * Decode the instruction at code, which has address addr; size bytes
	 * may be read.  0, or -1 without a message if the bytes are no
	 * instruction.
	 */
	int (*decode)(const uint8_t *code, size_t size, uint64_t addr,
		      struct insn *insn);

	/*
	 * Append to *targets, in the table's order, all targets of an indirect
	 * jump that has its table behind it.  0, or -1 if it has none.  NULL:
	 * this CPU has no such instruction.
	 */
	int (*targets)(const uint8_t *code, size_t size, uint64_t addr,
		       uint64_t **targets, size_t *n);

	/*
	 * Describe what the instruction at addr does; what is not known is
	 * left open.  0, or -1 if it is no instruction.  NULL: values cannot
	 * be followed on this CPU.
	 */
	int (*effect)(const uint8_t *code, size_t size, uint64_t addr,
		      struct effect *effect);

	/* Disassemble one instruction into buf; 0 or -1. */
	int (*print)(const uint8_t *code, size_t size, uint64_t addr,
		     char *buf, size_t buflen);

	/*
	 * The offset of the first hint in the n bytes at code, at or behind
	 * `from`, and its kind; n if there is none.  A quick look that decodes
	 * nothing: it may find too much, but misses nothing.  It looks at up
	 * to HINT_CONTEXT bytes before and behind each place.
	 */
	size_t (*hint)(const uint8_t *code, size_t n, size_t from,
		       enum hint_kind *kind);

	/*
	 * May an instruction in these bytes load `number` into a register?
	 * A quick look that decodes nothing and may find too much.
	 */
	bool (*has_number)(const uint8_t *code, size_t size, uint32_t number);

	/* Address of the first instruction of the function at addr. */
	uint64_t (*first)(uint64_t addr);

	/*
	 * Make the instruction at va ready for emulation.  0, or -1 if it
	 * cannot be emulated.
	 */
	int (*emul_prepare)(const uint8_t *code, size_t size, uint64_t va,
			    struct emul *emul);
	/* Emulate it: change registers and memory, and set the pc. */
	enum emul_result (*emul_run)(const struct emul *emul,
				     struct regs *regs,
				     const struct memory *memory);

	/*
	 * Does the instruction begin with a prefix of one byte that does
	 * nothing but make it atomic?  NULL: this CPU has no such prefix.
	 */
	bool (*locked)(const uint8_t *code, size_t size);

	/* Can the program see from the instruction that it is stepped over? */
	bool (*step_shows)(const uint8_t *code, size_t size);

	/*
	 * Relocate the instruction at va to run at slot_va.  0, or -1 if that
	 * is impossible: slot_va is too far, or the instruction is a branch,
	 * which must be emulated.
	 */
	int (*slot_make)(const uint8_t *code, size_t size, uint64_t va,
			 uint64_t slot_va, struct slot_code *slot);

	/*
	 * Flags that FRAGMENT_COUNT and FRAGMENT_COUNT_LOCKED change, and all
	 * flags that instructions compute.
	 */
	uint32_t count_flags, all_flags;
	/* The register that FRAGMENT_COUNT_KEEP saves. */
	uint8_t reg_saved;
	/* Bytes of a long jump, and of one that reaches -128 to 127. */
	uint8_t jump_len, chain_len;

	/*
	 * Describe how to move the instruction at addr into a relocated
	 * function.  0, or -1 without a message if the bytes are no
	 * instruction, or one that does not do the same there.  NULL: no
	 * function is relocated on this CPU.
	 */
	int (*motion)(const uint8_t *code, size_t size, uint64_t addr,
		      struct motion *motion);

	/*
	 * The size in bytes of a fragment, which depends on `wide`; not for
	 * FRAGMENT_ALIGN, which has its size already.
	 */
	unsigned (*fragment_size)(const struct fragment *fragment);

	/* Does the short form reach `distance`, from start to start? */
	bool (*fragment_reaches)(const struct fragment *fragment,
				 int64_t distance);

	/* Write fragment->size bytes.  0, or -1 if something is too far. */
	int (*fragment_write)(const struct fragment *fragment,
			      const struct fragment_at *at, uint8_t *bytes);
	/* What a pc at an offset in the fragment means. */
	enum fragment_inside (*fragment_inside)(const struct fragment *fragment,
						unsigned offset);

	/*
	 * Write a jump from one va to another, of jump_len or chain_len bytes.
	 * 0, or -1 if it is too far.
	 */
	int (*jump_write)(uint64_t from, uint64_t to, unsigned len,
			  uint8_t *bytes);

	/* Write a call of call_len bytes, likewise. */
	int (*call_write)(uint64_t from, uint64_t to, uint8_t *bytes);
	uint8_t call_len;
};

/* The arch of an ELF machine, class and e_flags, or NULL. */
const struct arch *arch_find(unsigned machine, unsigned elf_class,
			     uint32_t flags);

extern const struct arch arch_x86_64;
extern const struct arch arch_m68000, arch_m68k;	/* m68k: 68020 on */
extern const struct arch arch_aarch64;
extern const struct arch arch_vax;

#endif
