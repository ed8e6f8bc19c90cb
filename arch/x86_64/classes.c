/*
 * What x86-64 instructions do beside passing control on, by the operands that
 * Zydis finds, the implicit ones included.  Changes nothing.
 */
#include "arch/x86_64/x86.h"

#include <string.h>

enum {
	READS = ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD,
	WRITES = ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE,
};

static bool
begins(const ZydisDecodedInstruction *zinsn, const char *prefix)
{
	const char *name = ZydisMnemonicGetString(zinsn->mnemonic);

	return name && strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Does it name memory that it does not touch, or only the cache's copy? */
static bool
only_names(const ZydisDecodedInstruction *zinsn)
{
	switch (zinsn->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
		return true;
	default:
		return begins(zinsn, "clflush") || begins(zinsn, "clwb") ||
		       begins(zinsn, "cldemote");
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
divides(const ZydisDecodedInstruction *zinsn)
{
	return begins(zinsn, "div") || begins(zinsn, "idiv") ||
	       begins(zinsn, "fdiv") || begins(zinsn, "fidiv") ||
	       begins(zinsn, "vdiv");
}

/* Does it only move or combine bits, whatever they mean? */
static bool
moves(const ZydisDecodedInstruction *zinsn)
{
	switch (zinsn->meta.category) {
	case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_BROADCAST:
	case ZYDIS_CATEGORY_GATHER:
	case ZYDIS_CATEGORY_SCATTER:
	case ZYDIS_CATEGORY_LOGICAL_FP:
		return true;
	case ZYDIS_CATEGORY_X87_ALU:
		return begins(zinsn, "fld") || begins(zinsn, "fst") ||
		       begins(zinsn, "fxch") || begins(zinsn, "fcmov");
	default:
		return false;
	}
}

/* A move of one number into a vector register sets the others to 0. */
static bool
moves_one(const ZydisDecodedInstruction *zinsn, const ZydisDecodedOperand *op)
{
	return zinsn->meta.category == ZYDIS_CATEGORY_DATAXFER &&
	       !in_vector(op) && op->element_count == 1;
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

static bool
computes_floats(const ZydisDecodedInstruction *zinsn,
		const ZydisDecodedOperand *operands)
{
	for (int i = 0; i < zinsn->operand_count; i++)
		if (is_float(&operands[i]))
			return !moves(zinsn);
	return begins(zinsn, "round") || begins(zinsn, "vround");
}

static unsigned
operand_classes(const ZydisDecodedInstruction *zinsn,
		const ZydisDecodedOperand *op)
{
	unsigned set = 0;

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
	if (divides(&zinsn))
		set |= INSN_DIVIDES;
	if (computes_floats(&zinsn, operands))
		set |= INSN_FLOATS;
	if (is_vector(&zinsn, operands))
		set |= INSN_VECTORS;
	if (zinsn.attributes & ZYDIS_ATTRIB_HAS_LOCK)
		set |= INSN_ATOMIC;
	if (zinsn.meta.category == ZYDIS_CATEGORY_STRINGOP ||
	    zinsn.meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
		set |= INSN_STRING;
	return set;
}
