/*
 * Runs 68000 instructions away from their place.  Emulates branches, calls and
 * returns; makes slots for others that do not read the pc.  Refuses the rest.
 */
#include "arch/m68k/m68k.h"

/* Values of struct emul's op. */
enum m68k_op {
	OP_NOP,
	OP_JUMP,
	OP_BRANCH,		/* if cond */
	OP_DECREMENT,		/* DBcc: unless cond, decrement dst */
	OP_CALL,		/* to imm */
	OP_CALL_AT,		/* to the sum of src, index and disp */
	OP_JUMP_AT,
	OP_RETURN,		/* imm: further bytes to drop */
};

/* Bits of struct emul's flags. */
enum { INDEX_WORD = 1 };

static bool
condition(unsigned cond, uint64_t ps)
{
	bool c = ps & M68K_C, v = ps & M68K_V, z = ps & M68K_Z;
	bool n = ps & M68K_N, holds = true;

	/* 3.20, table 3-19: an odd condition negates the even one before. */
	switch (cond >> 1) {
	case 0:
		break;
	case 1:
		holds = !c && !z;
		break;
	case 2:
		holds = !c;
		break;
	case 3:
		holds = !z;
		break;
	case 4:
		holds = !v;
		break;
	case 5:
		holds = !n;
		break;
	case 6:
		holds = n == v;
		break;
	case 7:
		holds = n == v && !z;
		break;
	}
	return holds != (cond & 1);
}

/* jmp and jsr through registers. */
static int
prepare_through(const struct m68k_code *code, uint16_t op, struct emul *emul)
{
	struct place place = m68k_ea_place(code, op, 2, 4);

	if (place.kind != PLACE_MEM)
		return -1;
	emul->op = op & 0x40 ? OP_JUMP_AT : OP_CALL_AT;
	emul->src = place.reg;
	emul->index = place.index;
	emul->scale = place.scale;
	emul->flags = place.index_width ? INDEX_WORD : 0;
	emul->disp = (int32_t)(uint32_t)place.disp;
	return 0;
}

int
m68k_emul_prepare(const uint8_t *p, size_t size, uint64_t va, struct emul *emul)
{
	struct m68k_code code = m68k_code_of(p, size, va, true);
	uint16_t op = m68k_word(&code, 0);
	enum insn_kind kind;

	*emul = (struct emul){ .next = va + m68k_size(&code) };
	kind = m68k_kind(&code, &emul->imm);
	switch (kind) {
	case INSN_JUMP:
		emul->op = OP_JUMP;
		emul->only_pc = true;
		return 0;
	case INSN_CALL:
		emul->op = OP_CALL;
		emul->memory = true;
		return 0;
	case INSN_BRANCH:
		if (op >> 12 == 0xf)
			return -1;
		emul->op = op >> 12 == 6 ? OP_BRANCH : OP_DECREMENT;
		emul->cond = op >> 8 & 15;
		emul->dst = op & 7;
		return 0;
	case INSN_JUMP_INDIRECT:
	case INSN_CALL_INDIRECT:
		emul->memory = kind == INSN_CALL_INDIRECT;
		return prepare_through(&code, op, emul);
	case INSN_RETURN:
		if (op != 0x4e75 && op != 0x4e74)
			return -1;
		emul->op = OP_RETURN;
		emul->memory = true;
		emul->imm = op == 0x4e74 ? (uint64_t)m68k_signed(&code, 2, 2) :
					   0;
		return 0;
	default:
		if (op != 0x4e71)
			return -1;
		emul->op = OP_NOP;
		emul->imm = emul->next;
		emul->only_pc = true;
		return 0;
	}
}

static uint64_t
through(const struct emul *emul, const struct regs *regs)
{
	uint64_t sum = (uint64_t)(int64_t)emul->disp;
	uint64_t index;

	if (emul->src != REG_NONE)
		sum += regs->r[emul->src];
	if (emul->index != REG_NONE) {
		index = regs->r[emul->index];
		if (emul->flags & INDEX_WORD)
			index = (uint64_t)(int16_t)index;
		sum += index * emul->scale;
	}
	return (uint32_t)sum;
}

static enum emul_result
run_call(const struct emul *emul, struct regs *regs,
	 const struct memory *memory, uint64_t target)
{
	uint64_t sp = (uint32_t)(regs->r[M68K_SP] - 4);
	uint8_t bytes[4];

	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(emul->next >> (24 - 8 * i));
	if (memory->write(memory->ctx, sp, bytes, sizeof(bytes)))
		return EMUL_FAULT;
	regs->r[M68K_SP] = sp;
	regs->r[M68K_PC] = target;
	return EMUL_DONE;
}

static enum emul_result
run_return(const struct emul *emul, struct regs *regs,
	   const struct memory *memory)
{
	uint64_t pc = 0, sp = regs->r[M68K_SP];
	uint8_t bytes[4];

	if (memory->read(memory->ctx, sp, bytes, sizeof(bytes)))
		return EMUL_FAULT;
	for (int i = 0; i < 4; i++)
		pc = pc << 8 | bytes[i];
	regs->r[M68K_SP] = (uint32_t)(sp + 4 + emul->imm);
	regs->r[M68K_PC] = pc;
	return EMUL_DONE;
}

static enum emul_result
run_branch(const struct emul *emul, struct regs *regs)
{
	bool taken = condition(emul->cond, regs->r[M68K_PS]);

	if (emul->op == OP_DECREMENT && taken) {
		taken = false;
	} else if (emul->op == OP_DECREMENT) {
		uint64_t *reg = &regs->r[emul->dst];
		uint16_t count = (uint16_t)(*reg - 1);

		*reg = (*reg & ~UINT64_C(0xffff)) | count;
		taken = count != 0xffff;
	}
	regs->r[M68K_PC] = taken ? emul->imm : emul->next;
	return taken ? EMUL_TAKEN : EMUL_DONE;
}

enum emul_result
m68k_emul_run(const struct emul *emul, struct regs *regs,
	      const struct memory *memory)
{
	switch ((enum m68k_op)emul->op) {
	case OP_NOP:
	case OP_JUMP:
		regs->r[M68K_PC] = emul->imm;
		return EMUL_DONE;
	case OP_BRANCH:
	case OP_DECREMENT:
		return run_branch(emul, regs);
	case OP_CALL:
		return run_call(emul, regs, memory, emul->imm);
	case OP_CALL_AT:
		return run_call(emul, regs, memory, through(emul, regs));
	case OP_JUMP_AT:
		regs->r[M68K_PC] = through(emul, regs);
		return EMUL_DONE;
	case OP_RETURN:
		return run_return(emul, regs, memory);
	}
	return EMUL_FAULT;
}

/* Is the effective address relative to the pc? */
static bool
ea_by_pc(uint16_t op)
{
	return m68k_mode(op) == EA_PC_DISP || m68k_mode(op) == EA_PC_INDEX;
}

/*
 * May the instruction read the pc?  True also for some whose low six bits are
 * no effective address but look like one relative to the pc; that only makes
 * them slower.
 */
static bool
by_pc(const struct m68k_code *code)
{
	uint16_t op = m68k_word(code, 0);

	if (op >> 12 == 7 || (op >> 12 == 0xe && (op & 0xc0) != 0xc0))
		return false;
	return ea_by_pc(op);
}

static int
slot_make(const struct m68k_code *code, uint64_t slot_va,
	  struct slot_code *slot)
{
	enum { BACK = 6 };	/* jmp.l */
	size_t len = m68k_size(code);
	uint64_t target, next = code->addr + len;
	enum insn_kind kind = m68k_kind(code, &target);

	if (!len || len > code->size || len + BACK > SLOT_MAX ||
	    (kind != INSN_PLAIN && kind != INSN_SYSCALL) || by_pc(code))
		return -1;
	slot->len = (uint8_t)(len + BACK);
	slot->after = (uint8_t)len;
	for (size_t i = 0; i < len; i++)
		slot->bytes[i] = code->p[i];
	slot->bytes[len] = 0x4e;
	slot->bytes[len + 1] = 0xf9;
	for (int i = 0; i < 4; i++)
		slot->bytes[len + 2 + i] = (uint8_t)(next >> (24 - 8 * i));
	return 0;
}

int
m68000_slot_make(const uint8_t *p, size_t size, uint64_t va, uint64_t slot_va,
		 struct slot_code *slot)
{
	struct m68k_code code = m68k_code_of(p, size, va, false);

	return slot_make(&code, slot_va, slot);
}

int
m68k_slot_make(const uint8_t *p, size_t size, uint64_t va, uint64_t slot_va,
	       struct slot_code *slot)
{
	struct m68k_code code = m68k_code_of(p, size, va, true);

	return slot_make(&code, slot_va, slot);
}
