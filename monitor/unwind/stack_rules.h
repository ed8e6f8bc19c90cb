/*
 * Finds and applies the rules of the unwind tables: how a frame's registers
 * give the caller's.  Private to stack.c.
 *
 * libdw reads the tables, but its own walk (dwfl_thread_getframes) cannot be
 * used.  In version 0.188 the defaults for x86-64 name rax where they mean rbx,
 * so rbx is unknown behind the first function that does not save it, and with
 * it all frames that are found by rbx, like those of lazy binding.  And a walk
 * of libdw's that finds no rule follows the frame pointer without saying so.
 */
#ifndef MONITOR_UNWIND_STACK_RULES_H
#define MONITOR_UNWIND_STACK_RULES_H

#include <elfutils/libdwfl.h>

#include "arch/abi.h"
#include "util/fail.h"

enum { RULE_SAVED = 8 };

struct rule {
	uint64_t va;		/* the address that the rule was looked up
				   for */
	uint64_t lo;		/* the row's first address */
	uint64_t row;		/* look this address up in the tables */
	bool signal;		/* of a signal's trampoline */
	bool outermost;		/* there is no caller */
	/*
	 * If simple, the cfa is a register plus an offset, and some registers
	 * are saved at offsets from the cfa.  Else the row must be read again.
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

/* Reads a word of memory for a rule; returns 0 or -1. */
struct word_reader {
	int (*read)(void *ctx, uint64_t va, uint64_t *word);
	void *ctx;
};

/* An ABI, and DWARF's numbers of some of its registers. */
struct dwarf_abi {
	const struct abi *abi;
	unsigned sp, pc, fp;	/* pc: the return address */
};

/*
 * Find the rule for va; false if the module's tables have none.  sp is DWARF's
 * number of the stack pointer.  Where code is about to jump to another stack,
 * the table may describe that one (longjmp's does): then the last row before it
 * is used, since no frame has been left yet.
 */
bool rule_find(const struct abi *abi, Dwfl_Module *module, uint64_t va,
	       unsigned sp, struct rule *rule);

/*
 * Whether the rule is one for the first instruction of a function, at va: it
 * begins there, and nothing but the return address is on the stack.
 */
bool rule_enters(const struct dwarf_abi *dwarf, const struct rule *rule,
		 uint64_t va);

/*
 * Turn a frame's registers, pc and sp among them, into its caller's.  Returns
 * 0, or -1 if the rule needs a register that is not known or memory that cannot
 * be read.
 */
int rule_apply(const struct dwarf_abi *dwarf, Dwfl_Module *module,
	       const struct rule *rule, const struct word_reader *reader,
	       struct registers *regs) MUST_CHECK;

#endif
