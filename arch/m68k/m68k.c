/*
 * The 68000 archs: their tables, and decoding and printing instructions.
 * capstone tells which instructions exist and how they are written.  Their
 * lengths and targets are read from the words here and in size.c, because
 * capstone 4 gets those of bsr.l, fmove.x, btst Dn,#imm and others wrong.
 */
#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "arch/capstone.h"
#include "arch/m68k/m68k.h"
#include "util/fail.h"

/* e_flags of GNU ld (include/elf/m68k.h); 0 means a 68020 or later. */
enum {
	FLAGS_MASK = 0x0381800f,	/* all CPUs, and types of ColdFire */
	FLAGS_68000 = 0x01000000,
};

/* capstone's handle for a CPU, and room for the instruction it decodes. */
struct decoder {
	csh handle;
	cs_insn *insn;
};

static const struct decoder *
decoder(bool full)
{
	static struct decoder decoders[2];
	struct decoder *d = &decoders[full];

	if (!d->insn)
		d->handle = capstone_open(CS_ARCH_M68K,
					  CS_MODE_BIG_ENDIAN |
						  (full ? CS_MODE_M68K_040 :
							  CS_MODE_M68K_000),
					  &d->insn);
	return d;
}

/*
 * Does the CPU have the instruction of len bytes?  Then d->insn has its text.
 * capstone may read past the instruction, so it gets a copy with zeros behind.
 */
static bool
instruction_known(const struct decoder *d, const struct m68k_code *code,
		  size_t len)
{
	uint8_t bytes[2 * INSN_MAX] = { 0 };
	const uint8_t *p = bytes;
	size_t size = sizeof(bytes);
	uint64_t addr = code->addr;

	for (size_t i = 0; i < len; i++)
		bytes[i] = code->p[i];
	return capstone_next(d->handle, &p, &size, &addr, d->insn) &&
	       d->insn->id != M68K_INS_INVALID;
}

static uint64_t
address(uint64_t va)
{
	return (uint32_t)va;
}

/* jmp and jsr, to a known address or to a computed one. */
static enum insn_kind
kind_through(const struct m68k_code *code, uint16_t op, uint64_t *target)
{
	bool call = !(op & 0x40);
	struct place place = m68k_ea_place(code, op, 2, 4);

	if (place.kind != PLACE_MEM || place.reg != REG_NONE ||
	    place.index != REG_NONE)
		return call ? INSN_CALL_INDIRECT : INSN_JUMP_INDIRECT;
	*target = address((uint64_t)place.disp);
	return call ? INSN_CALL : INSN_JUMP;
}

static enum insn_kind
kind_branch(const struct m68k_code *code, uint16_t op, uint64_t *target)
{
	size_t len = m68k_size(code), size = len == 2 ? 1 : len - 2;
	int64_t disp = size == 1 ? (int8_t)op : m68k_signed(code, 2, size);

	*target = address(code->addr + 2 + (uint64_t)disp);
	switch (op >> 8 & 15) {
	case 0:
		return INSN_JUMP;
	case 1:
		return INSN_CALL;
	default:
		return INSN_BRANCH;
	}
}

static enum insn_kind
kind_float(const struct m68k_code *code, uint16_t op, uint64_t *target)
{
	size_t offset = 2, size = 2;

	switch (op >> 6 & 7) {
	case 3:
		size = 4;
		break;
	case 2:
		/* fbf .+2 is fnop, which is no branch. */
		if (op == 0xf280 && !m68k_word(code, 2))
			return INSN_PLAIN;
		break;
	case 1:
		if ((op & 0x38) != 8)
			return INSN_PLAIN;
		offset = 4;	/* fdbcc, behind its condition */
		break;
	default:
		return INSN_PLAIN;
	}
	*target = address(code->addr + offset +
			  (uint64_t)m68k_signed(code, offset, size));
	return INSN_BRANCH;
}

enum insn_kind
m68k_kind(const struct m68k_code *code, uint64_t *target)
{
	uint16_t op = m68k_word(code, 0);

	*target = 0;
	switch (op) {
	case 0x4e73:		/* rte */
	case 0x4e74:		/* rtd */
	case 0x4e75:		/* rts */
	case 0x4e77:		/* rtr */
		return INSN_RETURN;
	case 0x4afc:		/* illegal */
	case 0x4e72:		/* stop */
		return INSN_STOP;
	case 0x4e40:		/* trap #0: Linux's system call */
		return INSN_SYSCALL;
	}
	if ((op & 0xfff0) == 0x4e40 || (op & 0xfff8) == 0x4848)
		return INSN_TRAP;
	if ((op & 0xfff0) == 0x06c0)
		return INSN_RETURN;	/* rtm */
	if ((op & 0xff80) == 0x4e80)
		return kind_through(code, op, target);
	if (op >> 12 == 6)
		return kind_branch(code, op, target);
	if ((op & 0xf0f8) == 0x50c8) {
		*target = address(code->addr + 2 +
				  (uint64_t)m68k_signed(code, 2, 2));
		return INSN_BRANCH;
	}
	if (op >> 9 == 0x79)
		return kind_float(code, op, target);
	return INSN_PLAIN;
}

static int
decode(const struct m68k_code *code, struct insn *insn)
{
	size_t len = m68k_size(code);

	if (code->size < 2 || !len || len > code->size ||
	    !instruction_known(decoder(code->full), code, len))
		return -1;
	*insn = (struct insn){ .addr = code->addr, .len = (uint8_t)len };
	insn->kind = m68k_kind(code, &insn->target);
	return 0;
}

static int
m68000_decode(const uint8_t *p, size_t size, uint64_t addr, struct insn *insn)
{
	struct m68k_code code = m68k_code_of(p, size, addr, false);

	return decode(&code, insn);
}

static int
m68k_decode(const uint8_t *p, size_t size, uint64_t addr, struct insn *insn)
{
	struct m68k_code code = m68k_code_of(p, size, addr, true);

	return decode(&code, insn);
}

static int
print(const struct m68k_code *code, char *buf, size_t buflen)
{
	const struct decoder *d = decoder(code->full);
	size_t len = m68k_size(code);
	int n;

	if (!len || len > code->size || !instruction_known(d, code, len))
		return -1;
	if (code->full && m68k_word(code, 0) == 0x61ff)
		n = snprintf(buf, buflen, "bsr.l $%" PRIx64,
			     address(code->addr + 2 +
				     (uint64_t)m68k_signed(code, 2, 4)));
	else
		n = snprintf(buf, buflen, "%s%s%s", d->insn->mnemonic,
			     *d->insn->op_str ? " " : "", d->insn->op_str);
	return n >= 0 && (size_t)n < buflen ? 0 : -1;
}

static int
m68000_print(const uint8_t *p, size_t size, uint64_t addr, char *buf,
	     size_t buflen)
{
	struct m68k_code code = m68k_code_of(p, size, addr, false);

	return print(&code, buf, buflen);
}

static int
m68k_print(const uint8_t *p, size_t size, uint64_t addr, char *buf,
	   size_t buflen)
{
	struct m68k_code code = m68k_code_of(p, size, addr, true);

	return print(&code, buf, buflen);
}

static uint64_t
m68k_first(uint64_t addr)
{
	return addr;
}

/* A simulator steps without setting the trace bit. */
static bool
m68k_step_shows(const uint8_t *code, size_t size)
{
	return false;
}

/* GDB's features/m68k-core.xml. */
static const struct wire_reg wire[] = {
	{ 4, M68K_D0 },	    { 4, M68K_D0 + 1 }, { 4, M68K_D0 + 2 },
	{ 4, M68K_D0 + 3 }, { 4, M68K_D0 + 4 }, { 4, M68K_D0 + 5 },
	{ 4, M68K_D0 + 6 }, { 4, M68K_D0 + 7 }, { 4, M68K_A0 },
	{ 4, M68K_A0 + 1 }, { 4, M68K_A0 + 2 }, { 4, M68K_A0 + 3 },
	{ 4, M68K_A0 + 4 }, { 4, M68K_A0 + 5 }, { 4, M68K_A0 + 6 },
	{ 4, M68K_SP },	    { 4, M68K_PS },	{ 4, M68K_PC },
};

const struct arch arch_m68000 = {
	.name = "68000",
	.machine = EM_68K,
	.elf_class = ELFCLASS32,
	.big_endian = true,
	.flags_mask = FLAGS_MASK,
	.flags = FLAGS_68000,
	.trap = { 0x4a, 0xfc },
	.trap_len = 2,
	.trap_pc = 0,
	.trap_signal = SIGILL,
	.syscall = { 0x4e, 0x40 },
	.syscall_len = 2,
	.reg_pc = M68K_PC,
	.reg_sp = M68K_SP,
	.reg_fp = M68K_A6,
	.wire = wire,
	.nwire = sizeof(wire) / sizeof(*wire),
	.load = capstone_load,
	.decode = m68000_decode,
	.effect = m68000_effect,
	.print = m68000_print,
	.first = m68k_first,
	.emul_prepare = m68k_emul_prepare,
	.emul_run = m68k_emul_run,
	.step_shows = m68k_step_shows,
	.slot_make = m68000_slot_make,
};

const struct arch arch_m68k = {
	.name = "68020",
	.machine = EM_68K,
	.elf_class = ELFCLASS32,
	.big_endian = true,
	.flags_mask = FLAGS_MASK,
	.trap = { 0x4a, 0xfc },
	.trap_len = 2,
	.trap_pc = 0,
	.trap_signal = SIGILL,
	.syscall = { 0x4e, 0x40 },
	.syscall_len = 2,
	.reg_pc = M68K_PC,
	.reg_sp = M68K_SP,
	.reg_fp = M68K_A6,
	.wire = wire,
	.nwire = sizeof(wire) / sizeof(*wire),
	.load = capstone_load,
	.decode = m68k_decode,
	.effect = m68k_effect,
	.print = m68k_print,
	.first = m68k_first,
	.emul_prepare = m68k_emul_prepare,
	.emul_run = m68k_emul_run,
	.step_shows = m68k_step_shows,
	.slot_make = m68k_slot_make,
};
