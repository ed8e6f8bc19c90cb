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

enum { INSN_MAX = 64, SLOT_MAX = 32, REGS_MAX = 36 };

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

/*
 * One decoded instruction.  target is 0 unless kind has one.  Behind it, at
 * addr + len, is the next one: a jump table between the two counts as a part
 * of the instruction.
 */
struct insn {
	uint64_t addr;
	uint64_t target;
	uint32_t len;
	uint8_t kind;		/* enum insn_kind */
	uint8_t flow;		/* enum insn_flow; decoding leaves it 0 */
	bool skips;		/* it goes past the prefix (arch->locked) of
				   the instruction at target; decoding leaves
				   it false, and target behind that */
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
	uint8_t index_width;	/* low bytes of index that count; 0: all */
	bool index_sign;	/* ... extended by their sign */
	int64_t disp;
};

enum effect_op {
	EFFECT_OTHER,		/* no more is known than what it changes */
	EFFECT_COPY,		/* dst = src, extended */
	EFFECT_SUM,		/* dst = the address that src describes */
	EFFECT_MASK,		/* dst = something & imm; or, if src is
				   a place, src extended by that */
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
				   address that it goes to is; or with
				   EFFECT_SUM, src describes that itself */
	uint64_t imm;
	struct place left;
	int64_t right;
	struct place operand;	/* in place of right or of EFFECT_MASK's imm,
				   if it is not PLACE_NONE */
	uint32_t kills;		/* registers changed, 1 << index, dst's too */
	uint32_t spoils;	/* a call: others that it need not preserve */
};

/*
 * A CPU's registers, in the order of the arch's own REG enumeration.  For
 * x86-64 it is that of struct user_regs_struct.
 */
struct regs {
	uint64_t r[REGS_MAX];
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

/*
 * What an instruction is to a copy of its function.  Flags are bits as in the
 * arch's flags register.
 */
struct motion {
	bool idle;		/* does nothing but go on */
	bool lands;		/* is idle, and marks where indirect control
				   arrives */
	bool stack;		/* a call whose operand may be relative to the
				   stack pointer */
	uint8_t disp;		/* where in its code the 32-bit displacement
				   relative to the pc is; 0: none */
	uint8_t cond;		/* of a branch, as the arch numbers them */
	uint32_t reads;		/* flags it may use */
	uint32_t writes;	/* flags it makes anew in any case */
	uint64_t refers;	/* an address that it has as an operand, other
				   than to go there, or 0 */
};

/*
 * A copy of a function is a sequence of fragments.  One that goes somewhere
 * goes to another fragment, or to an address of the original.
 */
enum fragment_kind {
	FRAGMENT_NOTHING, /* in place of an instruction left out */
	FRAGMENT_INSN, /* the instruction at addr */
	FRAGMENT_COUNT, /* add one to the thread's counter; changes
				   struct arch's count_flags */
	FRAGMENT_COUNT_KEEP, /* the same, and keeps the flags */
	FRAGMENT_COUNT_LOCKED, /* add one to a counter of all threads;
				   changes the flags */
	FRAGMENT_GO,
	FRAGMENT_BRANCH, /* go if the branch at addr is taken */
	FRAGMENT_BRANCH_NOT, /* go if it is not */
	FRAGMENT_CALL, /* what the call at addr does, with the return
				   address it has there */
	FRAGMENT_ALIGN,
};

static const uint32_t FRAGMENT_OUT = UINT32_MAX;

struct fragment {
	uint64_t addr;		/* the original pc that it stands for */
	uint64_t target;	/* FRAGMENT_OUT: the original address */
	uint32_t to;		/* index of a fragment, or FRAGMENT_OUT */
	uint32_t counter;	/* number of the one counted */
	uint32_t arc;		/* that is counted: see relocate/relocate.h */
	uint32_t offset;	/* in the copy */
	uint8_t kind;		/* enum fragment_kind */
	uint8_t size;		/* in the copy */
	uint8_t len;		/* of the instruction at addr */
	uint8_t disp, cond;	/* as in struct motion */
	bool arrived;		/* control has come to addr: what counts its
				   arrival has been done */
	bool direct;		/* FRAGMENT_CALL: to target */
	bool wide;		/* goes too far for the short form */
};

/* Where a fragment is put. */
struct fragment_at {
	uint64_t va;
	uint64_t original;	/* va of the instruction at addr */
	uint64_t to;		/* va that it goes to */
	uint64_t counter;	/* its counter and the scratch slot: offsets
				   in the thread's page, or the former's va */
	uint64_t scratch;
	const uint8_t *code;	/* of the instruction at addr */
};

/* A pc within a fragment. */
enum fragment_inside {
	INSIDE_START,		/* at its start: nothing is done yet */
	INSIDE_SAVED,		/* counting, a register is in the scratch slot
				   and nothing is added yet */
	INSIDE_ADDED,		/* the same, and it is added */
	INSIDE_BETWEEN,		/* the pc stands for no original one, but will
				   after one or two instructions more */
	INSIDE_NOT,		/* no instruction begins there */
};

enum { FRAGMENT_MAX = 64 };

/* What an instruction in code may do that few do. */
enum hint_kind {
	HINT_NONE,
	HINT_SWITCH, /* move something into the stack pointer, other than
			   the frame pointer */
	HINT_SYSCALL,
	HINT_THREAD_REG, /* set reg_thread */
	HINT_THREAD_REG_CALL,	/* the same, where thread_reg_call can be
				   called */
};

enum { HINT_CONTEXT = 128 };

/*
 * A register of the GDB remote protocol, in the order of its g packet; the
 * bytes of all before it say where it is.
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
	uint8_t trap[4];
	uint8_t trap_len;
	uint8_t trap_pc;	/* the pc after a trap, minus its site */
	uint8_t trap_signal;	/* what the kernel makes of a trap */
	uint8_t syscall[4];	/* the system call instruction */
	uint8_t syscall_len;
	uint8_t reg_pc, reg_sp;	/* indices into struct regs */
	uint8_t reg_fp;		/* where code has a frame pointer */
	uint8_t reg_thread;	/* where copies find a thread's counters */
	/*
	 * A register that has this value where copies find counters, if the
	 * kernel can keep that, and has another after a system call has set
	 * reg_thread, even to what it was.
	 */
	uint8_t reg_thread_mark;
	uint64_t thread_reg_mark;
	const char *thread_reg_call;	/* the library function that sets it */
	const struct wire_reg *wire;	/* of the GDB remote protocol */
	size_t nwire;

	/*
	 * Decode the instruction at code, of which size bytes may be read
	 * and whose address is addr.  0, or -1 if it is none.  Sets no
	 * message: that bytes are no instruction is an answer.
	 */
	int (*decode)(const uint8_t *code, size_t size, uint64_t addr,
		      struct insn *insn);

	/*
	 * Where an indirect jump goes that has its table behind it: every
	 * target, in the table's order, is appended to *targets.  0, or -1 if
	 * it has none.  NULL: no instruction of this CPU has.
	 */
	int (*targets)(const uint8_t *code, size_t size, uint64_t addr,
		       uint64_t **targets, size_t *n);

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

	/*
	 * The first place in code at or behind `from` where there may be
	 * something of interest, and what; n if there is none.  A quick look
	 * that decodes nothing: what it does not find is not there.  It looks
	 * at up to HINT_CONTEXT bytes before and behind each place.
	 */
	size_t (*hint)(const uint8_t *code, size_t n, size_t from,
		       enum hint_kind *kind);

	/*
	 * May any instruction in these bytes load a constant into a register?
	 * The same kind of look.
	 */
	bool (*has_number)(const uint8_t *code, size_t size, uint32_t number);

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

	/*
	 * Does the instruction begin with a prefix of one byte that makes it
	 * atomic, and nothing else?  NULL: there are none.
	 */
	bool (*locked)(const uint8_t *code, size_t size);

	/* Would a single step over the instruction show in what it does? */
	bool (*step_shows)(const uint8_t *code, size_t size);

	/*
	 * Relocate the instruction at va to run at slot_va.  0, or -1 if it
	 * cannot (too far, or a branch, which is to be emulated).
	 */
	int (*slot_make)(const uint8_t *code, size_t size, uint64_t va,
			 uint64_t slot_va, struct slot_code *slot);

	/*
	 * Flags in which FRAGMENT_COUNT and FRAGMENT_COUNT_LOCKED leave a mess.
	 */
	uint32_t count_flags, all_flags;
	/* A register, by index, that FRAGMENT_COUNT_KEEP saves. */
	uint8_t reg_saved;
	/* Bytes of a jump that goes anywhere, and of one to -128 .. 127. */
	uint8_t jump_len, chain_len;

	/*
	 * What the instruction at addr is to a copy.  0; -1 if there is none
	 * or it does not do the same in a copy.  Sets no message.  NULL: no
	 * copies are made on this CPU.
	 */
	int (*motion)(const uint8_t *code, size_t size, uint64_t addr,
		      struct motion *motion);

	/* Bytes of a fragment other than FRAGMENT_ALIGN, by `wide`. */
	unsigned (*fragment_size)(const struct fragment *fragment);

	/* Can it, not wide, go so far, from its start to the other's? */
	bool (*fragment_reaches)(const struct fragment *fragment,
				 int64_t distance);

	/* Write fragment->size bytes.  0, or -1 if something is too far. */
	int (*fragment_write)(const struct fragment *fragment,
			      const struct fragment_at *at, uint8_t *bytes);
	enum fragment_inside (*fragment_inside)(const struct fragment *fragment,
						unsigned offset);

	/*
	 * The jump from one va to another, of jump_len or chain_len bytes.  0,
	 * or -1 if it is too far.
	 */
	int (*jump_write)(uint64_t from, uint64_t to, unsigned len,
			  uint8_t *bytes);

	/* The same of a call, of call_len bytes. */
	int (*call_write)(uint64_t from, uint64_t to, uint8_t *bytes);
	uint8_t call_len;
};

/* The arch of an ELF machine with these e_flags, or NULL. */
const struct arch *arch_find(unsigned machine, unsigned elf_class,
			     uint32_t flags);

extern const struct arch arch_x86_64;
extern const struct arch arch_m68000, arch_m68k;	/* m68k: 68020 on */
extern const struct arch arch_aarch64;
extern const struct arch arch_vax;

#endif
