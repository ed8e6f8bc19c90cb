/*
 * Makes the code that stands for a stack switch: it saves all registers, does
 * the instructions up to the jump, compares the stacks with patterns, and
 * counts and jumps; or restores the registers and traps.  More patterns only
 * add code, and lead what failed before to that.  Never writes a process's
 * memory.
 */
#include <string.h>

#include "arch/x86_64/switch_put.h"
#include "util/fail.h"

enum {
	JUMP = 5,
	/* No pattern has more bytes. */
	PATTERN_MAX = 128 + 64 * SWITCH_WORDS,
};

/* lahf; seto %al; mov %rax, %gs:scratch[word] */
static void
flags_save(struct making *m, unsigned word)
{
	PUT(m->filter, 0x9f, 0x0f, 0x90, 0xc0);
	x86_scratch_put(m, STORE, RAX, word);
}

/* mov %gs:scratch[word], %rax; add $127, %al; sahf */
static void
flags_load(struct making *m, unsigned word)
{
	x86_scratch_put(m, LOAD, RAX, word);
	PUT(m->filter, 0x04, 0x7f, 0x9e);
}

/* Where the rel32 at `at` leads: to an offset in the filter. */
static void
rel_set(struct switch_filter *filter, uint32_t at, uint32_t to)
{
	int32_t rel = (int32_t)(to - (at + 4));

	memcpy(filter->bytes + at, &rel, sizeof(rel));
}

/* jmp rel32; returns where rel32 is. */
static uint32_t
jump_put(struct switch_filter *filter, uint32_t to)
{
	PUT(filter, 0xe9, 0, 0, 0, 0);
	rel_set(filter, filter->len - 4, to);
	return filter->len - 4;
}

/* No other code begins right behind, where a trap leaves the pc. */
static void
trap_put(struct switch_filter *filter, unsigned i)
{
	filter->traps[i] = filter->len;
	PUT(filter, 0xcc, 0xcc);
}

/* ---- the program's instructions */

/* Whether the instruction changes rsp, otherwise than by a push. */
static bool
insn_moves_stack(const ZydisDecodedInstruction *zinsn,
		 const ZydisDecodedOperand *operands)
{
	for (unsigned i = 0; i < zinsn->operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operands[i].reg.value == ZYDIS_REGISTER_RSP &&
		    operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			return true;
	return false;
}

static bool
insn_stores(const ZydisDecodedInstruction *zinsn,
	    const ZydisDecodedOperand *operands)
{
	for (unsigned i = 0; i < zinsn->operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			return true;
	return false;
}

/* mov %r64, memory, without a segment: its address can be taken by lea. */
static bool
insn_is_store(const ZydisDecodedInstruction *zinsn,
	      const ZydisDecodedOperand *operands)
{
	return zinsn->mnemonic == ZYDIS_MNEMONIC_MOV && zinsn->opcode == 0x89 &&
	       zinsn->operand_width == 64 && zinsn->raw.prefix_count == 1 &&
	       operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool
insn_is_push(const ZydisDecodedInstruction *zinsn,
	     const ZydisDecodedOperand *operands)
{
	return zinsn->mnemonic == ZYDIS_MNEMONIC_PUSH &&
	       operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operands[0].size == 64 &&
	       operands[0].reg.value != ZYDIS_REGISTER_RSP;
}

/*
 * Do an instruction of the program's that stores a register.  Where the stack
 * that is left is the same, it may overwrite what the patterns are about: keep
 * that.
 */
static void
store_put(struct making *m, const uint8_t *code, size_t len, bool push)
{
	struct switch_filter *filter = m->filter;

	x86_scratch_put(m, STORE, RAX, SWITCH_AFTER_ACC);
	if (push) {
		PUT(filter, 0x48, 0x8d, 0x44, 0x24, 0xf8); /* lea -8(%rsp) */
	} else {
		/* lea memory, %rax, by the store's own operand */
		PUT(filter, code[0] & ~4, 0x8d, code[2] & ~(7 << 3));
		x86_bytes_put(filter, code + 3, len - 3);
	}
	x86_scratch_put(m, STORE, RAX, SWITCH_STORED_AT);
	PUT(filter, 0x48, 0x8b, 0x00);		/* mov (%rax), %rax */
	x86_scratch_put(m, STORE, RAX, SWITCH_STORED_OVER);
	x86_scratch_put(m, LOAD, RAX, SWITCH_AFTER_ACC);
	x86_bytes_put(filter, code, len);
	filter->stored = filter->len;
}

/* Undo that, and keep what was stored; rax and rcx are free. */
static void
store_undo(struct making *m)
{
	x86_scratch_put(m, LOAD, RCX, SWITCH_STORED_AT);
	PUT(m->filter, 0x48, 0x8b, 0x01);	/* mov (%rcx), %rax */
	x86_scratch_put(m, STORE, RAX, SWITCH_STORED);
	x86_scratch_put(m, LOAD, RAX, SWITCH_STORED_OVER);
	PUT(m->filter, 0x48, 0x89, 0x01);	/* mov %rax, (%rcx) */
}

static void
store_again(struct making *m)
{
	x86_scratch_put(m, LOAD, RCX, SWITCH_STORED_AT);
	x86_scratch_put(m, LOAD, RAX, SWITCH_STORED);
	PUT(m->filter, 0x48, 0x89, 0x01);	/* mov %rax, (%rcx) */
}

/*
 * Do all instructions but the jump.  0, or -1 if more than one word is stored,
 * or if one is pushed and is not the one that is returned to in the end.
 */
static int
trial_put(struct making *m, bool returns)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	const struct switch_input *in = m->in;
	ZydisDecodedInstruction zinsn;
	bool pushed = false;

	for (size_t at = 0; at < in->last; at += zinsn.length) {
		const uint8_t *code = in->code + at;
		bool push;

		if (x86_decode(code, in->last - at, &zinsn, operands))
			return -1;
		push = insn_is_push(&zinsn, operands);
		if (pushed && insn_moves_stack(&zinsn, operands))
			return -1;
		if (!insn_stores(&zinsn, operands)) {
			x86_bytes_put(m->filter, code, zinsn.length);
			continue;
		}
		if (m->filter->stored || returns != push ||
		    (!push && !insn_is_store(&zinsn, operands)))
			return -1;
		store_put(m, code, zinsn.length, push);
		pushed = push;
	}
	return 0;
}

/* The register that the jump at the end jumps to; RSP: it is a return. */
static int
jump_reg(const struct switch_input *in)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zinsn;
	size_t len = in->len - in->last;

	if (x86_decode(in->code + in->last, len, &zinsn, operands) ||
	    zinsn.length != len)
		return -1;
	if (zinsn.mnemonic == ZYDIS_MNEMONIC_RET)
		return zinsn.operand_count_visible ? -1 : RSP;
	if (zinsn.mnemonic != ZYDIS_MNEMONIC_JMP ||
	    operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return -1;
	return ZydisRegisterGetId(operands[0].reg.value);
}

/* ---- patterns */

/*
 * Where a word is: at an offset from rcx, the stack pointer that is left, or
 * from rsp.
 */
static void
operand_put(struct switch_filter *filter, bool after, unsigned reg, int32_t at)
{
	if (after)
		PUT(filter, 0x84 | reg << 3, 0x24);
	else
		PUT(filter, 0x81 | reg << 3);
	x86_word_put(filter, (uint32_t)at);
}

/* movabs $value, %rax */
static void
value_put(struct switch_filter *filter, uint64_t value)
{
	PUT(filter, 0x48, 0xb8);
	x86_bytes_put(filter, &value, sizeof(value));
}

/* jne to where the next pattern will be; kept in fails[]. */
static void
fail_put(struct switch_filter *filter, uint32_t *fails, size_t *nfails)
{
	PUT(filter, 0x0f, 0x85, 0, 0, 0, 0);
	fails[(*nfails)++] = filter->len - 4;
}

/* The stack pointer that is left into rcx. */
static void
base_load(struct making *m)
{
	x86_scratch_put(m, LOAD, RCX, RSP);
	if (!m->in->depth)
		return;
	PUT(m->filter, 0x48, 0x8d, 0x89);	/* lea depth(%rcx), %rcx */
	x86_word_put(m->filter, (uint32_t)m->in->depth);
}

/* mov or cmp, of a register with a word of the entry whose number is in rax. */
static void
entry_put(struct making *m, enum scratch_way way, unsigned reg, unsigned word)
{
	PUT(m->filter, 0x65, 0x48, way, 0x04 | reg << 3, 0x45);
	x86_word_put(m->filter, m->in->scratch + 8 * (SWITCH_ENTRIES + word));
}

/* The number of the last entry into rax. */
static void
entry_load(struct making *m)
{
	x86_scratch_put(m, LOAD, RAX, SWITCH_ENTRY);
}

/* Compare what is recorded of the entry, not of the stack. */
static void
entry_check(struct making *m, const struct switch_word *word)
{
	struct switch_filter *filter = m->filter;

	entry_load(m);
	if (word->pointer) {
		/* lea value(%rcx), %rcx; cmp %rcx, rbp's */
		PUT(filter, 0x48, 0x8d, 0x89);
		x86_word_put(filter, (uint32_t)word->value);
		entry_put(m, COMPARE, RCX, ENTRY_REGS);
	} else {
		PUT(filter, 0x48, 0xb9);		/* movabs $value, %rcx */
		x86_bytes_put(filter, &word->value, sizeof(word->value));
		entry_put(m, COMPARE, RCX, ENTRY_RETURN);
	}
	/* base_load changes no flags. */
	base_load(m);
}

static void
check_put(struct making *m, const struct switch_word *word)
{
	struct switch_filter *filter = m->filter;

	if (m->in->depth && !word->after && (word->pointer || !word->at)) {
		entry_check(m, word);
		return;
	}
	if (word->relative) {
		PUT(filter, 0x48, 0x8d);		/* lea value(...), %rax */
		operand_put(filter, word->after, RAX, (int32_t)word->value);
	} else {
		value_put(filter, word->value);
	}
	if (word->pointer && word->after) {
		PUT(filter, 0x48, 0x39, 0xe8);	/* cmp %rbp, %rax */
	} else if (word->pointer) {
		x86_scratch_put(m, COMPARE, RAX, RBP);
	} else {
		PUT(filter, 0x48, 0x39);		/* cmp %rax, at(...) */
		operand_put(filter, word->after, RAX, word->at);
	}
}

/* Load where the switch goes into rcx. */
static void
target_load(struct making *m, unsigned reg)
{
	if (reg == RSP && m->filter->stored)
		x86_scratch_put(m, LOAD, RCX, SWITCH_STORED);
	else if (reg == RSP)
		PUT(m->filter, 0x48, 0x8b, 0x0c, 0x24);
	else if (reg == RAX)
		x86_scratch_put(m, LOAD, RCX, SWITCH_AFTER_ACC);
	else if (reg == RCX)
		x86_scratch_put(m, LOAD, RCX, SWITCH_AFTER_COUNT);
	else	/* mov %reg, %rcx */
		PUT(m->filter, 0x48 | (reg >> 3) << 2, 0x89,
		    0xc1 | (reg & 7) << 3);
}

/*
 * Compare, and go to `counts` with the counter's offset in rax.  Returns how
 * many places in fails[] are to lead on.
 */
static size_t
pattern_put(struct making *m, const struct switch_pattern *pattern,
	    unsigned reg, uint32_t counts, uint32_t *fails)
{
	struct switch_filter *filter = m->filter;
	size_t n = 0;

	target_load(m, reg);
	value_put(filter, pattern->target);
	PUT(filter, 0x48, 0x39, 0xc1);		/* cmp %rax, %rcx */
	fail_put(filter, fails, &n);
	base_load(m);
	if (m->in->depth) {
		entry_load(m);
		entry_put(m, COMPARE, RCX, ENTRY_SP);
		fail_put(filter, fails, &n);
	}
	value_put(filter, pattern->distance);
	PUT(filter, 0x48, 0x01, 0xc8);		/* add %rcx, %rax */
	PUT(filter, 0x48, 0x39, 0xe0);		/* cmp %rsp, %rax */
	fail_put(filter, fails, &n);
	for (size_t i = 0; i < pattern->n; i++) {
		check_put(m, &pattern->words[i]);
		fail_put(filter, fails, &n);
	}
	PUT(filter, 0xb8);			/* mov $counter, %eax */
	x86_word_put(filter, pattern->counter);
	jump_put(filter, counts);
	return n;
}

/* ---- the filter */

/* Save all registers, then do all instructions but the jump.  0 or -1. */
static int
begin_put(struct making *m, bool returns)
{
	struct switch_filter *filter = m->filter;

	for (unsigned reg = 0; reg < SWITCH_REGS; reg++)
		x86_scratch_put(m, STORE, reg, reg);
	filter->saving = filter->len;
	flags_save(m, SWITCH_FLAGS);
	filter->saved = filter->len;
	x86_scratch_put(m, LOAD, RAX, RAX);
	if (trial_put(m, returns))
		return -1;
	x86_scratch_put(m, STORE, RAX, SWITCH_AFTER_ACC);
	x86_scratch_put(m, STORE, RCX, SWITCH_AFTER_COUNT);
	flags_save(m, SWITCH_AFTER_FLAGS);
	if (filter->stored)
		store_undo(m);
	return 0;
}

/* Count in the counter at %gs:(%rax), and do the rest. */
static void
end_put(struct making *m)
{
	struct switch_filter *filter = m->filter;

	PUT(filter, 0x65, 0x48, 0xff, 0x00);	/* incq %gs:(%rax) */
	filter->counted = filter->len;
	if (filter->stored)
		store_again(m);
	flags_load(m, SWITCH_AFTER_FLAGS);
	x86_scratch_put(m, LOAD, RAX, SWITCH_AFTER_ACC);
	x86_scratch_put(m, LOAD, RCX, SWITCH_AFTER_COUNT);
	x86_bytes_put(filter, m->in->code + m->in->last,
		      m->in->len - m->in->last);
	filter->done = filter->len;
}

static void
restore_put(struct making *m)
{
	flags_load(m, SWITCH_FLAGS);
	for (unsigned reg = 0; reg < SWITCH_REGS; reg++)
		x86_scratch_put(m, LOAD, reg, reg);
	m->filter->restored = m->filter->len;
	trap_put(m->filter, 1);
}

int
x86_switch_make(const struct switch_input *in, uint64_t va,
		struct switch_filter *filter)
{
	struct making m = { in, filter };
	uint32_t fails[SWITCH_WORDS + 3], restores, counts, entry, chain;
	int reg = jump_reg(in);
	size_t nfails = 0;

	if (reg < 0 || !x86_code_moves(in->code, in->len))
		return -1;
	memset(filter, 0, sizeof(*filter));
	entry = jump_put(filter, 0);
	trap_put(filter, 0);
	filter->moved = filter->len;
	x86_bytes_put(filter, in->code, in->moved);
	filter->moved_end = filter->len;
	PUT(filter, 0xe9, 0, 0, 0, 0);
	if (x86_jump_write(va + filter->moved_end, in->va + in->moved, JUMP,
			   filter->bytes + filter->moved_end))
		return -1;
	rel_set(filter, entry,
		in->off || !in->n ? filter->traps[0] : filter->len);
	if (begin_put(&m, reg == RSP))
		return -1;
	chain = jump_put(filter, 0);
	counts = filter->len;
	end_put(&m);
	restores = filter->len;
	restore_put(&m);
	rel_set(filter, chain, in->n ? filter->len : restores);
	for (size_t i = 0; i < in->n; i++) {
		if (filter->len + PATTERN_MAX > sizeof(filter->bytes))
			return -1;
		for (size_t k = 0; k < nfails; k++)
			rel_set(filter, fails[k], filter->len);
		nfails = pattern_put(&m, &in->patterns[i], (unsigned)reg,
				     counts, fails);
	}
	for (size_t k = 0; k < nfails; k++)
		rel_set(filter, fails[k], restores);
	return 0;
}

/* ---- out of a filter */

static void
regs_load(const uint64_t *scratch, struct regs *regs)
{
	for (unsigned i = 0; i < SWITCH_REGS; i++)
		regs->r[x86_saved_regs[i]] = scratch[i];
}

/* Set the flags as lahf and seto have saved them. */
static void
flags_set(struct regs *regs, uint64_t saved)
{
	const uint64_t lahf = X86_SF | X86_ZF | X86_AF | X86_PF | X86_CF;
	uint64_t *flags = &regs->r[X86_EFLAGS];

	*flags = (*flags & ~(lahf | X86_OF)) | (saved >> 8 & lahf) |
		 (saved & 1 ? X86_OF : 0);
}

enum switch_inside
x86_switch_leave(const struct switch_filter *filter, uint32_t offset,
		 const uint64_t *scratch, struct regs *regs)
{
	if (offset >= filter->counted && offset < filter->done) {
		regs->r[X86_RAX] = scratch[SWITCH_AFTER_ACC];
		regs->r[X86_RCX] = scratch[SWITCH_AFTER_COUNT];
		flags_set(regs, scratch[SWITCH_AFTER_FLAGS]);
		return SWITCH_COUNTED;
	}
	if (offset > filter->moved && offset <= filter->moved_end)
		return SWITCH_MOVED;
	if (offset < filter->saving ||
	    (offset >= filter->restored && offset <= filter->traps[1] + 1))
		return SWITCH_BEFORE;
	regs_load(scratch, regs);
	if (offset >= filter->saved)
		flags_set(regs, scratch[SWITCH_FLAGS]);
	return SWITCH_BEFORE;
}
