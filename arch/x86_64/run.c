/*
 * Emulates one x86-64 instruction that prepare.c has taken apart.  Results and
 * flags are as the Intel SDM volume 2 defines them; flags that it leaves
 * undefined are cleared, as CPUs do.  Never changes a register before all
 * accesses to memory have succeeded.
 */
#include "arch/x86_64/x86.h"

enum {
	ARITHMETIC_FLAGS = X86_CF | X86_PF | X86_AF | X86_ZF | X86_SF | X86_OF,
};

static uint64_t
mask(unsigned width)
{
	return UINT64_MAX >> (64 - width * 8);
}

static uint64_t
reg_read(const struct regs *regs, uint8_t reg, bool high, unsigned width)
{
	return (high ? regs->r[reg] >> 8 : regs->r[reg]) & mask(width);
}

/* Writing 32 bits clears the upper half; 8 or 16 leave the rest alone. */
static void
reg_write(struct regs *regs, uint8_t reg, bool high, unsigned width,
	  uint64_t value)
{
	uint64_t keep = width >= 4 ? 0 : ~mask(width);

	value &= mask(width);
	if (high) {
		keep = ~UINT64_C(0xff00);
		value <<= 8;
	}
	regs->r[reg] = (regs->r[reg] & keep) | value;
}

/* The effective address (SDM volume 1, 3.7.5), plus the segment's base. */
static uint64_t
address(const struct emul *emul, const struct regs *regs, uint8_t base)
{
	uint64_t va = (uint64_t)(int64_t)emul->disp;

	if (base == X86_RIP)
		va += emul->next;
	else if (base != X86_NONE)
		va += regs->r[base];
	if (emul->index != X86_NONE)
		va += regs->r[emul->index] * emul->scale;
	if (emul->op == OP_LEA)
		return va;
	if (emul->flags & EMUL_FS)
		va += regs->r[X86_FS_BASE];
	if (emul->flags & EMUL_GS)
		va += regs->r[X86_GS_BASE];
	return va;
}

static int
mem_read(const struct memory *memory, uint64_t va, unsigned width,
	 uint64_t *value)
{
	*value = 0;
	return memory->read(memory->ctx, va, value, width);
}

static int
source(const struct emul *emul, const struct regs *regs,
       const struct memory *memory, uint64_t *value)
{
	unsigned width = emul->op == OP_MOV ? emul->cond : emul->width;

	if (emul->flags & EMUL_SRC_MEM) {
		if (mem_read(memory, address(emul, regs, emul->src), width,
			     value))
			return -1;
	} else if (emul->flags & EMUL_SRC_IMM) {
		*value = emul->imm & mask(width);
	} else {
		*value = reg_read(regs, emul->src, emul->flags & EMUL_SRC_HIGH,
				  width);
	}
	if (emul->flags & EMUL_SIGNED) {
		unsigned shift = 64 - width * 8;

		*value = (uint64_t)((int64_t)(*value << shift) >> shift);
	}
	return 0;
}

/* CF, AF and OF (SDM volume 1, 3.4.3.1) of a + b, or of a - b with sub. */
static uint64_t
carries(uint64_t a, uint64_t b, uint64_t result, unsigned width, bool sub)
{
	uint64_t overflow = (a ^ result) & (sub ? a ^ b : b ^ result);
	uint64_t flags = (a ^ b ^ result) & X86_AF;

	if (sub ? a < b : result < a)
		flags |= X86_CF;
	if (overflow >> (width * 8 - 1) & 1)
		flags |= X86_OF;
	return flags;
}

static uint64_t
arithmetic(const struct emul *emul, uint64_t a, uint64_t b, uint64_t *eflags)
{
	uint64_t flags = 0, changed = ARITHMETIC_FLAGS, result;
	unsigned width = emul->width;

	switch (emul->op) {
	case OP_AND:
	case OP_TEST:
		result = a & b;
		break;
	case OP_OR:
		result = a | b;
		break;
	case OP_XOR:
		result = a ^ b;
		break;
	case OP_ADD:
	case OP_INC:
		result = (a + b) & mask(width);
		flags = carries(a, b, result, width, false);
		break;
	default:
		result = (a - b) & mask(width);
		flags = carries(a, b, result, width, true);
		break;
	}
	if (emul->op == OP_INC || emul->op == OP_DEC)
		changed &= ~(uint64_t)X86_CF;
	if (!result)
		flags |= X86_ZF;
	if (result >> (width * 8 - 1) & 1)
		flags |= X86_SF;
	if (!__builtin_parity(result & 0xff))
		flags |= X86_PF;
	*eflags = (*eflags & ~changed) | (flags & changed);
	return result;
}

static enum emul_result
run_arithmetic(const struct emul *emul, struct regs *regs,
	       const struct memory *memory)
{
	bool high = emul->flags & EMUL_DST_HIGH;
	uint64_t a, b = 1, result;

	if (emul->op != OP_INC && emul->op != OP_DEC &&
	    source(emul, regs, memory, &b))
		return EMUL_FAULT;
	if (!(emul->flags & EMUL_DST_MEM))
		a = reg_read(regs, emul->dst, high, emul->width);
	else if (mem_read(memory, address(emul, regs, emul->dst), emul->width,
			  &a))
		return EMUL_FAULT;
	result = arithmetic(emul, a, b, &regs->r[X86_EFLAGS]);
	if (emul->op != OP_CMP && emul->op != OP_TEST)
		reg_write(regs, emul->dst, high, emul->width, result);
	regs->r[X86_RIP] = emul->next;
	return EMUL_DONE;
}

static enum emul_result
run_mov(const struct emul *emul, struct regs *regs, const struct memory *memory)
{
	uint64_t value;

	if (emul->op == OP_LEA)
		value = address(emul, regs, emul->src);
	else if (source(emul, regs, memory, &value))
		return EMUL_FAULT;
	if (!(emul->flags & EMUL_DST_MEM))
		reg_write(regs, emul->dst, emul->flags & EMUL_DST_HIGH,
			  emul->width, value);
	else if (memory->write(memory->ctx, address(emul, regs, emul->dst),
			       &value, emul->width))
		return EMUL_FAULT;
	regs->r[X86_RIP] = emul->next;
	return EMUL_DONE;
}

static enum emul_result
run_push(const struct emul *emul, struct regs *regs,
	 const struct memory *memory)
{
	uint64_t value;

	if (source(emul, regs, memory, &value) ||
	    memory->write(memory->ctx, regs->r[X86_RSP] - 8, &value, 8))
		return EMUL_FAULT;
	regs->r[X86_RSP] -= 8;
	regs->r[X86_RIP] = emul->next;
	return EMUL_DONE;
}

/*
 * pop, and leave, which moves rbp to rsp first.  If a pop to memory has rsp as
 * its base, that is rsp after the increment (Intel SDM volume 2, POP).
 */
static enum emul_result
run_pop(const struct emul *emul, struct regs *regs, const struct memory *memory)
{
	uint8_t dst = emul->op == OP_LEAVE ? X86_RBP : emul->dst;
	uint64_t sp = regs->r[emul->op == OP_LEAVE ? X86_RBP : X86_RSP];
	uint64_t value;

	if (mem_read(memory, sp, 8, &value))
		return EMUL_FAULT;
	if (emul->flags & EMUL_DST_MEM) {
		struct regs behind = *regs;

		behind.r[X86_RSP] = sp + 8;
		if (memory->write(memory->ctx, address(emul, &behind, dst),
				  &value, 8))
			return EMUL_FAULT;
	}
	regs->r[X86_RSP] = sp + 8;
	if (!(emul->flags & EMUL_DST_MEM))
		regs->r[dst] = value;
	regs->r[X86_RIP] = emul->next;
	return EMUL_DONE;
}

/* jmp, call, ret.  A non-canonical target faults before anything changes. */
static enum emul_result
run_jump(const struct emul *emul, struct regs *regs,
	 const struct memory *memory)
{
	uint64_t target, sp = regs->r[X86_RSP];

	if (emul->op == OP_RETURN) {
		if (mem_read(memory, sp, 8, &target))
			return EMUL_FAULT;
		sp += 8 + emul->imm;
	} else if (source(emul, regs, memory, &target)) {
		return EMUL_FAULT;
	}
	if (target != (uint64_t)((int64_t)(target << 16) >> 16))
		return EMUL_FAULT;
	if (emul->op == OP_CALL) {
		sp -= 8;
		if (memory->write(memory->ctx, sp, &emul->next, 8))
			return EMUL_FAULT;
	}
	regs->r[X86_RSP] = sp;
	regs->r[X86_RIP] = target;
	return EMUL_DONE;
}

/* SDM volume 2, appendix B.1.4.7: the lowest bit of tttn negates the rest. */
static bool
condition(uint8_t cond, uint64_t eflags)
{
	bool sf = eflags & X86_SF, of = eflags & X86_OF;
	bool yes;

	switch (cond >> 1) {
	case 0:
		yes = of;
		break;
	case 1:
		yes = eflags & X86_CF;
		break;
	case 2:
		yes = eflags & X86_ZF;
		break;
	case 3:
		yes = eflags & (X86_CF | X86_ZF);
		break;
	case 4:
		yes = sf;
		break;
	case 5:
		yes = eflags & X86_PF;
		break;
	case 6:
		yes = sf != of;
		break;
	default:
		yes = sf != of || eflags & X86_ZF;
		break;
	}
	return yes != (cond & 1);
}

static enum emul_result
run_branch(const struct emul *emul, struct regs *regs)
{
	uint64_t *rcx = &regs->r[X86_RCX];
	bool zf = regs->r[X86_EFLAGS] & X86_ZF;
	bool taken;

	switch (emul->op) {
	case OP_LOOP:
		taken = --*rcx != 0;
		break;
	case OP_LOOPE:
		taken = --*rcx != 0 && zf;
		break;
	case OP_LOOPNE:
		taken = --*rcx != 0 && !zf;
		break;
	case OP_JRCXZ:
		taken = *rcx == 0;
		break;
	default:
		taken = condition(emul->cond, regs->r[X86_EFLAGS]);
		break;
	}
	regs->r[X86_RIP] = taken ? emul->imm : emul->next;
	return taken ? EMUL_TAKEN : EMUL_DONE;
}

enum emul_result
x86_emul_run(const struct emul *emul, struct regs *regs,
	     const struct memory *memory)
{
	switch (emul->op) {
	case OP_NOP:
		regs->r[X86_RIP] = emul->next;
		return EMUL_DONE;
	case OP_MOV:
	case OP_LEA:
		return run_mov(emul, regs, memory);
	case OP_PUSH:
		return run_push(emul, regs, memory);
	case OP_POP:
	case OP_LEAVE:
		return run_pop(emul, regs, memory);
	case OP_JUMP:
	case OP_CALL:
	case OP_RETURN:
		return run_jump(emul, regs, memory);
	case OP_BRANCH:
	case OP_LOOP:
	case OP_LOOPE:
	case OP_LOOPNE:
	case OP_JRCXZ:
		return run_branch(emul, regs);
	default:
		return run_arithmetic(emul, regs, memory);
	}
}
