/*
 * The x86-64 arch: its table, and decoding and printing instructions with
 * Zydis.  Emulation is in prepare.c and run.c, relocation in slot.c.
 */
#include <elf.h>

#include "arch/x86_64/x86.h"
#include "util/fail.h"

/* Minimal decoding is three times as quick, and enough for a struct insn. */
static const ZydisDecoder *
decoder(bool minimal)
{
	static ZydisDecoder decoders[2];
	static bool ready;

	if (!ready) {
		for (int i = 0; i < 2; i++)
			must(ZYAN_SUCCESS(ZydisDecoderInit(
				&decoders[i], ZYDIS_MACHINE_MODE_LONG_64,
				ZYDIS_STACK_WIDTH_64)));
		must(ZYAN_SUCCESS(ZydisDecoderEnableMode(
			&decoders[1], ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE)));
		ready = true;
	}
	return &decoders[minimal];
}

enum insn_kind
x86_kind(const ZydisDecodedInstruction *zinsn)
{
	bool direct = zinsn->raw.imm[0].is_relative;

	switch (zinsn->mnemonic) {
	case ZYDIS_MNEMONIC_JMP:
		return direct ? INSN_JUMP : INSN_JUMP_INDIRECT;
	case ZYDIS_MNEMONIC_CALL:
		return direct ? INSN_CALL : INSN_CALL_INDIRECT;
	case ZYDIS_MNEMONIC_JB:
	case ZYDIS_MNEMONIC_JBE:
	case ZYDIS_MNEMONIC_JL:
	case ZYDIS_MNEMONIC_JLE:
	case ZYDIS_MNEMONIC_JNB:
	case ZYDIS_MNEMONIC_JNBE:
	case ZYDIS_MNEMONIC_JNL:
	case ZYDIS_MNEMONIC_JNLE:
	case ZYDIS_MNEMONIC_JNO:
	case ZYDIS_MNEMONIC_JNP:
	case ZYDIS_MNEMONIC_JNS:
	case ZYDIS_MNEMONIC_JNZ:
	case ZYDIS_MNEMONIC_JO:
	case ZYDIS_MNEMONIC_JP:
	case ZYDIS_MNEMONIC_JS:
	case ZYDIS_MNEMONIC_JZ:
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
	case ZYDIS_MNEMONIC_XBEGIN:
		return INSN_BRANCH;
	case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_UIRET:
		return INSN_RETURN;
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_INT:
		return INSN_SYSCALL;
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
		return INSN_TRAP;
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
		return INSN_STOP;
	default:
		return INSN_PLAIN;
	}
}

static int
x86_insn(const uint8_t *code, size_t size, uint64_t addr, struct insn *insn)
{
	ZydisDecodedInstruction zinsn;

	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(decoder(true), NULL,
						      code, size, &zinsn)))
		return -1;
	insn->addr = addr;
	insn->len = zinsn.length;
	insn->kind = x86_kind(&zinsn);
	insn->flow = FLOW_PLAIN;
	insn->target = zinsn.raw.imm[0].is_relative ?
		addr + zinsn.length + zinsn.raw.imm[0].value.u : 0;
	return 0;
}

int
x86_decode(const uint8_t *code, size_t size, ZydisDecodedInstruction *zinsn,
	   ZydisDecodedOperand *operands)
{
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(decoder(false), code, size,
					       zinsn, operands)))
		return -1;
	return 0;
}

static int
x86_print(const uint8_t *code, size_t size, uint64_t addr, char *buf,
	  size_t buflen)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zinsn;
	ZydisFormatter formatter;

	if (x86_decode(code, size, &zinsn, operands) ||
	    ZYAN_FAILED(ZydisFormatterInit(&formatter,
					   ZYDIS_FORMATTER_STYLE_ATT)) ||
	    ZYAN_FAILED(ZydisFormatterFormatInstruction(
		    &formatter, &zinsn, operands, zinsn.operand_count_visible,
		    buf, buflen, addr, NULL)))
		return -1;
	return 0;
}

/* Unlike other CPUs' functions, these begin with an instruction. */
static uint64_t
x86_first(uint64_t addr)
{
	return addr;
}

const struct arch arch_x86_64 = {
	.name = "x86-64",
	.machine = EM_X86_64,
	.elf_class = ELFCLASS64,
	.trap = { 0xcc },
	.trap_len = 1,
	.trap_pc = 1,
	.syscall = { 0x0f, 0x05 },
	.syscall_len = 2,
	.reg_pc = X86_RIP,
	.reg_sp = X86_RSP,
	.reg_fp = X86_RBP,
	.decode = x86_insn,
	.effect = x86_effect,
	.print = x86_print,
	.first = x86_first,
	.emul_prepare = x86_emul_prepare,
	.emul_run = x86_emul_run,
	.step_shows = x86_step_shows,
	.slot_make = x86_slot_make,
};
