/*
 * Relocation: an instruction run in a slot, near or far, leaves the same as
 * run in its own place, by the CPU's own word.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/lib/insns.h"

static const struct arch *const arch = &arch_x86_64;

enum { CODES = 30000, STATES = 8 };

static const uint64_t near_slot = 0x50000000, far_slot = 0x7e0000000000;

#define ALL (B | W | D | Q)
#define WDQ (W | D | Q)

static const struct shape shapes[] = {
	{ "add rm, r", 0, 0x01, MODRM, 0, ALL, 0, 0 },
	{ "adc r, rm", 0, 0x13, MODRM, 0, ALL, 0, 0 },
	{ "sbb rm, imm", 0, 0x81, DIGIT, 3, ALL, IMM_Z, 0 },
	{ "cmp rm, imm8", 0, 0x83, DIGIT, 7, WDQ, 1, 0 },
	{ "mov rm, r", 0, 0x89, MODRM, 0, ALL, 0, 0 },
	{ "mov r, rm", 0, 0x8b, MODRM, 0, ALL, 0, 0 },
	{ "mov rm, imm", 0, 0xc7, DIGIT, 0, ALL, IMM_Z, 0 },
	{ "mov r, imm", 0, 0xb8, OPREG, 0, WDQ, IMM_V, 0 },
	{ "lea", 0, 0x8d, MODRM, 0, WDQ, 0, ONLY_MEM },
	{ "xchg", 0, 0x87, MODRM, 0, ALL, 0, 0 },
	{ "imul r, rm", 0x0f, 0xaf, MODRM, 0, WDQ, 0, 0 },
	{ "imul r, rm, imm", 0, 0x69, MODRM, 0, WDQ, IMM_Z, 0 },
	{ "shl rm, imm8", 0, 0xc1, DIGIT, 4, ALL, 1, 0 },
	{ "sar rm, cl", 0, 0xd3, DIGIT, 7, ALL, 0, 0 },
	{ "shld rm, r, imm8", 0x0f, 0xa4, MODRM, 0, D | Q, 1, 0 },
	{ "not", 0, 0xf7, DIGIT, 2, ALL, 0, 0 },
	{ "neg", 0, 0xf7, DIGIT, 3, ALL, 0, 0 },
	{ "mul", 0, 0xf7, DIGIT, 4, ALL, 0, 0 },
	{ "inc", 0, 0xff, DIGIT, 0, ALL, 0, 0 },
	{ "cmovg", 0x0f, 0x4f, MODRM, 0, WDQ, 0, 0 },
	{ "setb", 0x0f, 0x92, DIGIT, 0, D, 0, 0 },
	{ "bt", 0x0f, 0xba, DIGIT, 4, WDQ, 1, 0 },
	{ "xadd", 0x0f, 0xc1, MODRM, 0, ALL, 0, 0 },
	{ "cmpxchg", 0x0f, 0xb1, MODRM, 0, ALL, 0, 0 },
	{ "movzx", 0x0f, 0xb6, MODRM, 0, WDQ, 0, 0 },
	{ "bswap", 0x0f, 0xc8, OPREG, 0, D | Q, 0, 0 },
	{ "cdq", 0, 0x99, FIXED, 0, WDQ, 0, 0 },
	{ "movups load", 0x0f, 0x10, MODRM, 0, D | Q, 0, 0 },
	{ "movups store", 0x0f, 0x11, MODRM, 0, D | Q, 0, 0 },
	{ "xorps", 0x0f, 0x57, MODRM, 0, D | Q, 0, NO_MEM },
	{ "push r", 0, 0x50, OPREG, 0, Q, 0, STACK | FIXED_SIZE },
	{ "push rm", 0, 0xff, DIGIT, 6, Q, 0, STACK | FIXED_SIZE },
	{ "pop r", 0, 0x58, OPREG, 0, Q, 0, STACK | FIXED_SIZE },
	{ "pushfq", 0, 0x9c, FIXED, 0, Q, 0, STACK | FIXED_SIZE },
	{ "nop rm", 0x0f, 0x1f, DIGIT, 0, WDQ, 0, 0 },
	{ "jmp rm", 0, 0xff, DIGIT, 4, Q, 0, FIXED_SIZE | GOES },
	{ "ret", 0, 0xc3, FIXED, 0, Q, 0, FIXED_SIZE | GOES | STACK },
	{ "ret imm", 0, 0xc2, FIXED, 0, Q, 2, FIXED_SIZE | GOES | STACK },
};

enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

static void
made_print(const struct made *made, uint64_t slot_va, const char *what)
{
	char text[128] = "?";

	arch->print(made->code, made->len, made->va, text, sizeof(text));
	print_error("# %s at %" PRIx64 ": %s:", what, slot_va, text);
	for (unsigned i = 0; i < made->len; i++)
		print_error(" %02x", made->code[i]);
	print_error("\n");
}

/* Run from va; in memory only the landings and what is at va. */
static void
run_at(uint64_t va, const struct regs *in, struct regs *out,
       const uint8_t *before, uint8_t *after)
{
	memcpy(native_scratch, before, NATIVE_SCRATCH_SIZE);
	native_run(va, in, out);
	memcpy(after, native_scratch, NATIVE_SCRATCH_SIZE);
}

static int
regs_differ(const struct regs *a, const struct regs *b)
{
	for (int i = 0; i < 16; i++)
		if (a->r[encoded_reg(i)] != b->r[encoded_reg(i)])
			return 1;
	return a->r[X86_EFLAGS] != b->r[X86_EFLAGS] ||
	       a->r[X86_RIP] != b->r[X86_RIP];
}

static void
check_slot(const struct made *made, uint64_t slot_va, struct regs *regs)
{
	uint8_t mem[3][NATIVE_SCRATCH_SIZE];
	struct regs in_place, in_slot;

	for (int i = 0; i < STATES; i++) {
		make_state(made, regs);
		memcpy(mem[0], native_scratch, NATIVE_SCRATCH_SIZE);
		memcpy((void *)made->va, made->code, made->len);
		run_at(made->va, regs, &in_place, mem[0], mem[1]);
		/* Were it to come back to its site, it would trap. */
		memset((void *)made->va, 0xcc, made->len);
		run_at(slot_va, regs, &in_slot, mem[0], mem[2]);
		if (!regs_differ(&in_place, &in_slot) &&
		    !memcmp(mem[1], mem[2], NATIVE_SCRATCH_SIZE))
			continue;
		made_print(made, slot_va, "differs");
		assert_true(false);
	}
}

static void
test_cpu(void **state)
{
	const uint64_t bases[] = { near_slot, far_slot };
	size_t made_near = 0, made_far = 0;
	struct slot_code slot;
	struct regs regs = { 0 };
	struct made made;
	uint64_t va, slot_va;

	native_segments(&regs);
	for (unsigned n = 0; n < CODES; n++) {
		bool far = random_below(4) == 0;
		bool rip;

		va = NATIVE_CODE + NATIVE_CODE_SIZE / 2 + random_below(64);
		slot_va = bases[far] + random_below(64) * SLOT_MAX;
		make_insn(&made, &shapes[n % SHAPES], va);
		rip = made.memory && made.base < 0 && made.index < 0 &&
		      made.disp != (int64_t)made.ea;
		native_landing(va + made.len, 0);
		native_landing(made.target, 1);
		if (arch->slot_make(made.code, made.len, va, slot_va, &slot)) {
			if (!far || !rip) {
				made_print(&made, slot_va, "refused");
				assert_true(false);
			}
			continue;
		}
		assert_false(far && rip);
		assert_int_equal(slot.after, made.len);
		assert_int_equal(slot.len, made.len + (far ? 14 : 5));
		far ? made_far++ : made_near++;
		memcpy((void *)slot_va, slot.bytes, slot.len);
		check_slot(&made, slot_va, &regs);
	}
	print_message("# %zu near, %zu far\n", made_near, made_far);
	assert_true(made_near > CODES / 2 && made_far > CODES / 8);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *what;
		uint8_t code[8];
	} cases[] = {
		{ "call", { 0xe8, 0, 0, 0, 0 } },
		{ "call *%rax", { 0xff, 0xd0 } },
		{ "call *8(%rip)", { 0xff, 0x15, 8, 0, 0, 0 } },
		{ "jmp rel8", { 0xeb, 0 } },
		{ "jmp rel32", { 0xe9, 0, 0, 0, 0 } },
		{ "jz", { 0x74, 0 } },
		{ "jz rel32", { 0x0f, 0x84, 0, 0, 0, 0 } },
		{ "loop", { 0xe2, 0 } },
		{ "jrcxz", { 0xe3, 0 } },
		{ "jecxz", { 0x67, 0xe3, 0 } },
		{ "xbegin", { 0xc7, 0xf8, 0, 0, 0, 0 } },
		{ "lea 8(%eip), %rax", { 0x67, 0x48, 0x8d, 0x05, 8, 0, 0, 0 } },
		{ "no instruction", { 0x06 } },
	};
	struct slot_code slot;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (arch->slot_make(cases[i].code, 8, 0x1000, 0x2000, &slot) ==
		    -1)
			continue;
		print_error("# relocated: %s\n", cases[i].what);
		assert_true(false);
	}
}

/* The instruction before and after, by hand. */
static void
test_bytes(void **state)
{
	static const struct {
		const char *what;
		uint8_t code[16], len;
		uint8_t slot[SLOT_MAX], more;	/* more bytes than it and jmp */
	} cases[] = {
		/* from 0x1000 to 0x2000 */
		{ "lea 0x1000(%rip), %rax",
		  { 0x48, 0x8d, 0x05, 0, 0x10, 0, 0 },
		  7,
		  { 0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xe9, 0xfb, 0xef, 0xff,
		    0xff } },
		{ "cmpb $7, 0x10(%rip)",
		  { 0x80, 0x3d, 0x10, 0, 0, 0, 7 },
		  7,
		  { 0x80, 0x3d, 0x10, 0xf0, 0xff, 0xff, 7, 0xe9, 0xfb, 0xef,
		    0xff, 0xff } },
		{ "vmovups 0x10(%rip), %ymm0",
		  { 0xc5, 0xfc, 0x10, 0x05, 0x10, 0, 0, 0 },
		  8,
		  { 0xc5, 0xfc, 0x10, 0x05, 0x10, 0xf0, 0xff, 0xff, 0xe9, 0xfb,
		    0xef, 0xff, 0xff } },
		{ "EVEX vmovups 0x10(%rip), %zmm0",
		  { 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x05, 0x10, 0, 0, 0 },
		  10,
		  { 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x05, 0x10, 0xf0, 0xff, 0xff,
		    0xe9, 0xfb, 0xef, 0xff, 0xff } },
		{ "jmp *0x10(%rip)",
		  { 0xff, 0x25, 0x10, 0, 0, 0 },
		  6,
		  { 0xff, 0x25, 0x10, 0xf0, 0xff, 0xff, 0xe9, 0xfb, 0xef, 0xff,
		    0xff } },
		{ "syscall",
		  { 0x0f, 0x05 },
		  2,
		  { 0x0f, 0x05, 0x48, 0xb9, 0x02, 0x10, 0, 0, 0, 0, 0, 0, 0xe9,
		    0xf1, 0xef, 0xff, 0xff },
		  10 },
		{ "int3", { 0xcc }, 1, { 0xcc, 0xe9, 0xfb, 0xef, 0xff, 0xff } },
		{ "ud2",
		  { 0x0f, 0x0b },
		  2,
		  { 0x0f, 0x0b, 0xe9, 0xfb, 0xef, 0xff, 0xff } },
	};
	struct slot_code slot;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		print_message("# %s\n", cases[i].what);
		assert_int_equal(arch->slot_make(cases[i].code, cases[i].len,
						 0x1000, 0x2000, &slot),
				 0);
		assert_int_equal(slot.after, cases[i].len);
		assert_int_equal(slot.len, cases[i].len + cases[i].more + 5);
		assert_memory_equal(slot.bytes, cases[i].slot, slot.len);
	}
}

/* The farthest slots that a disp32 and a rel32 reach, and one beyond. */
static void
test_reach(void **state)
{
	static const uint8_t lea[] = { 0x48, 0x8d, 0x05, 0, 0, 0, 0 };
	static const uint8_t push[] = { 0x55 };
	const uint64_t va = UINT64_C(0x200000000);
	struct slot_code slot;

	/* disp = va - slot_va: at most 2^31 - 1, at least -2^31. */
	assert_int_equal(arch->slot_make(lea, 7, va, va - 0x7fffffff, &slot),
			 0);
	assert_int_equal(arch->slot_make(lea, 7, va, va - 0x80000000, &slot),
			 -1);
	assert_int_equal(arch->slot_make(lea, 7, va, va + 0x80000000, &slot),
			 0);
	assert_int_equal(arch->slot_make(lea, 7, va, va + 0x80000001, &slot),
			 -1);
	/* rel = va + 1 - (slot_va + 6) */
	assert_int_equal(arch->slot_make(push, 1, va, va - 0x80000004, &slot),
			 0);
	assert_int_equal(slot.len, 6);
	assert_int_equal(arch->slot_make(push, 1, va, va - 0x80000005, &slot),
			 0);
	assert_int_equal(slot.len, 15);
	assert_int_equal(arch->slot_make(push, 1, va, va + 0x7ffffffb, &slot),
			 0);
	assert_int_equal(slot.len, 6);
	assert_int_equal(arch->slot_make(push, 1, va, va + 0x7ffffffc, &slot),
			 0);
	assert_int_equal(slot.len, 15);
}

/* It works in a slot, and leaves the original's address in rcx. */
static void
test_syscall(void **state)
{
	static const uint8_t code[] = { 0x0f, 0x05 };
	struct regs in = { 0 }, out;
	struct slot_code slot;

	in.r[X86_RAX] = SYS_getpid;
	in.r[X86_EFLAGS] = 0x202;
	assert_int_equal(
		arch->slot_make(code, 2, NATIVE_CODE, near_slot, &slot), 0);
	memcpy((void *)near_slot, slot.bytes, slot.len);
	native_landing(NATIVE_CODE + 2, 0);
	native_run(near_slot, &in, &out);
	assert_int_equal(out.r[X86_RAX], getpid());
	assert_int_equal(out.r[X86_RCX], NATIVE_CODE + 2);
	assert_int_equal(out.r[X86_RIP], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu),	cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bytes),	cmocka_unit_test(test_reach),
		cmocka_unit_test(test_syscall),
	};

	native_open();
	native_map(near_slot, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	native_map(far_slot, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
