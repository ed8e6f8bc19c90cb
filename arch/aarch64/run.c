/*
 * Runs aarch64 instructions away from their place.  Emulates branches, calls,
 * returns, adr and adrp; makes slots for others that do not read the pc.
 * Refuses the rest.
 */
#include "arch/aarch64/aarch64.h"

/* Values of struct emul's op. */
enum a64_op {
	OP_GO,			/* to imm */
	OP_CALL,
	OP_BRANCH,		/* if cond */
	OP_ZERO,		/* if src is zero (scale 0) or not (scale 1) */
	OP_BIT,			/* if bit `index` of src equals scale */
	OP_GO_AT,		/* to src */
	OP_CALL_AT,
	OP_SET,			/* dst = imm */
};

enum { ZR = 31 };

static int
prepare_branch(uint32_t word, struct emul *emul)
{
	emul->src = a64_field(word, 0, 5);
	emul->width = word >> 31 ? 8 : 4;
	emul->scale = a64_field(word, 24, 1);
	if ((word & 0xff000000) == 0x54000000) {
		emul->op = OP_BRANCH;
		emul->cond = a64_field(word, 0, 4);
	} else if ((word & 0x7e000000) == 0x34000000) {
		emul->op = OP_ZERO;
	} else {
		emul->op = OP_BIT;
		emul->index = (uint8_t)(word >> 31 << 5 |
					a64_field(word, 19, 5));
	}
	return 0;
}

/* br, blr and ret, but not those that authenticate. */
static int
prepare_register(uint32_t word, struct emul *emul, bool call)
{
	if (a64_field(word, 10, 11) != 0x7c0 || a64_field(word, 0, 5))
		return -1;
	emul->op = call ? OP_CALL_AT : OP_GO_AT;
	emul->src = a64_field(word, 5, 5);
	return 0;
}

int
a64_emul_prepare(const uint8_t *code, size_t size, uint64_t va,
		 struct emul *emul)
{
	uint32_t word;

	if (!a64_word(code, size, &word))
		return -1;
	*emul = (struct emul){ .next = va + 4 };
	switch (a64_kind(word, va, &emul->imm)) {
	case INSN_JUMP:
		emul->op = OP_GO;
		emul->only_pc = true;
		return 0;
	case INSN_CALL:
		emul->op = OP_CALL;
		return 0;
	case INSN_BRANCH:
		return prepare_branch(word, emul);
	case INSN_JUMP_INDIRECT:
	case INSN_RETURN:
		/* This leaves br and ret; eret and drps are refused. */
		if (a64_field(word, 21, 4) > 2)
			return -1;
		return prepare_register(word, emul, false);
	case INSN_CALL_INDIRECT:
		return prepare_register(word, emul, true);
	case INSN_PLAIN:
		break;
	default:
		return -1;
	}
	if (word == 0xd503201f) {		/* nop */
		emul->op = OP_GO;
		emul->only_pc = true;
		emul->imm = emul->next;
		return 0;
	}
	if (!a64_is_adr(word))
		return -1;
	emul->op = OP_SET;
	emul->dst = a64_field(word, 0, 5);
	emul->imm = a64_adr(word, va);
	return 0;
}

/* C1.2.4: an odd condition negates the even one before it. */
static bool
condition(unsigned cond, uint64_t cpsr)
{
	bool n = cpsr >> A64_N & 1, z = cpsr >> A64_Z & 1;
	bool c = cpsr >> A64_C & 1, v = cpsr >> A64_V & 1, holds = true;

	switch (cond >> 1) {
	case 0:
		holds = z;
		break;
	case 1:
		holds = c;
		break;
	case 2:
		holds = n;
		break;
	case 3:
		holds = v;
		break;
	case 4:
		holds = c && !z;
		break;
	case 5:
		holds = n == v;
		break;
	case 6:
		holds = n == v && !z;
		break;
	case 7:
		return true;
	}
	return holds != (cond & 1);
}

static uint64_t
value(const struct regs *regs, unsigned reg)
{
	return reg == ZR ? 0 : regs->r[A64_X0 + reg];
}

static enum emul_result
go(struct regs *regs, uint64_t target, uint64_t link)
{
	if (link)
		regs->r[A64_LR] = link;
	regs->r[A64_PC] = target;
	return EMUL_DONE;
}

enum emul_result
a64_emul_run(const struct emul *emul, struct regs *regs,
	     const struct memory *memory)
{
	uint64_t src = value(regs, emul->src);
	bool taken;

	switch ((enum a64_op)emul->op) {
	case OP_GO:
		return go(regs, emul->imm, 0);
	case OP_CALL:
		return go(regs, emul->imm, emul->next);
	case OP_GO_AT:
		return go(regs, src, 0);
	case OP_CALL_AT:
		return go(regs, src, emul->next);
	case OP_SET:
		if (emul->dst != ZR)
			regs->r[A64_X0 + emul->dst] = emul->imm;
		return go(regs, emul->next, 0);
	case OP_BRANCH:
		taken = condition(emul->cond, regs->r[A64_CPSR]);
		break;
	case OP_ZERO:
		if (emul->width == 4)
			src = (uint32_t)src;
		taken = (src == 0) != emul->scale;
		break;
	case OP_BIT:
		taken = (src >> emul->index & 1) == emul->scale;
		break;
	default:
		return EMUL_FAULT;
	}
	go(regs, taken ? emul->imm : emul->next, 0);
	return taken ? EMUL_TAKEN : EMUL_DONE;
}

/* Does it load from an address relative to the pc? */
static bool
is_literal(uint32_t word)
{
	return (word & 0x3b000000) == 0x18000000;
}

int
a64_slot_make(const uint8_t *code, size_t size, uint64_t va, uint64_t slot_va,
	      struct slot_code *slot)
{
	enum { REACH = 1 << 27 };	/* of b, in bytes */
	int64_t back = (int64_t)(va + 4 - (slot_va + 4));
	enum insn_kind kind;
	uint32_t word, jump;
	uint64_t target;

	if (!a64_word(code, size, &word) || back >= REACH || back < -REACH)
		return -1;
	kind = a64_kind(word, va, &target);
	if ((kind != INSN_PLAIN && kind != INSN_SYSCALL) || a64_is_adr(word) ||
	    is_literal(word))
		return -1;
	jump = 0x14000000 | ((uint32_t)(back / 4) & 0x3ffffff);
	*slot = (struct slot_code){ .len = 8, .after = 4 };
	for (int i = 0; i < 4; i++) {
		slot->bytes[i] = code[i];
		slot->bytes[4 + i] = (uint8_t)(jump >> 8 * i);
	}
	return 0;
}
