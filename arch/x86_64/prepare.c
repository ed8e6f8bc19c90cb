/*
 * Makes an instruction ready for emulation: does all that needs Zydis, once
 * per site, so that run.c needs only a switch.  Refuses instructions that it
 * does not know; never emulates.
 */
#include "arch/x86_64/x86.h"

/* Operands of an instruction to be emulated. */
enum form {
	FORM_NONE,
	FORM_TARGET,		/* one: an address, or a value to push */
	FORM_REG,		/* one: a register that is changed */
	FORM_READ,		/* two, reads both: cmp, test */
	FORM_CHANGE,		/* two, reads both and writes the first */
	FORM_WRITE,		/* two, writes the first: mov, lea */
};

struct known {
	ZydisMnemonic mnemonic;
	uint8_t op, form;
};

static const struct known known[] = {
	{ ZYDIS_MNEMONIC_NOP, OP_NOP, FORM_NONE },
	{ ZYDIS_MNEMONIC_ENDBR64, OP_NOP, FORM_NONE },
	{ ZYDIS_MNEMONIC_MOV, OP_MOV, FORM_WRITE },
	{ ZYDIS_MNEMONIC_MOVZX, OP_MOV, FORM_WRITE },
	{ ZYDIS_MNEMONIC_MOVSX, OP_MOV, FORM_WRITE },
	{ ZYDIS_MNEMONIC_MOVSXD, OP_MOV, FORM_WRITE },
	{ ZYDIS_MNEMONIC_LEA, OP_LEA, FORM_WRITE },
	{ ZYDIS_MNEMONIC_ADD, OP_ADD, FORM_CHANGE },
	{ ZYDIS_MNEMONIC_SUB, OP_SUB, FORM_CHANGE },
	{ ZYDIS_MNEMONIC_AND, OP_AND, FORM_CHANGE },
	{ ZYDIS_MNEMONIC_OR, OP_OR, FORM_CHANGE },
	{ ZYDIS_MNEMONIC_XOR, OP_XOR, FORM_CHANGE },
	{ ZYDIS_MNEMONIC_CMP, OP_CMP, FORM_READ },
	{ ZYDIS_MNEMONIC_TEST, OP_TEST, FORM_READ },
	{ ZYDIS_MNEMONIC_INC, OP_INC, FORM_REG },
	{ ZYDIS_MNEMONIC_DEC, OP_DEC, FORM_REG },
	{ ZYDIS_MNEMONIC_PUSH, OP_PUSH, FORM_TARGET },
	{ ZYDIS_MNEMONIC_POP, OP_POP, FORM_REG },
	{ ZYDIS_MNEMONIC_LEAVE, OP_LEAVE, FORM_NONE },
	{ ZYDIS_MNEMONIC_JMP, OP_JUMP, FORM_TARGET },
	{ ZYDIS_MNEMONIC_CALL, OP_CALL, FORM_TARGET },
	{ ZYDIS_MNEMONIC_LOOP, OP_LOOP, FORM_TARGET },
	{ ZYDIS_MNEMONIC_LOOPE, OP_LOOPE, FORM_TARGET },
	{ ZYDIS_MNEMONIC_LOOPNE, OP_LOOPNE, FORM_TARGET },
	{ ZYDIS_MNEMONIC_JRCXZ, OP_JRCXZ, FORM_TARGET },
};

const uint8_t x86_gprs[16] = {
	X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI,
	X86_R8,	 X86_R9,  X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

uint8_t
x86_gpr(ZydisRegister reg)
{
	reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15)
		return X86_NONE;
	return x86_gprs[reg - ZYDIS_REGISTER_RAX];
}

static int
memory_set(struct emul *emul, const ZydisDecodedOperandMem *mem, uint8_t *base)
{
	if (mem->disp.value != (int32_t)mem->disp.value)
		return -1;
	emul->disp = (int32_t)mem->disp.value;
	*base = mem->base == ZYDIS_REGISTER_RIP ? X86_RIP : x86_gpr(mem->base);
	emul->index = x86_gpr(mem->index);
	emul->scale = mem->scale;
	if (mem->base != ZYDIS_REGISTER_NONE && *base == X86_NONE)
		return -1;
	if (mem->index != ZYDIS_REGISTER_NONE && emul->index == X86_NONE)
		return -1;
	if (mem->segment == ZYDIS_REGISTER_FS)
		emul->flags |= EMUL_FS;
	if (mem->segment == ZYDIS_REGISTER_GS)
		emul->flags |= EMUL_GS;
	return 0;
}

static int
operand_set(struct emul *emul, const ZydisDecodedInstruction *zinsn,
	    const ZydisDecodedOperand *operand, bool dst)
{
	uint8_t *reg = dst ? &emul->dst : &emul->src;

	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		*reg = x86_gpr(operand->reg.value);
		if (operand->reg.value >= ZYDIS_REGISTER_AH &&
		    operand->reg.value <= ZYDIS_REGISTER_BH)
			emul->flags |= dst ? EMUL_DST_HIGH : EMUL_SRC_HIGH;
		return *reg == X86_NONE ? -1 : 0;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		if (zinsn->address_width != 64)
			return -1;
		emul->flags |= dst ? EMUL_DST_MEM : EMUL_SRC_MEM;
		if (emul->op != OP_LEA)
			emul->memory = true;
		return memory_set(emul, &operand->mem, reg);
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		emul->flags |= EMUL_SRC_IMM;
		emul->imm = operand->imm.value.u;
		if (operand->imm.is_relative)
			emul->imm += emul->next;
		return dst ? -1 : 0;
	default:
		return -1;
	}
}

static int
operands_set(struct emul *emul, const ZydisDecodedInstruction *zinsn,
	     const ZydisDecodedOperand *operands, enum form form)
{
	if (form == FORM_NONE)
		return 0;
	emul->width = operands[0].size / 8;
	if (form == FORM_TARGET) {
		emul->width = 8;
		if (operand_set(emul, zinsn, &operands[0], false))
			return -1;
		/* Else loop and jrcxz would use ecx. */
		return zinsn->address_width == 64 ? 0 : -1;
	}
	if (operand_set(emul, zinsn, &operands[0], true))
		return -1;
	if (form == FORM_REG)
		return emul->flags & EMUL_DST_MEM && emul->op != OP_POP ? -1 :
									  0;
	if (form == FORM_CHANGE && emul->flags & EMUL_DST_MEM)
		return -1;
	if (operand_set(emul, zinsn, &operands[1], false))
		return -1;
	if (emul->op == OP_MOV)
		emul->cond = emul->flags & EMUL_SRC_IMM ? emul->width :
							  operands[1].size / 8;
	if (zinsn->mnemonic == ZYDIS_MNEMONIC_MOVSX ||
	    zinsn->mnemonic == ZYDIS_MNEMONIC_MOVSXD)
		emul->flags |= EMUL_SIGNED;
	return 0;
}

static bool
prefixed(const ZydisDecodedInstruction *zinsn, uint8_t prefix)
{
	for (int i = 0; i < zinsn->raw.prefix_count; i++)
		if (zinsn->raw.prefixes[i].value == prefix)
			return true;
	return false;
}

/*
 * Is the instruction a variant that is not emulated?  These are atomic ones,
 * far branches, 16-bit pushes and pops, and branches with a 0x66 prefix, which
 * means different things to different makers of CPUs.
 */
static bool
peculiar(const ZydisDecodedInstruction *zinsn, const struct emul *emul)
{
	const ZydisInstructionAttributes atomic = ZYDIS_ATTRIB_HAS_LOCK |
						  ZYDIS_ATTRIB_HAS_XACQUIRE |
						  ZYDIS_ATTRIB_HAS_XRELEASE;

	if (zinsn->attributes & atomic ||
	    zinsn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return true;
	return emul->op >= OP_PUSH && prefixed(zinsn, 0x66);
}

/* The instruction's enum x86_op and its form; -1 if it is none of them. */
static int
op_find(const ZydisDecodedInstruction *zinsn, enum form *form)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].mnemonic == zinsn->mnemonic) {
			*form = known[i].form;
			return known[i].op;
		}
	if (zinsn->mnemonic == ZYDIS_MNEMONIC_RET) {
		*form = FORM_NONE;
		return OP_RETURN;
	}
	*form = FORM_TARGET;
	if (zinsn->meta.category == ZYDIS_CATEGORY_COND_BR &&
	    ((zinsn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	      zinsn->opcode >> 4 == 0x7) ||
	     (zinsn->opcode_map == ZYDIS_OPCODE_MAP_0F &&
	      zinsn->opcode >> 4 == 0x8)))
		return OP_BRANCH;
	return -1;
}

int
x86_emul_prepare(const uint8_t *code, size_t size, uint64_t va,
		 struct emul *emul)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zinsn;
	enum form form;
	int op;

	if (x86_decode(code, size, &zinsn, operands))
		return -1;
	op = op_find(&zinsn, &form);
	if (op < 0)
		return -1;
	*emul = (struct emul){
		.op = (uint8_t)op,
		.next = va + zinsn.length,
		.dst = X86_NONE,
		.src = X86_NONE,
		.index = X86_NONE,
		.memory = op == OP_PUSH || op == OP_POP || op == OP_LEAVE ||
			  op == OP_CALL || op == OP_RETURN,
	};
	if (peculiar(&zinsn, emul) ||
	    operands_set(emul, &zinsn, operands, form))
		return -1;
	if (op == OP_BRANCH)
		emul->cond = zinsn.opcode & 0xf;
	if (op == OP_RETURN && zinsn.operand_count_visible)
		emul->imm = operands[0].imm.value.u;
	emul->only_pc = op == OP_NOP ||
			(op == OP_JUMP && emul->flags & EMUL_SRC_IMM);
	if (op == OP_NOP)
		emul->imm = emul->next;
	return 0;
}
