/*
 * Code that runs in place of a stack switch of the program's and compares the
 * two stacks with those of earlier switches: it counts one that is the same, and
 * traps at all others.
 */
#ifndef ARCH_SWITCH_FILTER_H
#define ARCH_SWITCH_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"

/* What a word of the stack must be, or a frame pointer. */
struct switch_word {
	bool after;		/* of the stack that is switched to */
	bool pointer;		/* it is the frame pointer as the stack is left,
				   or come to; else the word at `at` */
	bool relative;		/* value is added to the stack pointer of the
				   same stack */
	int32_t at;		/* from that stack pointer */
	uint64_t value;		/* relative: an int32_t */
};

enum { SWITCH_WORDS = 40 };

/*
 * Stack switches that are the same but for where on the stacks they happen.
 * The stack pointers are those at the first instruction and at the last.
 */
struct switch_pattern {
	uint64_t target;	/* where the switch goes */
	uint64_t distance;	/* from one stack pointer to the other */
	uint32_t counter;	/* offset in the thread counter page */
	uint8_t n;
	/* In such an order that each is there if those before are right. */
	struct switch_word words[SWITCH_WORDS];
};

enum { SWITCH_PATTERNS = 48, SWITCH_FILTER_MAX = 512 * SLOT_MAX };

struct switch_input {
	const uint8_t *code;	/* from the first instruction to the jump */
	size_t len, last;	/* of all, and the offset of the jump */
	size_t moved;		/* bytes of the instructions in place of which
				   the program jumps to the filter */
	uint64_t va;		/* of the first instruction */
	uint32_t scratch;	/* offset of SWITCH_SCRATCH words in the thread
				   counter page */
	int32_t depth;		/* if not 0, the function has overwritten its
				   own frame: that is left from what is recorded
				   of its entry (struct entry_input), where the
				   stack pointer was by so much higher */
	bool off;		/* trap at all switches */
	const struct switch_pattern *patterns;
	size_t n;
};

enum {
	SWITCH_REGS = 16,
	SWITCH_FLAGS = SWITCH_REGS,	/* index of a word of scratch */
	SWITCH_AFTER_ACC,	/* three as the program is to have them */
	SWITCH_AFTER_COUNT,
	SWITCH_AFTER_FLAGS,
	SWITCH_STORED_AT,	/* va of a word that the instructions store, or
				   push ... */
	SWITCH_STORED_OVER,	/* ... what was there ... */
	SWITCH_STORED,		/* ... and is there then */
	SWITCH_ENTRY,		/* 32 times the number of the last entry */
	SWITCH_ENTRIES,		/* SWITCH_KEPT entries of SWITCH_RECORD words */
	SWITCH_KEPT = 8,
	SWITCH_SCRATCH = SWITCH_ENTRIES + 8 * 8,
};

/* What is recorded of a function's entry. */
enum {
	ENTRY_RETURN,		/* the return address */
	ENTRY_SP,
	ENTRY_REGS,		/* from here on: the registers that a call
				   preserves */
	SWITCH_RECORD = 8,
};

/* Code that records a function's entry, which a jump leads to from there. */
struct entry_input {
	const uint8_t *code;	/* of the function, and as many bytes as the
				   jump replaces in whole instructions */
	size_t moved;
	uint64_t va;		/* of the function */
	uint32_t scratch;
	bool off;		/* trap at all entries */
};

enum { ENTRY_FILTER_MAX = 8 * SLOT_MAX };

struct entry_filter {
	uint8_t bytes[ENTRY_FILTER_MAX];
	uint32_t len;
	/* Offsets: from where on two registers are saved; of the moved
	   instructions. */
	uint32_t saved, moved, moved_end;
};

/* What a pc in a filter means. */
enum switch_inside {
	SWITCH_BEFORE,		/* nothing is done */
	SWITCH_MOVED,		/* some of the moved instructions are done */
	SWITCH_COUNTED,		/* the switch is counted, and all is done but
				   the jump */
};

struct switch_filter {
	uint8_t bytes[SWITCH_FILTER_MAX];
	uint32_t len;
	/* Offsets: of its traps; of the moved instructions ... */
	uint32_t traps[2];
	uint32_t moved, moved_end;
	/* ... from where on registers, and flags, are saved, and from where on
	   restored ... */
	uint32_t saving, saved, restored;
	/* ... and from behind the counter to behind the jump. */
	uint32_t counted, done;
	/* From where on a word may be overwritten, or 0. */
	uint32_t stored;
};

#endif
