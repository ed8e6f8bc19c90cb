/*
 * Emulation against the CPU: the same made-up instruction, registers and
 * memory are run by both, and everything they leave is compared.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/lib/insns.h"

static const struct arch *const arch = &arch_x86_64;

enum { CODES = 60000, STATES = 16 };

#define ALU(name, n, f, read_only) \
	{ name " rm, r", \
	  0, \
	  8 * n + 1, \
	  MODRM, \
	  0, \
	  B | W | D | Q, \
	  0, \
	  f | (read_only ? 0 : NO_MEM) }, \
		{ name " r, rm", 0, 8 * n + 3, MODRM, 0, B | W | D | Q, 0, f }, \
		{ name " rax, imm", 0,	   8 * n + 5, FIXED, 0, \
		  B | W | D | Q,    IMM_Z, f }, \
		{ name " rm, imm", \
		  0, \
		  0x81, \
		  DIGIT, \
		  n, \
		  B | W | D | Q, \
		  IMM_Z, \
		  f | (read_only ? 0 : NO_MEM) }, \
	{ \
		name " rm, imm8", 0, 0x83, DIGIT, n, W | D | Q, 1, \
			f | (read_only ? 0 : NO_MEM) \
	}

#define JCC(n) \
	{ "jcc rel8", 0, 0x70 + n, REL, 0, D, 1, 0 }, \
	{ \
		"jcc rel32", 0x0f, 0x80 + n, REL, 0, D, 4, 0 \
	}

static const struct shape shapes[] = {
	ALU("add", 0, 0, 0),
	ALU("or", 1, LOGIC, 0),
	ALU("and", 4, LOGIC, 0),
	ALU("sub", 5, 0, 0),
	ALU("xor", 6, LOGIC, 0),
	ALU("cmp", 7, 0, 1),
	{ "test rm, r", 0, 0x85, MODRM, 0, B | W | D | Q, 0, LOGIC },
	{ "test rax, imm", 0, 0xa9, FIXED, 0, B | W | D | Q, IMM_Z, LOGIC },
	{ "test rm, imm", 0, 0xf7, DIGIT, 0, B | W | D | Q, IMM_Z, LOGIC },
	{ "mov rm, r", 0, 0x89, MODRM, 0, B | W | D | Q, 0, 0 },
	{ "mov r, rm", 0, 0x8b, MODRM, 0, B | W | D | Q, 0, 0 },
	{ "mov rm, imm", 0, 0xc7, DIGIT, 0, B | W | D | Q, IMM_Z, 0 },
	{ "mov r, imm", 0, 0xb8, OPREG, 0, W | D | Q, IMM_V, 0 },
	{ "mov r8, imm8", 0, 0xb1, OPREG, 0, B, 1, 0 },
	{ "lea", 0, 0x8d, MODRM, 0, W | D | Q, 0, ONLY_MEM },
	{ "movzx rm8", 0x0f, 0xb6, MODRM, 0, W | D | Q, 0, 0 },
	{ "movzx rm16", 0x0f, 0xb7, MODRM, 0, D | Q, 0, 0 },
	{ "movsx rm8", 0x0f, 0xbe, MODRM, 0, W | D | Q, 0, 0 },
	{ "movsx rm16", 0x0f, 0xbf, MODRM, 0, D | Q, 0, 0 },
	{ "movsxd", 0, 0x63, MODRM, 0, D | Q, 0, 0 },
	{ "inc", 0, 0xff, DIGIT, 0, B | W | D | Q, 0, NO_MEM },
	{ "dec", 0, 0xff, DIGIT, 1, B | W | D | Q, 0, NO_MEM },
	{ "push r", 0, 0x50, OPREG, 0, Q, 0, STACK | FIXED_SIZE },
	{ "push imm8", 0, 0x6a, FIXED, 0, Q, 1, STACK | FIXED_SIZE },
	{ "push imm32", 0, 0x68, FIXED, 0, Q, 4, STACK | FIXED_SIZE },
	{ "push rm", 0, 0xff, DIGIT, 6, Q, 0, STACK | FIXED_SIZE },
	{ "pop r", 0, 0x58, OPREG, 0, Q, 0, STACK | FIXED_SIZE },
	{ "pop rm", 0, 0x8f, DIGIT, 0, Q, 0, STACK | FIXED_SIZE },
	{ "leave", 0, 0xc9, FIXED, 0, Q, 0, STACK | FIXED_SIZE },
	{ "nop", 0, 0x90, FIXED, 0, W | D, 0, 0 },
	{ "nop rm", 0x0f, 0x1f, DIGIT, 0, W | D | Q, 0, 0 },
	{ "jmp rel8", 0, 0xeb, REL, 0, D, 1, 0 },
	{ "jmp rel32", 0, 0xe9, REL, 0, D, 4, 0 },
	{ "jmp rm", 0, 0xff, DIGIT, 4, Q, 0, FIXED_SIZE | GOES },
	{ "call rel32", 0, 0xe8, REL, 0, D, 4, STACK },
	{ "call rm", 0, 0xff, DIGIT, 2, Q, 0, FIXED_SIZE | GOES | STACK },
	{ "ret", 0, 0xc3, FIXED, 0, Q, 0, FIXED_SIZE | GOES | STACK },
	{ "ret imm", 0, 0xc2, FIXED, 0, Q, 2, FIXED_SIZE | GOES | STACK },
	{ "loopne", 0, 0xe0, REL, 0, D, 1, LOOPS },
	{ "loope", 0, 0xe1, REL, 0, D, 1, LOOPS },
	{ "loop", 0, 0xe2, REL, 0, D, 1, LOOPS },
	{ "jrcxz", 0, 0xe3, REL, 0, D, 1, LOOPS },
	JCC(0),
	JCC(1),
	JCC(2),
	JCC(3),
	JCC(4),
	JCC(5),
	JCC(6),
	JCC(7),
	JCC(8),
	JCC(9),
	JCC(10),
	JCC(11),
	JCC(12),
	JCC(13),
	JCC(14),
	JCC(15),
};

enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

/* The scratch memory; call number fail_at fails. */
struct lent {
	int calls, fail_at;
};

static int
lent_fails(struct lent *lent, uint64_t va, size_t len)
{
	assert_true(va >= NATIVE_SCRATCH &&
		    va + len <= NATIVE_SCRATCH + NATIVE_SCRATCH_SIZE);
	return lent->calls++ == lent->fail_at;
}

static int
lent_read(void *ctx, uint64_t va, void *buf, size_t len)
{
	if (lent_fails(ctx, va, len))
		return -1;
	memcpy(buf, (void *)va, len);
	return 0;
}

static int
lent_write(void *ctx, uint64_t va, const void *buf, size_t len)
{
	if (lent_fails(ctx, va, len))
		return -1;
	memcpy((void *)va, buf, len);
	return 0;
}

static enum emul_result
emulate(const struct emul *emul, struct regs *regs, struct lent *lent)
{
	struct memory memory = { lent_read, lent_write, lent };

	return arch->emul_run(emul, regs, &memory);
}

static void
made_print(const struct made *made, const char *what)
{
	char text[128] = "?";

	arch->print(made->code, made->len, made->va, text, sizeof(text));
	print_error("# %s: %s:", what, text);
	for (unsigned i = 0; i < made->len; i++)
		print_error(" %02x", made->code[i]);
	print_error("\n");
}

static int
regs_differ(const struct made *made, const struct regs *before,
	    const struct regs *native_regs, const struct regs *regs)
{
	const uint64_t flags = X86_CF | X86_PF | X86_ZF | X86_SF | X86_DF |
			       X86_OF |
			       (made->shape->flags & LOGIC ? 0 : X86_AF);
	int differ = 0;

	for (int i = 0; i < 16; i++) {
		enum x86_reg r = encoded_reg(i);

		if (native_regs->r[r] == regs->r[r])
			continue;
		print_error("# reg %d: was %" PRIx64 ", native %" PRIx64
			    ", emulated %" PRIx64 "\n",
			    i, before->r[r], native_regs->r[r], regs->r[r]);
		differ = 1;
	}
	if ((native_regs->r[X86_EFLAGS] ^ regs->r[X86_EFLAGS]) & flags) {
		print_error("# eflags: was %" PRIx64 ", native %" PRIx64
			    ", emulated %" PRIx64 "\n",
			    before->r[X86_EFLAGS], native_regs->r[X86_EFLAGS],
			    regs->r[X86_EFLAGS]);
		differ = 1;
	}
	return differ;
}

/* Where it went natively, as landings tell; and what emulation says. */
static int
way_differs(const struct made *made, const struct regs *native_regs,
	    const struct regs *regs, enum emul_result result)
{
	bool taken = native_regs->r[X86_RIP];
	uint8_t op = made->shape->opcode;
	bool branch = made->shape->form == REL && op != 0xe8 && op != 0xe9 &&
		      op != 0xeb;

	if (regs->r[X86_RIP] != (taken ? made->target : made->va + made->len))
		return 1;
	return result != (branch && taken ? EMUL_TAKEN : EMUL_DONE);
}

/* Fail each of its memory accesses: nothing may have changed. */
static void
check_faults(const struct made *made, const struct emul *emul,
	     const struct regs *before, int calls)
{
	uint8_t scratch[NATIVE_SCRATCH_SIZE];

	assert_int_equal(emul->memory, calls > 0);
	memcpy(scratch, native_scratch, sizeof(scratch));
	for (int i = 0; i < calls; i++) {
		struct lent lent = { .fail_at = i };
		struct regs regs = *before;

		if (emulate(emul, &regs, &lent) == EMUL_FAULT &&
		    !memcmp(&regs, before, sizeof(regs)) &&
		    !memcmp(scratch, native_scratch, sizeof(scratch)))
			continue;
		made_print(made, "changed something when it faulted");
		assert_true(false);
	}
}

/* What only moves the pc may be done without looking at registers. */
static void
check_only_pc(const struct emul *emul, const struct regs *before,
	      const struct regs *after)
{
	struct regs moved = *before;

	if (!emul->only_pc)
		return;
	moved.r[X86_RIP] = emul->imm;
	assert_memory_equal(&moved, after, sizeof(moved));
}

static void
check_state(const struct made *made, const struct emul *emul, struct regs *regs)
{
	uint8_t before_mem[NATIVE_SCRATCH_SIZE], native_mem[sizeof(before_mem)];
	struct lent lent = { .fail_at = -1 };
	struct regs before, native_regs;
	enum emul_result result;

	make_state(made, regs);
	before = *regs;
	memcpy(before_mem, native_scratch, sizeof(before_mem));
	native_run(made->va, regs, &native_regs);
	memcpy(native_mem, native_scratch, sizeof(native_mem));
	memcpy(native_scratch, before_mem, sizeof(before_mem));
	result = emulate(emul, regs, &lent);
	if (regs_differ(made, &before, &native_regs, regs) ||
	    way_differs(made, &native_regs, regs, result) ||
	    memcmp(native_mem, native_scratch, sizeof(native_mem))) {
		made_print(made, "differs");
		assert_true(false);
	}
	memcpy(native_scratch, before_mem, sizeof(before_mem));
	check_only_pc(emul, &before, regs);
	check_faults(made, emul, &before, lent.calls);
}

static void
test_cpu(void **state)
{
	struct regs regs = { 0 };
	struct emul emul;
	struct made made;
	uint64_t va;

	native_segments(&regs);
	for (unsigned n = 0; n < CODES; n++) {
		va = NATIVE_CODE + NATIVE_CODE_SIZE / 2 + random_below(64);
		make_insn(&made, &shapes[n % SHAPES], va);
		memcpy((void *)va, made.code, made.len);
		native_landing(va + made.len, 0);
		native_landing(made.target, 1);
		if (arch->emul_prepare(made.code, made.len, va, &emul)) {
			made_print(&made, "refused");
			assert_true(false);
		}
		assert_int_equal(emul.next, va + made.len);
		assert_int_equal(emul.only_pc,
				 !strncmp(made.shape->what, "nop", 3) ||
					 !strncmp(made.shape->what, "jmp rel",
						  7));
		for (int i = 0; i < STATES; i++)
			check_state(&made, &emul, &regs);
	}
	print_message("# %d instructions compared\n", CODES * STATES);
}

/* A branch to the next instruction still says whether it was taken. */
static void
test_branch_to_next(void **state)
{
	static const uint8_t jz[] = { 0x74, 0 };
	struct lent lent = { .fail_at = -1 };
	struct regs regs = { 0 };
	struct emul emul;

	assert_int_equal(arch->emul_prepare(jz, 2, 0x1000, &emul), 0);
	regs.r[X86_EFLAGS] = X86_ZF;
	assert_int_equal(emulate(&emul, &regs, &lent), EMUL_TAKEN);
	assert_int_equal(regs.r[X86_RIP], 0x1002);
	regs.r[X86_EFLAGS] = 0;
	assert_int_equal(emulate(&emul, &regs, &lent), EMUL_DONE);
	assert_int_equal(regs.r[X86_RIP], 0x1002);
}

/* Natively these fault where the jump is, not where it goes. */
static void
test_non_canonical(void **state)
{
	static const uint8_t codes[][3] = {
		{ 0xff, 0xe0 },			/* jmp *%rax */
		{ 0xff, 0xd0 },			/* call *%rax */
		{ 0xc3 },			/* ret */
	};
	uint64_t target = UINT64_C(0x800000000000);
	struct lent lent = { .fail_at = -1 };
	struct regs regs, before = { 0 };
	struct emul emul;

	before.r[X86_RAX] = target;
	before.r[X86_RSP] = NATIVE_SCRATCH + 64;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		memcpy(native_scratch + 64, &target, 8);
		memset(native_scratch + 56, 0x5a, 8);
		regs = before;
		assert_int_equal(arch->emul_prepare(codes[i], 3, 0x1000, &emul),
				 0);
		assert_int_equal(emulate(&emul, &regs, &lent), EMUL_FAULT);
		assert_memory_equal(&regs, &before, sizeof(regs));
		assert_int_equal(native_scratch[56], 0x5a);
	}
}

static void
test_refused(void **state)
{
	static const struct {
		const char *what;
		uint8_t code[12];
	} cases[] = {
		{ "lock add %eax, (%rbx)", { 0xf0, 0x01, 0x03 } },
		{ "add %eax, (%rbx)", { 0x01, 0x03 } },
		{ "incl (%rbx)", { 0xff, 0x03 } },
		{ "mov (%ebx), %eax", { 0x67, 0x8b, 0x03 } },
		{ "lea (%ebx), %eax", { 0x67, 0x8d, 0x03 } },
		{ "push %ax", { 0x66, 0x50 } },
		{ "pop %ax", { 0x66, 0x58 } },
		{ "pushw $1", { 0x66, 0x6a, 0x01 } },
		{ "push %fs", { 0x0f, 0xa0 } },
		{ "mov %ds, %eax", { 0x8c, 0xd8 } },
		{ "mov %cr0, %rax", { 0x0f, 0x20, 0xc0 } },
		{ "leavew", { 0x66, 0xc9 } },
		{ "retw", { 0x66, 0xc3 } },
		{ "lret", { 0xcb } },
		{ "lcall *(%rax)", { 0xff, 0x18 } },
		{ "ljmp *(%rax)", { 0xff, 0x28 } },
		{ "jecxz", { 0x67, 0xe3, 0x10 } },
		{ "loop, by ecx", { 0x67, 0xe2, 0x10 } },
		{ "jz with 0x66", { 0x66, 0x0f, 0x84, 0, 0, 0, 0 } },
		{ "xbegin", { 0xc7, 0xf8, 0, 0, 0, 0 } },
		{ "xrelease mov %eax, (%rbx)", { 0xf3, 0x89, 0x03 } },
		{ "movabs 0x1122334455667788, %eax",
		  { 0xa1, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11 } },
		{ "syscall", { 0x0f, 0x05 } },
		{ "int3", { 0xcc } },
		{ "ud2", { 0x0f, 0x0b } },
		{ "adc %eax, %ebx", { 0x11, 0xc3 } },
		{ "no instruction", { 0x06 } },
	};
	struct emul emul;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (arch->emul_prepare(cases[i].code, sizeof(cases[i].code),
				       0x1000, &emul) == -1)
			continue;
		print_error("# prepared: %s\n", cases[i].what);
		assert_true(false);
	}
}

/* Forms of compilers that the made-up ones have not. */
static void
test_prepared(void **state)
{
	static const struct {
		const char *what;
		uint8_t code[12];
		uint64_t next;
	} cases[] = {
		{ "endbr64", { 0xf3, 0x0f, 0x1e, 0xfa }, 0x1004 },
		{ "rep ret", { 0xf3, 0xc3 }, 0x1002 },
		{ "bnd jmp", { 0xf2, 0xe9, 0, 0, 0, 0 }, 0x1006 },
		{ "bnd ret", { 0xf2, 0xc3 }, 0x1002 },
		{ "notrack jmp *%rax", { 0x3e, 0xff, 0xe0 }, 0x1003 },
		{ "cs nopw 0(%rax,%rax,1)",
		  { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 },
		  0x100a },
		{ "call *%gs:(%rax)", { 0x65, 0xff, 0x10 }, 0x1003 },
		{ "mov %fs:0x28, %rax",
		  { 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0 },
		  0x1009 },
	};
	struct emul emul;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		print_message("# %s\n", cases[i].what);
		assert_int_equal(arch->emul_prepare(cases[i].code,
						    sizeof(cases[i].code),
						    0x1000, &emul),
				 0);
		assert_int_equal(emul.next, cases[i].next);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_branch_to_next),
		cmocka_unit_test(test_non_canonical),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_prepared),
	};

	native_open();
	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
