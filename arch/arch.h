/*
 * What pmon needs to know of a CPU: how to decode an instruction, which bytes
 * trap, where a function's first instruction is, how to run an instruction
 * elsewhere or emulate it.  Never touches a process: the caller passes memory
 * and registers in.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include "arch/effect.h"
#include "arch/emit.h"
#include "arch/emul.h"
#include "arch/fragment.h"
#include "arch/insn.h"
#include "arch/switch_filter.h"

/* What the instruction of a hint may do. */
enum hint_kind {
	HINT_NONE,
	HINT_SWITCH,		/* move something but the frame pointer into
				   the stack pointer, or add something to it */
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
	uint8_t reg_thread;	/* points to the thread counter page ... */
	const char *thread_reg_name;	/* ... and its name in messages */
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
	 * Load the library that the following need: 0, or -1 with the message
	 * set, which begins with the library's name.  To be called before them;
	 * NULL: they need none.
	 */
	int (*load)(void);

	/* The version of the library that decodes; NULL: none does. */
	uint64_t (*decoder)(void);

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
	/*
	 * Is it certain that `effect` finds no constant address in the
	 * instruction but 0, and that it does not copy the stack pointer to the
	 * frame pointer?  A quick look.  NULL: never.
	 */
	bool (*addressless)(const uint8_t *code, size_t size);

	/*
	 * The address of the exception handler that the instructions from code
	 * on enter into OCaml's list of handlers, or 0.  NULL: not known on
	 * this CPU.
	 */
	uint64_t (*handler)(const uint8_t *code, size_t size, uint64_t addr);

	/*
	 * What the instruction at code does: a set of enum insn_class; empty if
	 * there is no instruction.  NULL: not known on this CPU.
	 */
	unsigned (*classes)(const uint8_t *code, size_t size);

	/* Disassemble one instruction into buf; 0 or -1. */
	int (*print)(const uint8_t *code, size_t size, uint64_t addr, char *buf,
		     size_t buflen);

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
	enum emul_result (*emul_run)(const struct emul *emul, struct regs *regs,
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
	 * Make a filter that runs at va.  It changes nothing but what its
	 * instructions and the system call change.  0, or -1 if that is
	 * impossible.  NULL: this CPU has no filters.
	 */
	int (*filter_make)(const struct filter_input *in, uint64_t va,
			   struct call_filter *filter);

	/*
	 * Make a filter of a stack switch that runs at va.  0, or -1 if that is
	 * impossible.  NULL: this CPU has none.
	 */
	int (*switch_make)(const struct switch_input *in, uint64_t va,
			   struct switch_filter *filter);
	/*
	 * What a pc at the offset in a filter means; sets the registers, but for
	 * the pc, to what they would be without the filter.
	 */
	enum switch_inside (*switch_leave)(const struct switch_filter *filter,
					   uint32_t offset,
					   const uint64_t *scratch,
					   struct regs *regs);

	/* The same of a function's entry. */
	int (*entry_make)(const struct entry_input *in, uint64_t va,
			  struct entry_filter *entry);
	enum switch_inside (*entry_leave)(const struct entry_filter *entry,
					  uint32_t offset,
					  const uint64_t *scratch,
					  struct regs *regs);
	/* Set the registers that a record has; *known: 1 << index of these. */
	void (*entry_regs)(const uint64_t *record, struct regs *regs,
			   uint32_t *known);

	/* All flags that instructions compute. */
	uint32_t all_flags;

	/*
	 * Describe how to move the instruction at addr into a relocated
	 * function.  0, or -1 without a message if the bytes are no
	 * instruction, or one that does not do the same there.  NULL: no
	 * function is relocated on this CPU.
	 */
	int (*motion)(const uint8_t *code, size_t size, uint64_t addr,
		      struct motion *motion);
	struct emitter emit;	/* nothing if motion is NULL */
};

/* The arch of an ELF machine, class and e_flags, or NULL. */
const struct arch *arch_find(unsigned machine, unsigned elf_class,
			     uint32_t flags);

extern const struct arch arch_x86_64;
extern const struct arch arch_m68000, arch_m68k;	/* m68k: 68020 on */
extern const struct arch arch_aarch64;
extern const struct arch arch_vax;

#endif
