/*
 * Encodes the probe that finds an indirect jump's edge by the index with which
 * the jump's table is read: each entry has a slot.  Looks at no table.
 *
 * The first instruction reads the entry and does nothing else: if that faults,
 * it is as if the instruction that the fragment stands before had.
 */
#include <string.h>

#include "arch/x86_64/x86.h"
#include "util/fail.h"

enum {
	COMPARE_LEN = 7,	/* cmp $imm32, the index */
	BRANCH_LEN = 6,		/* jae rel32 */
};

/* An instruction's operand of memory at base + index * 8 + disp. */
struct operand {
	size_t opcode;		/* where the opcode is */
	uint8_t rex;
	uint8_t index;		/* as instructions number registers */
};

/* mov from memory to a register, or jmp; -1 if it is neither. */
static int
operand_find(const uint8_t *code, size_t len, struct operand *operand)
{
	enum { LOAD = 0x8b, GROUP = 0xff, REX_W = 8, REX_X = 2, RSP = 4 };
	size_t at = 0;
	uint8_t modrm, sib;

	*operand = (struct operand){ .rex = 0 };
	/* Hints, and segments that do nothing in 64-bit code. */
	while (at < len &&
	       (code[at] == 0x3e || code[at] == 0x2e || code[at] == 0xf2))
		at++;
	if (at < len && code[at] >> 4 == 4)
		operand->rex = code[at++];
	if (at + 3 > len)
		return -1;
	operand->opcode = at;
	modrm = code[at + 1];
	sib = code[at + 2];
	operand->index = (uint8_t)((sib >> 3 & 7) |
				   (operand->rex & REX_X ? 8 : 0));
	if (modrm >> 6 == 3 || (modrm & 7) != RSP || sib >> 6 != 3 ||
	    operand->index == RSP)
		return -1;
	if (code[at] == LOAD)
		return operand->rex & REX_W ? 0 : -1;
	return code[at] == GROUP && (modrm >> 3 & 7) == 4 ? 0 : -1;
}

uint8_t
x86_index_touch(const uint8_t *code, size_t len)
{
	struct operand operand;

	return operand_find(code, len, &operand) ?
		       0 :
		       (uint8_t)(1 + len - operand.opcode);
}

bool
x86_computes(const uint8_t *code, size_t len)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zinsn;

	if (x86_decode(code, len, &zinsn, operands) ||
	    zinsn.attributes & ZYDIS_ATTRIB_HAS_LOCK)
		return false;
	switch (zinsn.mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_XOR:
		break;
	default:
		return false;
	}
	for (unsigned i = 0; i < zinsn.operand_count_visible; i++) {
		const ZydisDecodedOperand *operand = &operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
		    zinsn.mnemonic != ZYDIS_MNEMONIC_NOP)
			return false;
		/* No segment registers either. */
		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (x86_gpr(operand->reg.value) == X86_NONE ||
		     (x86_gpr(operand->reg.value) == X86_RSP &&
		      operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)))
			return false;
	}
	return true;
}

unsigned
x86_index_size(const struct fragment *fragment)
{
	return fragment->load + COMPARE_LEN + BRANCH_LEN + GS_LEN +
	       x86_imm_size(fragment->operand);
}

enum fragment_inside
x86_index_inside(const struct fragment *fragment, unsigned offset)
{
	unsigned compared = fragment->load + COMPARE_LEN;

	return offset == fragment->load || offset == compared ||
			       offset == compared + BRANCH_LEN ?
		       INSIDE_BETWEEN :
		       INSIDE_NOT;
}

/* cmp %rax, the entry. */
static void
touch_put(const struct fragment *fragment, const struct operand *operand,
	  const uint8_t *code, uint8_t *p)
{
	p[0] = 0x48 | (operand->rex & 3);
	memcpy(p + 1, code + operand->opcode, fragment->load - 1u);
	p[1] = 0x39;
	p[2] &= (uint8_t)~0x38;
}

int
x86_index_write(const struct fragment *fragment, const struct fragment_at *at,
		uint8_t *bytes)
{
	unsigned imm = x86_imm_size(fragment->operand);
	uint8_t *compare = bytes + fragment->load;
	uint8_t *branch = compare + COMPARE_LEN, *add = branch + BRANCH_LEN;
	uint64_t behind = at->va + (uint64_t)(add - bytes);
	uint64_t rel = at->to - behind;
	struct operand operand;
	uint8_t low, high;

	must(operand_find(at->code, INSN_MAX, &operand) == 0);
	low = operand.index & 7;
	high = operand.index >> 3;
	touch_put(fragment, &operand, at->code, bytes);
	memcpy(compare, (uint8_t[]){ 0x48 | high, 0x81, 0xf8 | low }, 3);
	memcpy(compare + 3, &at->entries, 4);
	memcpy(branch, (uint8_t[]){ 0x0f, 0x83 }, 2);
	memcpy(branch + 2, &rel, 4);
	memcpy(add,
	       (uint8_t[]){ 0x65, (uint8_t)(0x48 | high << 1),
			    imm == 1 ? 0x83 : 0x81, 0x04,
			    (uint8_t)(0xc5 | low << 3) },
	       5);
	memcpy(add + 5, &at->slot, 4);
	memcpy(add + GS_LEN, &fragment->operand, imm);
	return fits_int32(rel) && fits_int32(at->slot) ? 0 : -1;
}
