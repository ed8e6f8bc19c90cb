/*
 * Describes what an x86-64 instruction does to registers and memory, for
 * following values backwards through code.  Never says too little: an
 * instruction that is not known changes everything that it might.
 */
#include "arch/x86_64/x86.h"

/*
 * System V ABI for AMD64, 3.2.1 and 3.2.3: the registers in which functions
 * return values, and the others that they need not preserve.
 */
enum {
	CALL_KILLS = 1 << X86_RAX | 1 << X86_RDX,
	CALL_SPOILS = 1 << X86_RCX | 1 << X86_RSI | 1 << X86_RDI | 1 << X86_R8 |
		      1 << X86_R9 | 1 << X86_R10 | 1 << X86_R11,
};

struct place
x86_place_reg(uint8_t reg, uint8_t width)
{
	return (struct place){
		.kind = reg == X86_NONE ? PLACE_NONE : PLACE_REG,
		.width = width,
		.reg = reg,
		.index = REG_NONE,
	};
}

struct place
x86_place_sum(uint8_t reg, uint8_t index, uint8_t scale, int64_t disp)
{
	return (struct place){
		.kind = PLACE_MEM,
		.width = 8,
		.reg = reg,
		.index = index,
		.scale = scale,
		.disp = disp,
	};
}

/* PLACE_NONE if the address has fs, gs, or a register of another kind. */
static struct place
place_mem(const ZydisDecodedOperand *operand, uint64_t next)
{
	const ZydisDecodedOperandMem *mem = &operand->mem;
	struct place place = x86_place_sum(x86_gpr(mem->base),
					   x86_gpr(mem->index), mem->scale,
					   mem->disp.value);

	place.width = operand->size / 8 < UINT8_MAX ? operand->size / 8 : 0;
	if (mem->base == ZYDIS_REGISTER_RIP)
		place.disp += (int64_t)next;
	else if (mem->base != ZYDIS_REGISTER_NONE && place.reg == X86_NONE)
		place.kind = PLACE_NONE;
	if (mem->index == ZYDIS_REGISTER_NONE)
		place.scale = 0;
	else if (place.index == X86_NONE)
		place.kind = PLACE_NONE;
	if (mem->segment == ZYDIS_REGISTER_FS ||
	    mem->segment == ZYDIS_REGISTER_GS)
		place.kind = PLACE_NONE;
	return place;
}

static struct place
place_of(const ZydisDecodedOperand *operand, uint64_t next)
{
	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		/* ah and the like are not their register's low byte. */
		if (operand->reg.value >= ZYDIS_REGISTER_AH &&
		    operand->reg.value <= ZYDIS_REGISTER_BH)
			break;
		return x86_place_reg(x86_gpr(operand->reg.value),
				     (uint8_t)(operand->size / 8));
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return place_mem(operand, next);
	default:
		break;
	}
	return (struct place){ .reg = REG_NONE, .index = REG_NONE };
}

static enum effect_cond
branch_cond(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_JNBE:
		return COND_ABOVE;
	case ZYDIS_MNEMONIC_JNB:
		return COND_ABOVE_EQUAL;
	case ZYDIS_MNEMONIC_JB:
		return COND_BELOW;
	case ZYDIS_MNEMONIC_JBE:
		return COND_BELOW_EQUAL;
	case ZYDIS_MNEMONIC_JNLE:
		return COND_GREATER;
	case ZYDIS_MNEMONIC_JNL:
		return COND_GREATER_EQUAL;
	case ZYDIS_MNEMONIC_JL:
		return COND_LESS;
	case ZYDIS_MNEMONIC_JLE:
		return COND_LESS_EQUAL;
	case ZYDIS_MNEMONIC_JZ:
		return COND_EQUAL;
	case ZYDIS_MNEMONIC_JNZ:
		return COND_NOT_EQUAL;
	default:
		return COND_OTHER;
	}
}

/* Enter what the operands, also hidden ones, write, and the flags. */
static void
effect_writes(struct effect *effect, const ZydisDecodedInstruction *zinsn,
	      const ZydisDecodedOperand *operands)
{
	for (unsigned i = 0; i < zinsn->operand_count; i++) {
		const ZydisDecodedOperand *operand = &operands[i];
		uint8_t reg;

		if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && i)
			effect->stores = true;
		if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		reg = x86_gpr(operand->reg.value);
		if (reg != X86_NONE)
			effect->kills |= UINT32_C(1) << reg;
	}
	effect->flags = zinsn->cpu_flags &&
			(zinsn->cpu_flags->modified | zinsn->cpu_flags->set_0 |
			 zinsn->cpu_flags->set_1 | zinsn->cpu_flags->undefined);
}

/* dst = dst + imm; a subtraction also compares. */
static void
effect_add(struct effect *effect, int64_t imm, bool sub)
{
	if (effect->dst.width == 4)
		imm = (int32_t)imm;
	if (sub) {
		effect->compares = true;
		effect->left = effect->dst;
		effect->right = -imm;
	}
	if (effect->dst.kind != PLACE_REG)
		return;
	if (effect->dst.reg == X86_RSP) {
		effect->sp = (int32_t)imm;
		effect->kills &= ~(UINT32_C(1) << X86_RSP);
		effect->dst.kind = PLACE_NONE;
		return;
	}
	effect->op = EFFECT_SUM;
	effect->src = x86_place_sum(effect->dst.reg, REG_NONE, 0, imm);
}

/*
 * push and pop: the stack pointer, where a pop goes, and what a push of a
 * constant pushes.  That is no place: it would look like an address.
 */
static void
effect_stack(struct effect *effect, const ZydisDecodedInstruction *zinsn,
	     const ZydisDecodedOperand *operands)
{
	bool push = zinsn->mnemonic == ZYDIS_MNEMONIC_PUSH ||
		    zinsn->mnemonic == ZYDIS_MNEMONIC_PUSHFQ;

	/* A push writes below every place that is followed. */
	effect->stores = false;
	effect->kills &= ~(UINT32_C(1) << X86_RSP);
	effect->sp = zinsn->operand_width / 8;
	if (push) {
		effect->sp = -effect->sp;
		effect->dst.kind = PLACE_NONE;
		if (operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
			effect->op = EFFECT_PUSH;
			effect->imm = (uint64_t)operands[0].imm.value.s;
		}
	} else if (effect->dst.kind == PLACE_MEM) {
		effect->stores = true;
	} else if (effect->dst.reg == X86_RSP) {
		effect->sp = 0;
		effect->kills |= UINT32_C(1) << X86_RSP;
	}
}

static void
effect_arithmetic(struct effect *effect, const ZydisDecodedInstruction *zinsn,
		  const ZydisDecodedOperand *operands, uint64_t next)
{
	struct place src = place_of(&operands[1], next);
	bool imm = operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	uint8_t dst = effect->dst.reg;

	effect->imm = operands[1].imm.value.u;
	switch (zinsn->mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
		if (imm)
			effect_add(effect, (int64_t)effect->imm, false);
		else if (src.kind == PLACE_REG && effect->dst.width >= 4 &&
			 effect->dst.kind == PLACE_REG) {
			effect->op = EFFECT_SUM;
			effect->src = x86_place_sum(dst, src.reg, 1, 0);
		}
		break;
	case ZYDIS_MNEMONIC_SUB:
		if (imm)
			effect_add(effect, -(int64_t)effect->imm, true);
		break;
	case ZYDIS_MNEMONIC_CMP:
		effect->compares = imm;
		effect->left = effect->dst;
		effect->right = (int64_t)effect->imm;
		break;
	case ZYDIS_MNEMONIC_AND:
		if (imm)
			effect->op = EFFECT_MASK;
		break;
	case ZYDIS_MNEMONIC_SHR:
		if (imm)
			effect->op = EFFECT_SHIFT;
		break;
	case ZYDIS_MNEMONIC_SHL:
		if (!imm || effect->imm > 4 || effect->dst.kind != PLACE_REG)
			break;
		effect->op = EFFECT_SUM;
		effect->src = x86_place_sum(REG_NONE, dst,
					    (uint8_t)(1 << effect->imm), 0);
		break;
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
		effect->op = EFFECT_MIX;
		break;
	case ZYDIS_MNEMONIC_XOR:
		effect->op = EFFECT_MIX;
		if (src.kind != PLACE_REG || src.reg != dst ||
		    effect->dst.kind != PLACE_REG)
			break;
		effect->op = EFFECT_SUM;
		effect->src = x86_place_sum(REG_NONE, REG_NONE, 0, 0);
		break;
	default:
		break;
	}
}

/* dst = an address; what is so added to the stack pointer is as by add. */
static void
effect_lea(struct effect *effect)
{
	const struct place *src = &effect->src;

	if (effect->dst.reg == X86_RSP && effect->dst.width == 8 &&
	    src->kind == PLACE_MEM && src->reg == X86_RSP && !src->scale)
		effect_add(effect, src->disp, false);
	else
		effect->op = EFFECT_SUM;
}

/* Of an exchange with the stack pointer, what that gets. */
static void
effect_exchange(struct effect *effect, const ZydisDecodedOperand *operands,
		uint64_t next)
{
	struct place other = place_of(&operands[1], next);

	if (other.kind == PLACE_REG && other.reg == X86_RSP) {
		effect->stores = effect->dst.kind != PLACE_REG;
		effect->src = effect->dst;
		effect->dst = other;
	} else if (effect->dst.kind == PLACE_REG &&
		   effect->dst.reg == X86_RSP) {
		effect->src = other;
	}
	if (effect->src.kind != PLACE_NONE)
		effect->op = EFFECT_COPY;
}

static void
effect_move(struct effect *effect, const ZydisDecodedInstruction *zinsn,
	    const ZydisDecodedOperand *operands, uint64_t next)
{
	effect->src = place_of(&operands[1], next);
	switch (zinsn->mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
		effect_lea(effect);
		break;
	case ZYDIS_MNEMONIC_CDQE:
		effect->op = EFFECT_COPY;
		effect->sign = true;
		effect->dst = x86_place_reg(X86_RAX, 8);
		effect->src = x86_place_reg(X86_RAX, 4);
		break;
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		effect->sign = true;
		/* fallthrough */
	case ZYDIS_MNEMONIC_MOVZX:
		effect->op = EFFECT_COPY;
		break;
	default:
		if (operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) {
			effect->op = EFFECT_COPY;
			break;
		}
		if (effect->dst.kind != PLACE_REG)
			break;
		effect->op = EFFECT_SUM;
		effect->src = x86_place_sum(REG_NONE, REG_NONE, 0,
					    operands[1].imm.value.s);
		if (effect->dst.width == 4)
			effect->src.disp = (uint32_t)effect->src.disp;
		break;
	}
	if (effect->src.kind == PLACE_NONE)
		effect->op = EFFECT_OTHER;
}

static void
effect_control(struct effect *effect, const ZydisDecodedInstruction *zinsn,
	       const ZydisDecodedOperand *operands, uint64_t next)
{
	effect->dst.kind = PLACE_NONE;
	effect->kills &= ~(UINT32_C(1) << X86_RSP);
	switch (x86_kind(zinsn)) {
	case INSN_CALL_INDIRECT:
		effect->src = place_of(&operands[0], next);
		/* fallthrough */
	case INSN_CALL:
		effect->kills |= CALL_KILLS;
		effect->spoils = CALL_SPOILS;
		effect->stores = true;
		break;
	case INSN_JUMP_INDIRECT:
		effect->src = place_of(&operands[0], next);
		break;
	case INSN_BRANCH:
		effect->cond = branch_cond(zinsn->mnemonic);
		break;
	case INSN_SYSCALL:
		effect->stores = true;
		break;
	default:
		break;
	}
}

int
x86_effect(const uint8_t *code, size_t size, uint64_t addr,
	   struct effect *effect)
{
	return x86_quick_effect(code, size, addr, effect) ?
		       0 :
		       x86_effect_full(code, size, addr, effect);
}

int
x86_effect_full(const uint8_t *code, size_t size, uint64_t addr,
		struct effect *effect)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT] = { 0 };
	ZydisDecodedInstruction zinsn;
	uint64_t next;

	if (x86_decode(code, size, &zinsn, operands))
		return -1;
	next = addr + zinsn.length;
	*effect = (struct effect){ 0 };
	effect_writes(effect, &zinsn, operands);
	if (x86_kind(&zinsn) != INSN_PLAIN) {
		effect_control(effect, &zinsn, operands, next);
		return 0;
	}
	if (!zinsn.operand_count)
		return 0;
	effect->dst = place_of(&operands[0], next);
	switch (zinsn.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_LEA:
		effect_move(effect, &zinsn, operands, next);
		break;
	case ZYDIS_MNEMONIC_XCHG:
		effect_exchange(effect, operands, next);
		break;
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_POP:
		effect_stack(effect, &zinsn, operands);
		break;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		effect_add(effect,
			   zinsn.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1,
			   false);
		break;
	default:
		effect_arithmetic(effect, &zinsn, operands, next);
		break;
	}
	if (!(operands[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		effect->dst.kind = PLACE_NONE;
	else if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		 effect->dst.kind == PLACE_NONE)
		effect->stores = true;
	return 0;
}
