/*
 * The x86-64 arch: its table, and decoding and printing instructions with
 * Zydis.  Never emulates (prepare.c, run.c) or relocates (slot.c, fragment.c).
 */
#include <elf.h>
#include <signal.h>
#include <string.h>

#include "arch/x86_64/x86.h"
#include "util/fail.h"

/* Minimal decoding is three times as fast as full decoding. */
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

/* Of int: what int3 does, in two bytes. */
enum { INT_TRAP = 3 };

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
		return INSN_SYSCALL;
	case ZYDIS_MNEMONIC_INT:
		return zinsn->raw.imm[0].value.u == INT_TRAP ? INSN_TRAP :
							       INSN_SYSCALL;
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

	if (x86_quick(code, size, addr, insn))
		return 0;
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(decoder(true), NULL, code,
						      size, &zinsn)))
		return -1;
	insn->addr = addr;
	insn->len = zinsn.length;
	insn->kind = x86_kind(&zinsn);
	insn->flow = FLOW_PLAIN;
	insn->skips = false;
	insn->pushes = false;
	insn->reenters = false;
	insn->mentions = insn->kind == INSN_PLAIN;
	insn->target = zinsn.raw.imm[0].is_relative ?
			       addr + zinsn.length + zinsn.raw.imm[0].value.u :
			       0;
	return 0;
}

int
x86_decode(const uint8_t *code, size_t size, ZydisDecodedInstruction *zinsn,
	   ZydisDecodedOperand *operands)
{
	const ZydisDecoder *full = decoder(false);

	if (ZYAN_FAILED(operands ? ZydisDecoderDecodeFull(full, code, size,
							  zinsn, operands) :
				   ZydisDecoderDecodeInstruction(
					   full, NULL, code, size, zinsn)))
		return -1;
	return 0;
}

/*
 * Spell a condition as objdump(1) does: jg, setae, cmovne.  Zydis takes the
 * other of the two names that manuals give (Intel SDM, volume 1, appendix B).
 */
static void
condition_spell(char *text)
{
	static const char *const stems[] = { "j", "set", "cmov" };
	/* Those that begin like others come first. */
	static const struct {
		const char *zydis, *objdump;
	} conditions[] = {
		{ "nbe", "a" }, { "nb", "ae" }, { "nle", "g" },
		{ "nl", "ge" }, { "nz", "ne" }, { "z", "e" },
	};
	char *condition = NULL;

	for (size_t i = 0; i < sizeof(stems) / sizeof(stems[0]); i++)
		if (!strncmp(text, stems[i], strlen(stems[i])))
			condition = text + strlen(stems[i]);
	for (size_t i = 0;
	     condition && i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		const char *to = conditions[i].objdump;
		size_t n = strlen(conditions[i].zydis), m = strlen(to);

		if (strncmp(condition, conditions[i].zydis, n) != 0)
			continue;
		memcpy(condition, to, m);
		memmove(condition + m, condition + n,
			strlen(condition + n) + 1);
		return;
	}
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
	    ZYAN_FAILED(ZydisFormatterSetProperty(
		    &formatter, ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS,
		    ZYDIS_SIGNEDNESS_UNSIGNED)) ||
	    ZYAN_FAILED(ZydisFormatterFormatInstruction(
		    &formatter, &zinsn, operands, zinsn.operand_count_visible,
		    buf, buflen, addr, NULL)))
		return -1;
	condition_spell(buf);
	return 0;
}

/*
 * mov imm32, %reg, mov imm8, %al and push imm8; other instructions have the
 * same four bytes and sign-extend them.
 */
static bool
x86_has_number(const uint8_t *code, size_t size, uint32_t number)
{
	uint8_t wide[4] = { number, number >> 8, number >> 16, number >> 24 };
	uint8_t narrow[2] = { 0xb0, number }, push[2] = { 0x6a, number };

	return memmem(code, size, wide, sizeof(wide)) ||
	       (number < 256 && memmem(code, size, narrow, sizeof(narrow))) ||
	       (number < 128 && memmem(code, size, push, sizeof(push)));
}

/* A function begins with its first instruction. */
static uint64_t
x86_first(uint64_t addr)
{
	return addr;
}

/* GDB's features/i386/64bit-core.xml. */
static const struct wire_reg wire[] = {
	{ 8, X86_RAX }, { 8, X86_RBX },	   { 8, X86_RCX }, { 8, X86_RDX },
	{ 8, X86_RSI }, { 8, X86_RDI },	   { 8, X86_RBP }, { 8, X86_RSP },
	{ 8, X86_R8 },	{ 8, X86_R9 },	   { 8, X86_R10 }, { 8, X86_R11 },
	{ 8, X86_R12 }, { 8, X86_R13 },	   { 8, X86_R14 }, { 8, X86_R15 },
	{ 8, X86_RIP }, { 4, X86_EFLAGS }, { 4, X86_CS },  { 4, X86_SS },
	{ 4, X86_DS },	{ 4, X86_ES },	   { 4, X86_FS },  { 4, X86_GS },
};

static uint64_t
x86_decoder(void)
{
	return ZydisGetVersion();
}

const struct arch arch_x86_64 = {
	.name = "x86-64",
	.machine = EM_X86_64,
	.elf_class = ELFCLASS64,
	.trap = { 0xcc },
	.trap_len = 1,
	.trap_pc = 1,
	.trap_signal = SIGTRAP,
	.syscall = { 0x0f, 0x05 },
	.syscall_len = 2,
	.reg_pc = X86_RIP,
	.reg_sp = X86_RSP,
	.reg_fp = X86_RBP,
	.reg_thread = X86_GS_BASE,
	.thread_reg_name = "gs",
	/*
	 * 0x2b selects the user data segment, which has no base of its own;
	 * arch_prctl sets the selector to 0.
	 */
	.reg_thread_mark = X86_GS,
	.thread_reg_mark = 0x2b,
	.thread_reg_call = "arch_prctl",
	.wire = wire,
	.nwire = sizeof(wire) / sizeof(*wire),
	.decoder = x86_decoder,
	.decode = x86_insn,
	.effect = x86_effect,
	.addressless = x86_addressless,
	.handler = x86_handler,
	.classes = x86_classes,
	.print = x86_print,
	.hint = x86_hint,
	.has_number = x86_has_number,
	.first = x86_first,
	.emul_prepare = x86_emul_prepare,
	.emul_run = x86_emul_run,
	.locked = x86_locked,
	.step_shows = x86_step_shows,
	.slot_make = x86_slot_make,
	.filter_make = x86_filter_make,
	.switch_make = x86_switch_make,
	.switch_leave = x86_switch_leave,
	.entry_make = x86_entry_make,
	.entry_leave = x86_entry_leave,
	.entry_regs = x86_entry_regs,
	.all_flags = X86_FLAGS,
	.motion = x86_motion,
	.emit = {
		.probe_flags = x86_probe_flags,
		.reg_saved = X86_RAX,
		.jump_len = 5,
		.chain_len = 2,
		/* cc cc cc cc and, for 60 is invalid in 64-bit code, cc cc cc 60 */
		.springs = { -0x33333334, 0x60cccccc },
		.fragment_size = x86_fragment_size,
		.fragment_reaches = x86_fragment_reaches,
		.fragment_write = x86_fragment_write,
		.dispatch_load = x86_dispatch_load,
		.index_touch = x86_index_touch,
		.computes = x86_computes,
		.fragment_inside = x86_fragment_inside,
		.jump_write = x86_jump_write,
		.injected_write = x86_injected_write,
		.injected_result = x86_injected_result,
		.call_write = x86_call_write,
		.record_cost = x86_record_cost,
		.call_len = 5,
	},
};
