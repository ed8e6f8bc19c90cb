/*
 * Makes the code that looks at a system call's number, or at an argument, before
 * the call and traps if that matters.  Never writes a process's memory.
 */
#include <string.h>

#include "arch/x86_64/x86.h"
#include "util/fail.h"

enum {
	CHECK = 8,		/* bytes of the check for one number */
	JUMP = 5,
	REACH = 127,		/* of a short jump, forward */
};

/* rcx or r11, of any width. */
static bool
reg_clobbered(ZydisRegister reg)
{
	ZydisRegister full = ZydisRegisterGetLargestEnclosing(
		ZYDIS_MACHINE_MODE_LONG_64, reg);

	return full == ZYDIS_REGISTER_RCX || full == ZYDIS_REGISTER_R11;
}

/*
 * Whether the instruction does the same in a filter, even after the filter has
 * run before: the checks use rcx, and the system call changes rcx and r11.
 */
static bool
insn_filters(const ZydisDecodedInstruction *zinsn,
	     const ZydisDecodedOperand *operands)
{
	if (zinsn->attributes & ZYDIS_ATTRIB_IS_RELATIVE)
		return false;
	for (unsigned i = 0; i < zinsn->operand_count; i++) {
		const ZydisDecodedOperand *operand = &operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    reg_clobbered(operand->reg.value))
			return false;
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (reg_clobbered(operand->mem.base) ||
		     reg_clobbered(operand->mem.index)))
			return false;
	}
	return true;
}

static bool
code_filters(const uint8_t *code, size_t len)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zinsn;

	for (size_t at = 0; at < len; at += zinsn.length)
		if (x86_decode(code + at, len - at, &zinsn, operands) ||
		    !insn_filters(&zinsn, operands))
			return false;
	return true;
}

/*
 * lea -number(%reg), %ecx; jrcxz trap.  Of rax the kernel takes the low half as
 * the number, and of rdi as a signal.  Neither instruction changes flags, which
 * the call preserves.
 */
static void
check_append(struct call_filter *filter, uint8_t reg, int number)
{
	uint8_t *p = filter->bytes + filter->len;
	int32_t disp = -number;

	memcpy(p, (uint8_t[]){ 0x8d, reg == X86_RDI ? 0x8f : 0x88 }, 2);
	memcpy(p + 2, &disp, 4);
	filter->len += CHECK;
	must(filter->trap - filter->len <= REACH);
	p[6] = 0xe3;
	p[7] = filter->trap - filter->len;
}

int
x86_filter_make(const struct filter_input *in, uint64_t va,
		struct call_filter *filter)
{
	size_t checks = in->n * CHECK;

	if ((in->reg != X86_RAX && in->reg != X86_RDI) ||
	    checks + JUMP > REACH ||
	    in->len + checks + JUMP + 1 > sizeof(filter->bytes) ||
	    !code_filters(in->code, in->len))
		return -1;
	*filter = (struct call_filter){
		.len = in->len,
		.trap = in->len + checks + JUMP,
	};
	memcpy(filter->bytes, in->code, in->len);
	for (size_t i = 0; i < in->n; i++)
		check_append(filter, in->reg, in->numbers[i]);
	if (x86_jump_write(va + filter->len, in->call, JUMP,
			   filter->bytes + filter->len))
		return -1;
	filter->bytes[filter->trap] = arch_x86_64.trap[0];
	filter->len = filter->trap + 1;
	return 0;
}
