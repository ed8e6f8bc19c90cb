/*
 * The rules of the unwinder's tables: how the caller's registers are found
 * from a frame's.  Private to stack.c.
 *
 * libdw reads the tables.  Its own walk (dwfl_thread_getframes) cannot be
 * used: of version 0.188 the defaults for x86-64 name rax where they mean
 * rbx, so that rbx is lost in the first function that does not save it, and
 * with it all frames that are found by it, as lazy binding's; and when it
 * loses its way it follows the frame pointer and does not tell.
 */
#ifndef MONITOR_UNWIND_STACK_RULES_H
#define MONITOR_UNWIND_STACK_RULES_H

#include <elfutils/libdwfl.h>

#include "arch/abi.h"

enum { RULE_SAVED = 8 };

struct rule {
	uint64_t va;		/* for which it was looked up */
	uint64_t lo;		/* the same rule holds from here on */
	uint64_t row;		/* the tables are asked about this address */
	bool signal;		/* of a signal's trampoline */
	bool outermost;		/* there is no caller */
	/*
	 * If simple: cfa is a register plus an offset, and some registers are
	 * saved at offsets from the cfa.  Else see the tables.
	 */
	bool simple;
	uint8_t cfa_reg;	/* registers by DWARF's numbers */
	uint8_t nsaved;
	uint8_t saved_reg[RULE_SAVED];
	int32_t saved_at[RULE_SAVED];
	int64_t cfa_offset;
};

/* A frame's registers, by DWARF's numbers. */
struct registers {
	uint64_t value[DWARF_REGS];
	uint32_t known;		/* 1 << number */
};

/* How a rule reads memory: a word, 0 or -1. */
struct word_reader {
	int (*read)(void *ctx, uint64_t va, uint64_t *word);
	void *ctx;
};

/*
 * The rule for va; false if the module's tables have none.  sp is DWARF's
 * number of the stack pointer.  Where code is about to jump to another stack
 * the table may tell of that one (longjmp's does): then it is the rule from
 * before, as nothing has been left yet.
 */
bool rule_find(const struct abi *abi, Dwfl_Module *module, uint64_t va,
	       unsigned sp, struct rule *rule);

/*
 * From a frame's registers, pc and sp among them, to its caller's; sp and ra
 * are DWARF's numbers of the stack pointer and the return address.  0, or -1
 * if the rule needs a register that is not known or memory that is not there.
 */
int rule_apply(const struct abi *abi, Dwfl_Module *module,
	       const struct rule *rule, unsigned sp, unsigned ra,
	       const struct word_reader *reader, struct registers *regs);

#endif
