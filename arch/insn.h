/*
 * Instructions, as far as control flow and its counting need to know them.
 */
#ifndef ARCH_INSN_H
#define ARCH_INSN_H

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

/* What an instruction does beside passing control on: a set. */
enum insn_class {
	INSN_LOADS = 1 << 0,	/* reads memory: pop and ret, too */
	INSN_STORES = 1 << 1,	/* writes memory: push and call, too */
	INSN_DIVIDES = 1 << 2,
	INSN_FLOATS = 1 << 3,	/* computes with floating-point numbers */
	INSN_VECTORS = 1 << 4,	/* works on several numbers at a time */
	INSN_ATOMIC = 1 << 5,	/* reads and writes memory at one time */
	INSN_STRING = 1 << 6,	/* may repeat itself; it is executed once */
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
	bool pushes;		/* a call that is a jump, as its target drops or
				   replaces the return address; kind is
				   INSN_JUMP if that is in the function;
				   decode sets false */
	bool reenters;		/* a call after which control comes from outside
				   to the return behind it, and to what follows
				   that; decode sets false */
	bool mentions;		/* perhaps its value is an address: not a load,
				   a store, nor a target */
};

#endif
