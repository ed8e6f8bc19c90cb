/*
 * Makes the bytes that run one x86-64 instruction in a slot and jump back
 * behind the original.  Never writes a process's memory.
 */
#include <string.h>

#include "arch/x86_64/x86.h"

int
x86_rebase(uint8_t *bytes, unsigned disp, uint64_t va, uint64_t to_va)
{
	int32_t disp32;
	uint64_t moved;

	memcpy(&disp32, bytes + disp, 4);
	moved = va - to_va + (uint64_t)(int64_t)disp32;
	if (!fits_int32(moved))
		return -1;
	disp32 = (int32_t)moved;
	memcpy(bytes + disp, &disp32, 4);
	return 0;
}

static void
back_append(struct slot_code *slot, uint64_t back, uint64_t slot_va)
{
	uint64_t rel = back - (slot_va + slot->len + 5);
	uint8_t *p = slot->bytes + slot->len;
	int32_t rel32 = (int32_t)rel;

	if (fits_int32(rel)) {
		p[0] = 0xe9;		/* jmp rel32 */
		memcpy(p + 1, &rel32, 4);
		slot->len += 5;
	} else {
		memcpy(p, (uint8_t[]){ 0xff, 0x25, 0, 0, 0, 0 }, 6);
		memcpy(p + 6, &back, 8);	/* jmp *0(%rip); .quad back */
		slot->len += 14;
	}
}

/* syscall leaves its return address in rcx: set that to the original's. */
static void
rcx_append(struct slot_code *slot, uint64_t next)
{
	uint8_t *p = slot->bytes + slot->len;

	memcpy(p, (uint8_t[]){ 0x48, 0xb9 }, 2);
	memcpy(p + 2, &next, 8);		/* mov $next, %rcx */
	slot->len += 10;
}

/* Does the instruction do the same anywhere once its disp32 is adjusted? */
static bool
relocatable(const ZydisDecodedInstruction *zinsn)
{
	switch (x86_kind(zinsn)) {
	case INSN_JUMP:
	case INSN_BRANCH:
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		return false;
	default:
		return true;
	}
}

int
x86_slot_make(const uint8_t *code, size_t size, uint64_t va, uint64_t slot_va,
	      struct slot_code *slot)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zinsn;

	if (x86_decode(code, size, &zinsn, operands) || !relocatable(&zinsn))
		return -1;
	*slot = (struct slot_code){ .len = zinsn.length,
				    .after = zinsn.length };
	memcpy(slot->bytes, code, zinsn.length);
	if (zinsn.attributes & ZYDIS_ATTRIB_IS_RELATIVE) {
		/* An address of 32 bits would wrap at another place. */
		if (zinsn.raw.disp.size != 32 || zinsn.address_width != 64 ||
		    x86_rebase(slot->bytes, zinsn.raw.disp.offset, va, slot_va))
			return -1;
	}
	if (zinsn.mnemonic == ZYDIS_MNEMONIC_SYSCALL)
		rcx_append(slot, va + zinsn.length);
	back_append(slot, va + zinsn.length, slot_va);
	return 0;
}

bool
x86_locked(const uint8_t *code, size_t size)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction locked, alone;

	return size > 1 && code[0] == 0xf0 &&
	       !x86_decode(code, size, &locked, operands) &&
	       !x86_decode(code + 1, size - 1, &alone, operands) &&
	       locked.mnemonic == alone.mnemonic &&
	       locked.length == alone.length + 1;
}

/* pushf pushes the trap flag, which is set in a single step. */
bool
x86_step_shows(const uint8_t *code, size_t size)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zinsn;

	return !x86_decode(code, size, &zinsn, operands) &&
	       (zinsn.mnemonic == ZYDIS_MNEMONIC_PUSHF ||
		zinsn.mnemonic == ZYDIS_MNEMONIC_PUSHFD ||
		zinsn.mnemonic == ZYDIS_MNEMONIC_PUSHFQ);
}
