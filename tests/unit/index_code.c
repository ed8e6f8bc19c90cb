/*
 * Probes of x86-64 that find an indirect jump's edge by the index, run: for each
 * form of operand that the instruction behind them may have, each entry's
 * counter alone is added to, all registers are as they were, and an index that
 * is too large counts nothing and leads elsewhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "tests/lib/native.h"
#include "tests/lib/random.h"

#include <cmocka.h>

enum {
	ENTRIES = 5,
	SLOTS = 64,		/* offset in the page */
	CODE = NATIVE_CODE,
	AWAY = NATIVE_CODE + 0x400,
	TABLE = NATIVE_SCRATCH + 0x40,
	DISP = 0x18,
};

static uint64_t page[SLOTS / 8 + ENTRIES + 1];
static struct fragment fragment;

/* Registers as ModRM numbers them. */
static const uint8_t numbered[16] = {
	X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI,
	X86_R8,	 X86_R9,  X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

static void
fragment_put(const uint8_t *code, size_t len, int32_t operand)
{
	struct fragment_at at = {
		.va = CODE,
		.to = AWAY,
		.slot = SLOTS,
		.entries = ENTRIES,
		.code = code,
	};

	fragment = (struct fragment){
		.kind = FRAGMENT_INDEX,
		.operand = operand,
		.load = arch_x86_64.emit.index_touch(code, len),
	};
	assert_int_not_equal(fragment.load, 0);
	fragment.size = (uint8_t)arch_x86_64.emit.fragment_size(&fragment);
	assert_int_equal(arch_x86_64.emit.fragment_write(&fragment, &at,
							 (uint8_t *)CODE),
			 0);
	native_landing(CODE + fragment.size, 0);
	native_landing(AWAY, 1);
}

/* Run it with this index; base is REG_NONE if the table's address is in it. */
static void
fragment_run(uint8_t base, uint8_t index, uint64_t i, struct regs *in,
	     struct regs *out)
{
	memset(page, 0, sizeof(page));
	*in = (struct regs){ 0 };
	for (unsigned r = 0; r < X86_ORIG_RAX; r++)
		in->r[r] = random_below(UINT32_MAX) * UINT64_C(0x100000001);
	in->r[X86_RSP] = random_below(UINT32_MAX);
	in->r[X86_EFLAGS] = 0x202;
	in->r[index] = i;
	/* The touched memory is there whatever the index is. */
	if (base != REG_NONE)
		in->r[base] = TABLE - DISP - (i < ENTRIES ? 0 : 8 * i);
	native_run(CODE, in, out);
}

static void
run_check(const struct regs *in, const struct regs *out, uint64_t i,
	  uint64_t operand)
{
	assert_int_equal(out->r[X86_RIP], i >= ENTRIES);
	for (unsigned r = 0; r < X86_ORIG_RAX; r++)
		assert_int_equal(out->r[r], in->r[r]);
	assert_int_equal(out->r[X86_RSP], in->r[X86_RSP]);
	for (unsigned k = 0; k <= ENTRIES; k++)
		assert_int_equal(page[SLOTS / 8 + k],
				 k == i && i < ENTRIES ? operand : 0);
}

static void
code_try(const uint8_t *code, size_t len, uint8_t base, uint8_t index)
{
	static const uint64_t larger[] = {
		ENTRIES,
		ENTRIES + 1,
		UINT64_C(1) << 32,
		UINT64_MAX,
		(UINT64_C(1) << 32) + 2,
	};
	static const int32_t operands[] = { 1, -1000 };
	size_t nlarger = base == REG_NONE ? 1 : 5;
	struct regs in, out;

	for (unsigned k = 0; k < 2; k++) {
		uint64_t operand = (uint64_t)(int64_t)operands[k];

		fragment_put(code, len, operands[k]);
		for (uint64_t i = 0; i < ENTRIES; i++) {
			fragment_run(base, index, i, &in, &out);
			run_check(&in, &out, i, operand);
		}
		for (size_t i = 0; i < nlarger; i++) {
			fragment_run(base, index, larger[i], &in, &out);
			run_check(&in, &out, larger[i], operand);
		}
	}
}

/* jmp *disp8(base, index, 8), and mov from there to each register. */
static void
test_bases(void **state)
{
	for (unsigned b = 0; b < 16; b++)
		for (unsigned i = 0; i < 16; i++) {
			uint8_t rex = (uint8_t)(0x40 | i >> 3 << 1 | b >> 3);
			uint8_t sib = (uint8_t)(0xc0 | (i & 7) << 3 | (b & 7));

			if (i == 4 || i == b)
				continue;
			code_try((uint8_t[]){ 0x3e, rex, 0xff, 0x64, sib,
					      DISP },
				 6, numbered[b], numbered[i]);
			for (unsigned to = 0; to < 16; to += 5)
				code_try((uint8_t[]){ (uint8_t)(rex | 8 |
								to >> 3 << 2),
						      0x8b,
						      (uint8_t)(0x44 |
								(to & 7) << 3),
						      sib, DISP },
					 5, numbered[b], numbered[i]);
		}
}

/* jmp *disp32(, index, 8) */
static void
test_places(void **state)
{
	uint32_t table = TABLE;

	for (unsigned i = 0; i < 16; i++) {
		uint8_t code[8] = { (uint8_t)(0x40 | i >> 3 << 1), 0xff, 0x24,
				    (uint8_t)(0xc5 | (i & 7) << 3) };

		memcpy(code + 4, &table, sizeof(table));
		if (i != 4)
			code_try(code, sizeof(code), REG_NONE, numbered[i]);
	}
}

/*
 * Stop at each instruction: only its end counts.  All begin in between but the
 * first.
 */
static void
test_insides(void **state)
{
	const uint8_t code[] = { 0xff, 0x64, 0xca, DISP };
	unsigned between = 0;
	struct regs in, out;

	fragment_put(code, sizeof(code), 1);
	for (unsigned offset = 0; offset < fragment.size; offset++) {
		enum fragment_inside inside = arch_x86_64.emit.fragment_inside(
			&fragment, offset);

		if (inside == INSIDE_NOT)
			continue;
		assert_int_equal(inside,
				 offset ? INSIDE_BETWEEN : INSIDE_START);
		between += inside == INSIDE_BETWEEN;
		fragment_put(code, sizeof(code), 1);
		native_landing(CODE + offset, 0);
		fragment_run(X86_RDX, X86_RCX, 2, &in, &out);
		assert_int_equal(out.r[X86_RIP], 0);
		assert_int_equal(page[SLOTS / 8 + 2], 0);
	}
	assert_int_equal(between, 3);
}

static void
test_refused(void **state)
{
	static const uint8_t codes[][6] = {
		{ 0xff, 0xe0 },				/* jmp *%rax */
		{ 0xff, 0x60, 8 },			/* jmp *8(%rax) */
		{ 0xff, 0x24, 0x88 },			/* (%rax, %rcx, 4) */
		{ 0xff, 0x24, 0x24 },			/* (%rsp) */
		{ 0xff, 0x24, 0xe0 },			/* (%rax), by scale 8 */
		{ 0xff, 0x14, 0xc8 },			/* call */
		{ 0x8b, 0x04, 0xc8 },			/* mov to %eax */
		{ 0x48, 0x63, 0x04, 0xc8 },		/* movslq */
		{ 0x65, 0x48, 0x8b, 0x04, 0xc8 },	/* %gs: */
		{ 0x67, 0x48, 0x8b, 0x04, 0xc8 },	/* (%eax, %ecx, 8) */
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		assert_int_equal(arch_x86_64.emit.index_touch(codes[i], 6), 0);
}

/* What may be between the load and the jump. */
static void
test_computes(void **state)
{
	static const uint8_t good[][7] = {
		{ 0x48, 0xc1, 0xe3, 0x04 },	/* shl $4, %rbx */
		{ 0x4c, 0x01, 0xd3 },		/* add %r10, %rbx */
		{ 0x48, 0x8d, 0x4b, 0x40 },	/* lea 64(%rbx), %rcx */
		{ 0x89, 0xf0 },			/* mov %esi, %eax */
		{ 0x48, 0x8d, 0x44, 0x24, 8 },	/* lea 8(%rsp), %rax */
		{ 0x0f, 0xb6, 0xc0 },		/* movzbl %al, %eax */
		{ 0x0f, 0x1f, 0x40, 0 },	/* nopl (%rax) */
	};
	static const uint8_t bad[][7] = {
		{ 0x48, 0x8b, 0x0f },		/* mov (%rdi), %rcx */
		{ 0x48, 0x89, 0x0f },		/* mov %rcx, (%rdi) */
		{ 0x48, 0xf7, 0xf1 },		/* div %rcx */
		{ 0x48, 0x83, 0xec, 8 },	/* sub $8, %rsp */
		{ 0x50 },			/* push %rax */
		{ 0x48, 0x39, 0x0f },		/* cmp %rcx, (%rdi) */
		{ 0x8e, 0xd8 },			/* mov %eax, %ds */
		{ 0x0f, 0x05 },			/* syscall */
		{ 0x06 },			/* no instruction */
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(arch_x86_64.emit.computes(good[i], 7));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(arch_x86_64.emit.computes(bad[i], 7));
}

static int
group_open(void **state)
{
	native_open();
	random_open();
	return syscall(SYS_arch_prctl, ARCH_SET_GS, page) ? -1 : 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bases),	 cmocka_unit_test(test_places),
		cmocka_unit_test(test_insides),	 cmocka_unit_test(test_refused),
		cmocka_unit_test(test_computes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("index_code", tests, group_open,
					   NULL);
}
