/*
 * What x86-64 instructions do beside passing control on, by the operands that
 * Zydis finds, the implicit ones included.  Changes nothing.
 */
#include "arch/x86_64/x86.h"

enum {
	READS = ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD,
	WRITES = ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE,
};

/* Does it name memory that it does not touch? */
static bool
only_names(const ZydisDecodedInstruction *zinsn)
{
	switch (zinsn->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
		return true;
	default:
		return false;
	}
}

static bool
in_vector(const ZydisDecodedOperand *op)
{
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	switch (ZydisRegisterGetClass(op->reg.value)) {
	case ZYDIS_REGCLASS_MMX:
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return true;
	default:
		return false;
	}
}

static bool
is_float(const ZydisDecodedOperand *op)
{
	switch (op->element_type) {
	case ZYDIS_ELEMENT_TYPE_FLOAT16:
	case ZYDIS_ELEMENT_TYPE_FLOAT32:
	case ZYDIS_ELEMENT_TYPE_FLOAT64:
	case ZYDIS_ELEMENT_TYPE_FLOAT80:
		return true;
	default:
		return false;
	}
}

static bool
divides(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_FDIV:
	case ZYDIS_MNEMONIC_FDIVP:
	case ZYDIS_MNEMONIC_FDIVR:
	case ZYDIS_MNEMONIC_FDIVRP:
	case ZYDIS_MNEMONIC_FIDIV:
	case ZYDIS_MNEMONIC_FIDIVR:
	case ZYDIS_MNEMONIC_DIVSS:
	case ZYDIS_MNEMONIC_DIVSD:
	case ZYDIS_MNEMONIC_DIVPS:
	case ZYDIS_MNEMONIC_DIVPD:
	case ZYDIS_MNEMONIC_VDIVSS:
	case ZYDIS_MNEMONIC_VDIVSD:
	case ZYDIS_MNEMONIC_VDIVPS:
	case ZYDIS_MNEMONIC_VDIVPD:
		return true;
	default:
		return false;
	}
}

/* A move of one number into a vector register sets the others to 0. */
static bool
moves_one(const ZydisDecodedInstruction *zinsn, const ZydisDecodedOperand *op)
{
	return zinsn->meta.category == ZYDIS_CATEGORY_DATAXFER &&
	       op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->element_count == 1;
}

static bool
is_vector(const ZydisDecodedInstruction *zinsn,
	  const ZydisDecodedOperand *operands)
{
	bool many = false;

	for (int i = 0; i < zinsn->operand_count; i++) {
		const ZydisDecodedOperand *op = &operands[i];

		if (moves_one(zinsn, op) ||
		    (in_vector(op) && op->element_count < 2))
			return false;
		many |= in_vector(op);
	}
	return many;
}

static unsigned
operand_classes(const ZydisDecodedInstruction *zinsn,
		const ZydisDecodedOperand *op)
{
	bool moves = zinsn->meta.category == ZYDIS_CATEGORY_DATAXFER;
	unsigned set = is_float(op) && !moves ? INSN_FLOATS : 0;

	/* What lea has as an operand is not read. */
	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && !only_names(zinsn)) {
		set |= op->actions & READS ? INSN_LOADS : 0;
		set |= op->actions & WRITES ? INSN_STORES : 0;
		if (zinsn->mnemonic == ZYDIS_MNEMONIC_XCHG)
			set |= INSN_ATOMIC;
	}
	return set;
}

unsigned
x86_classes(const uint8_t *code, size_t size)
{
	ZydisDecodedInstruction zinsn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	unsigned set = 0;

	if (x86_decode(code, size, &zinsn, operands))
		return 0;
	for (int i = 0; i < zinsn.operand_count; i++)
		set |= operand_classes(&zinsn, &operands[i]);
	if (divides(zinsn.mnemonic))
		set |= INSN_DIVIDES;
	if (is_vector(&zinsn, operands))
		set |= INSN_VECTORS;
	if (zinsn.attributes & ZYDIS_ATTRIB_HAS_LOCK)
		set |= INSN_ATOMIC;
	if (zinsn.meta.category == ZYDIS_CATEGORY_STRINGOP ||
	    zinsn.meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
		set |= INSN_STRING;
	return set;
}
