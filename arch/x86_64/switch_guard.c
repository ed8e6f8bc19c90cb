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
	PUT(m->guard, 0x9f, 0x0f, 0x90, 0xc0);
	x86_scratch_put(m, STORE, RAX, word);
}

/* mov %gs:scratch[word], %rax; add $127, %al; sahf */
static void
flags_load(struct making *m, unsigned word)
{
	x86_scratch_put(m, LOAD, RAX, word);
	PUT(m->guard, 0x04, 0x7f, 0x9e);
}

/* Where the rel32 at `at` leads: to an offset in the guard. */
static void
rel_set(struct switch_guard *guard, uint32_t at, uint32_t to)
{
	int32_t rel = (int32_t)(to - (at + 4));

	memcpy(guard->bytes + at, &rel, sizeof(rel));
}

/* jmp rel32; returns where rel32 is. */
static uint32_t
jump_put(struct switch_guard *guard, uint32_t to)
{
	PUT(guard, 0xe9, 0, 0, 0, 0);
	rel_set(guard, guard->len - 4, to);
	return guard->len - 4;
}

/* No other code begins right behind, where a trap leaves the pc. */
static void
trap_put(struct switch_guard *guard, unsigned i)
{
	guard->traps[i] = guard->len;
	PUT(guard, 0xcc, 0xcc);
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
	struct switch_guard *guard = m->guard;

	x86_scratch_put(m, STORE, RAX, SWITCH_AFTER_ACC);
	if (push) {
		PUT(guard, 0x48, 0x8d, 0x44, 0x24, 0xf8); /* lea -8(%rsp) */
	} else {
		/* lea memory, %rax, by the store's own operand */
		PUT(guard, code[0] & ~4, 0x8d, code[2] & ~(7 << 3));
		x86_bytes_put(guard, code + 3, len - 3);
	}
	x86_scratch_put(m, STORE, RAX, SWITCH_STORED_AT);
	PUT(guard, 0x48, 0x8b, 0x00);		/* mov (%rax), %rax */
	x86_scratch_put(m, STORE, RAX, SWITCH_STORED_OVER);
	x86_scratch_put(m, LOAD, RAX, SWITCH_AFTER_ACC);
	x86_bytes_put(guard, code, len);
	guard->stored = guard->len;
}

/* Undo that, and keep what was stored; rax and rcx are free. */
static void
store_undo(struct making *m)
{
	x86_scratch_put(m, LOAD, RCX, SWITCH_STORED_AT);
	PUT(m->guard, 0x48, 0x8b, 0x01);	/* mov (%rcx), %rax */
	x86_scratch_put(m, STORE, RAX, SWITCH_STORED);
	x86_scratch_put(m, LOAD, RAX, SWITCH_STORED_OVER);
	PUT(m->guard, 0x48, 0x89, 0x01);	/* mov %rax, (%rcx) */
}

static void
store_again(struct making *m)
{
	x86_scratch_put(m, LOAD, RCX, SWITCH_STORED_AT);
	x86_scratch_put(m, LOAD, RAX, SWITCH_STORED);
	PUT(m->guard, 0x48, 0x89, 0x01);	/* mov %rax, (%rcx) */
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
			x86_bytes_put(m->guard, code, zinsn.length);
			continue;
		}
		if (m->guard->stored || returns != push ||
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
operand_put(struct switch_guard *guard, bool after, unsigned reg, int32_t at)
{
	if (after)
		PUT(guard, 0x84 | reg << 3, 0x24);
	else
		PUT(guard, 0x81 | reg << 3);
	x86_word_put(guard, (uint32_t)at);
}

/* movabs $value, %rax */
static void
value_put(struct switch_guard *guard, uint64_t value)
{
	PUT(guard, 0x48, 0xb8);
	x86_bytes_put(guard, &value, sizeof(value));
}

/* jne to where the next pattern will be; kept in fails[]. */
static void
fail_put(struct switch_guard *guard, uint32_t *fails, size_t *nfails)
{
	PUT(guard, 0x0f, 0x85, 0, 0, 0, 0);
	fails[(*nfails)++] = guard->len - 4;
}

/* The stack pointer that is left into rcx. */
static void
base_load(struct making *m)
{
	x86_scratch_put(m, LOAD, RCX, RSP);
	if (!m->in->depth)
		return;
	PUT(m->guard, 0x48, 0x8d, 0x89);	/* lea depth(%rcx), %rcx */
	x86_word_put(m->guard, (uint32_t)m->in->depth);
}

/* mov or cmp, of a register with a word of the entry whose number is in rax. */
static void
entry_put(struct making *m, enum scratch_way way, unsigned reg, unsigned word)
{
	PUT(m->guard, 0x65, 0x48, way, 0x04 | reg << 3, 0x45);
	x86_word_put(m->guard, m->in->scratch + 8 * (SWITCH_ENTRIES + word));
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
	struct switch_guard *guard = m->guard;

	entry_load(m);
	if (word->pointer) {
		/* lea value(%rcx), %rcx; cmp %rcx, rbp's */
		PUT(guard, 0x48, 0x8d, 0x89);
		x86_word_put(guard, (uint32_t)word->value);
		entry_put(m, COMPARE, RCX, ENTRY_REGS);
	} else {
		PUT(guard, 0x48, 0xb9);		/* movabs $value, %rcx */
		x86_bytes_put(guard, &word->value, sizeof(word->value));
		entry_put(m, COMPARE, RCX, ENTRY_RETURN);
	}
	/* base_load changes no flags. */
	base_load(m);
}

static void
check_put(struct making *m, const struct switch_word *word)
{
	struct switch_guard *guard = m->guard;

	if (m->in->depth && !word->after && (word->pointer || !word->at)) {
		entry_check(m, word);
		return;
	}
	if (word->relative) {
		PUT(guard, 0x48, 0x8d);		/* lea value(...), %rax */
		operand_put(guard, word->after, RAX, (int32_t)word->value);
	} else {
		value_put(guard, word->value);
	}
	if (word->pointer && word->after) {
		PUT(guard, 0x48, 0x39, 0xe8);	/* cmp %rbp, %rax */
	} else if (word->pointer) {
		x86_scratch_put(m, COMPARE, RAX, RBP);
	} else {
		PUT(guard, 0x48, 0x39);		/* cmp %rax, at(...) */
		operand_put(guard, word->after, RAX, word->at);
	}
}

/* Load where the switch goes into rcx. */
static void
target_load(struct making *m, unsigned reg)
{
	if (reg == RSP && m->guard->stored)
		x86_scratch_put(m, LOAD, RCX, SWITCH_STORED);
	else if (reg == RSP)
		PUT(m->guard, 0x48, 0x8b, 0x0c, 0x24);
	else if (reg == RAX)
		x86_scratch_put(m, LOAD, RCX, SWITCH_AFTER_ACC);
	else if (reg == RCX)
		x86_scratch_put(m, LOAD, RCX, SWITCH_AFTER_COUNT);
	else	/* mov %reg, %rcx */
		PUT(m->guard, 0x48 | (reg >> 3) << 2, 0x89,
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
	struct switch_guard *guard = m->guard;
	size_t n = 0;

	target_load(m, reg);
	value_put(guard, pattern->target);
	PUT(guard, 0x48, 0x39, 0xc1);		/* cmp %rax, %rcx */
	fail_put(guard, fails, &n);
	base_load(m);
	if (m->in->depth) {
		entry_load(m);
		entry_put(m, COMPARE, RCX, ENTRY_SP);
		fail_put(guard, fails, &n);
	}
	value_put(guard, pattern->distance);
	PUT(guard, 0x48, 0x01, 0xc8);		/* add %rcx, %rax */
	PUT(guard, 0x48, 0x39, 0xe0);		/* cmp %rsp, %rax */
	fail_put(guard, fails, &n);
	for (size_t i = 0; i < pattern->n; i++) {
		check_put(m, &pattern->words[i]);
		fail_put(guard, fails, &n);
	}
	PUT(guard, 0xb8);			/* mov $counter, %eax */
	x86_word_put(guard, pattern->counter);
	jump_put(guard, counts);
	return n;
}

/* ---- the guard */

/* Save all registers, then do all instructions but the jump.  0 or -1. */
static int
begin_put(struct making *m, bool returns)
{
	struct switch_guard *guard = m->guard;

	for (unsigned reg = 0; reg < SWITCH_REGS; reg++)
		x86_scratch_put(m, STORE, reg, reg);
	guard->saving = guard->len;
	flags_save(m, SWITCH_FLAGS);
	guard->saved = guard->len;
	x86_scratch_put(m, LOAD, RAX, RAX);
	if (trial_put(m, returns))
		return -1;
	x86_scratch_put(m, STORE, RAX, SWITCH_AFTER_ACC);
	x86_scratch_put(m, STORE, RCX, SWITCH_AFTER_COUNT);
	flags_save(m, SWITCH_AFTER_FLAGS);
	if (guard->stored)
		store_undo(m);
	return 0;
}

/* Count in the counter at %gs:(%rax), and do the rest. */
static void
end_put(struct making *m)
{
	struct switch_guard *guard = m->guard;

	PUT(guard, 0x65, 0x48, 0xff, 0x00);	/* incq %gs:(%rax) */
	guard->counted = guard->len;
	if (guard->stored)
		store_again(m);
	flags_load(m, SWITCH_AFTER_FLAGS);
	x86_scratch_put(m, LOAD, RAX, SWITCH_AFTER_ACC);
	x86_scratch_put(m, LOAD, RCX, SWITCH_AFTER_COUNT);
	x86_bytes_put(guard, m->in->code + m->in->last,
		      m->in->len - m->in->last);
	guard->done = guard->len;
}

static void
restore_put(struct making *m)
{
	flags_load(m, SWITCH_FLAGS);
	for (unsigned reg = 0; reg < SWITCH_REGS; reg++)
		x86_scratch_put(m, LOAD, reg, reg);
	m->guard->restored = m->guard->len;
	trap_put(m->guard, 1);
}

int
x86_switch_make(const struct switch_input *in, uint64_t va,
		struct switch_guard *guard)
{
	struct making m = { in, guard };
	uint32_t fails[SWITCH_WORDS + 3], restores, counts, entry, chain;
	int reg = jump_reg(in);
	size_t nfails = 0;

	if (reg < 0 || !x86_code_moves(in->code, in->len))
		return -1;
	memset(guard, 0, sizeof(*guard));
	entry = jump_put(guard, 0);
	trap_put(guard, 0);
	guard->moved = guard->len;
	x86_bytes_put(guard, in->code, in->moved);
	guard->moved_end = guard->len;
	PUT(guard, 0xe9, 0, 0, 0, 0);
	if (x86_jump_write(va + guard->moved_end, in->va + in->moved, JUMP,
			   guard->bytes + guard->moved_end))
		return -1;
	rel_set(guard, entry, in->off || !in->n ? guard->traps[0] : guard->len);
	if (begin_put(&m, reg == RSP))
		return -1;
	chain = jump_put(guard, 0);
	counts = guard->len;
	end_put(&m);
	restores = guard->len;
	restore_put(&m);
	rel_set(guard, chain, in->n ? guard->len : restores);
	for (size_t i = 0; i < in->n; i++) {
		if (guard->len + PATTERN_MAX > sizeof(guard->bytes))
			return -1;
		for (size_t k = 0; k < nfails; k++)
			rel_set(guard, fails[k], guard->len);
		nfails = pattern_put(&m, &in->patterns[i], (unsigned)reg,
				     counts, fails);
	}
	for (size_t k = 0; k < nfails; k++)
		rel_set(guard, fails[k], restores);
	return 0;
}

/* ---- out of a guard */

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
x86_switch_leave(const struct switch_guard *guard, uint32_t offset,
		 const uint64_t *scratch, struct regs *regs)
{
	if (offset >= guard->counted && offset < guard->done) {
		regs->r[X86_RAX] = scratch[SWITCH_AFTER_ACC];
		regs->r[X86_RCX] = scratch[SWITCH_AFTER_COUNT];
		flags_set(regs, scratch[SWITCH_AFTER_FLAGS]);
		return SWITCH_COUNTED;
	}
	if (offset > guard->moved && offset <= guard->moved_end)
		return SWITCH_MOVED;
	if (offset < guard->saving ||
	    (offset >= guard->restored && offset <= guard->traps[1] + 1))
		return SWITCH_BEFORE;
	regs_load(scratch, regs);
	if (offset >= guard->saved)
		flags_set(regs, scratch[SWITCH_FLAGS]);
	return SWITCH_BEFORE;
}
