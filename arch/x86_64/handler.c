/*
 * Recognises how OCaml's code enters an exception handler into the list of
 * handlers: it pushes the handler's address and the list's head, and makes the
 * stack pointer the head (OCaml's asmcomp/amd64/emit.mlp, Lpushtrap; the same
 * in runtime/amd64.S).
 */
#include "arch/x86_64/x86.h"

/* The instructions that are still to be read. */
struct run {
	const uint8_t *code;
	size_t size;
	ZydisDecodedInstruction zinsn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static bool
run_next(struct run *run, ZydisMnemonic mnemonic)
{
	if (x86_decode(run->code, run->size, &run->zinsn, run->operands) ||
	    run->zinsn.mnemonic != mnemonic)
		return false;
	run->code += run->zinsn.length;
	run->size -= run->zinsn.length;
	return true;
}

static bool
operand_is(const ZydisDecodedOperand *operand, ZydisRegister reg)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operand->reg.value == reg;
}

/* Whether the operand may be the list's head: 8 bytes in memory. */
static bool
operand_head(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       operand->size == 64 && operand->mem.base != ZYDIS_REGISTER_RSP &&
	       operand->mem.base != ZYDIS_REGISTER_RIP &&
	       operand->mem.index == ZYDIS_REGISTER_NONE;
}

uint64_t
x86_handler(const uint8_t *code, size_t size, uint64_t addr)
{
	struct run run = { .code = code, .size = size };
	ZydisDecodedOperandMem head;
	ZydisRegister reg;
	uint64_t handler;

	/* lea disp32(%rip): most code ends here. */
	if (size < 7 || (code[0] & 0xfb) != 0x48 || code[1] != 0x8d ||
	    (code[2] & 0xc7) != 5 || !run_next(&run, ZYDIS_MNEMONIC_LEA))
		return 0;
	reg = run.operands[0].reg.value;
	handler = addr + run.zinsn.length +
		  (uint64_t)run.operands[1].mem.disp.value;
	if (!run_next(&run, ZYDIS_MNEMONIC_PUSH) ||
	    !operand_is(&run.operands[0], reg) ||
	    !run_next(&run, ZYDIS_MNEMONIC_PUSH) ||
	    !operand_head(&run.operands[0]))
		return 0;
	head = run.operands[0].mem;
	if (!run_next(&run, ZYDIS_MNEMONIC_MOV) ||
	    !operand_head(&run.operands[0]) ||
	    run.operands[0].mem.segment != head.segment ||
	    run.operands[0].mem.base != head.base ||
	    run.operands[0].mem.disp.value != head.disp.value ||
	    !operand_is(&run.operands[1], ZYDIS_REGISTER_RSP))
		return 0;
	return handler;
}
