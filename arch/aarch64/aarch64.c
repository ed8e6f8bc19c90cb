/*
 * The aarch64 arch: its table, and decoding and printing instructions.  Every
 * instruction has four bytes, and its bits tell whether it transfers control
 * (Arm Architecture Reference Manual, C4.1), whatever extensions the CPU has.
 * capstone only prints instructions.
 */
#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "arch/aarch64/aarch64.h"
#include "arch/capstone.h"
#include "util/fail.h"

enum { LEN = 4 };

bool
a64_word(const uint8_t *code, size_t size, uint32_t *word)
{
	if (size < LEN)
		return false;
	*word = (uint32_t)code[0] | (uint32_t)code[1] << 8 |
		(uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
	return true;
}

bool
a64_is_adr(uint32_t word)
{
	return (word & 0x1f000000) == 0x10000000;
}

uint64_t
a64_adr(uint32_t word, uint64_t addr)
{
	int64_t disp = a64_signed(word, 5, 19) * 4 + a64_field(word, 29, 2);

	if (word >> 31)
		return (addr & ~UINT64_C(0xfff)) + (uint64_t)disp * 4096;
	return addr + (uint64_t)disp;
}

/* Branches to a register: C4.1.65 and the following. */
static enum insn_kind
kind_register(uint32_t word)
{
	switch (a64_field(word, 21, 4)) {
	case 0:			/* br */
	case 8:			/* braa, brab */
		return INSN_JUMP_INDIRECT;
	case 1:			/* blr */
	case 9:
		return INSN_CALL_INDIRECT;
	case 2:			/* ret, retaa */
	case 4:			/* eret, drps */
	case 5:
		return INSN_RETURN;
	default:
		return INSN_STOP;
	}
}

static enum insn_kind
kind_exception(uint32_t word)
{
	switch (word & 0xffe0001f) {
	case 0xd4000001:	/* svc */
		return INSN_SYSCALL;
	case 0xd4200000:	/* brk */
		return INSN_TRAP;
	default:		/* hlt, hvc, smc, dcps */
		return INSN_STOP;
	}
}

enum insn_kind
a64_kind(uint32_t word, uint64_t addr, uint64_t *target)
{
	*target = 0;
	if ((word & 0x7c000000) == 0x14000000) {
		*target = addr + (uint64_t)(a64_signed(word, 0, 26) * 4);
		return word >> 31 ? INSN_CALL : INSN_JUMP;
	}
	if ((word & 0xff000000) == 0x54000000) {
		*target = addr + (uint64_t)(a64_signed(word, 5, 19) * 4);
		return a64_field(word, 0, 4) >= 14 ? INSN_JUMP : INSN_BRANCH;
	}
	if ((word & 0x7e000000) == 0x34000000) {	/* cbz, cbnz */
		*target = addr + (uint64_t)(a64_signed(word, 5, 19) * 4);
		return INSN_BRANCH;
	}
	if ((word & 0x7e000000) == 0x36000000) {	/* tbz, tbnz */
		*target = addr + (uint64_t)(a64_signed(word, 5, 14) * 4);
		return INSN_BRANCH;
	}
	if ((word & 0xfe000000) == 0xd6000000)
		return kind_register(word);
	if ((word & 0xff000000) == 0xd4000000)
		return kind_exception(word);
	if (!(word & 0xffff0000))		/* udf */
		return INSN_STOP;
	return INSN_PLAIN;
}

static int
a64_decode(const uint8_t *code, size_t size, uint64_t addr, struct insn *insn)
{
	uint32_t word;
	unsigned group;

	if (!a64_word(code, size, &word) || addr % LEN)
		return -1;
	group = a64_field(word, 25, 4);
	if (group == 1 || group == 3)	/* unallocated */
		return -1;
	*insn = (struct insn){ .addr = addr, .len = LEN };
	insn->kind = a64_kind(word, addr, &insn->target);
	return 0;
}

static int
a64_print(const uint8_t *code, size_t size, uint64_t addr, char *buf,
	  size_t buflen)
{
	static csh handle;
	static cs_insn *insn;
	struct insn known;
	uint32_t word;
	int n;

	if (a64_decode(code, size, addr, &known) ||
	    !a64_word(code, size, &word))
		return -1;
	if (!insn)
		handle = capstone_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN,
				       &insn);
	size = LEN;
	if (capstone_next(handle, &code, &size, &addr, insn))
		n = snprintf(buf, buflen, "%s%s%s", insn->mnemonic,
			     *insn->op_str ? " " : "", insn->op_str);
	else
		n = snprintf(buf, buflen, ".inst 0x%08" PRIx32, word);
	return n >= 0 && (size_t)n < buflen ? 0 : -1;
}

static uint64_t
a64_first(uint64_t addr)
{
	return addr;
}

static bool
a64_step_shows(const uint8_t *code, size_t size)
{
	return false;
}

/* GDB's features/aarch64-core.xml. */
#define X(n) \
	{ \
		8, A64_X0 + (n) \
	}
static const struct wire_reg wire[] = {
	X(0),	       X(1),
	X(2),	       X(3),
	X(4),	       X(5),
	X(6),	       X(7),
	X(8),	       X(9),
	X(10),	       X(11),
	X(12),	       X(13),
	X(14),	       X(15),
	X(16),	       X(17),
	X(18),	       X(19),
	X(20),	       X(21),
	X(22),	       X(23),
	X(24),	       X(25),
	X(26),	       X(27),
	X(28),	       X(29),
	X(30),	       { 8, A64_SP },
	{ 8, A64_PC }, { 4, A64_CPSR },
};

const struct arch arch_aarch64 = {
	.name = "aarch64",
	.machine = EM_AARCH64,
	.elf_class = ELFCLASS64,
	.trap = { 0x00, 0x00, 0x20, 0xd4 },	/* brk #0 */
	.trap_len = 4,
	.trap_pc = 0,
	.trap_signal = SIGTRAP,
	.syscall = { 0x01, 0x00, 0x00, 0xd4 },
	.syscall_len = 4,
	.reg_pc = A64_PC,
	.reg_sp = A64_SP,
	.reg_fp = A64_FP,
	.wire = wire,
	.nwire = sizeof(wire) / sizeof(*wire),
	.load = capstone_load,
	.decode = a64_decode,
	.effect = a64_effect,
	.print = a64_print,
	.first = a64_first,
	.emul_prepare = a64_emul_prepare,
	.emul_run = a64_emul_run,
	.step_shows = a64_step_shows,
	.slot_make = a64_slot_make,
};
