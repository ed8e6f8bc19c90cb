/*
 * What x86-64 instructions are said to do with flags, against the CPU: from
 * two states that differ in one flag which it is not said to read, an
 * instruction makes the same of everything else, and the same of that flag if
 * it is said to make that anew.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>

#include "tests/lib/native.h"
#include "tests/lib/random.h"
#include "arch/x86_64/regs.h"
#include "util/fail.h"

#include <cmocka.h>

enum { STATES = 40 };

static const uint32_t flags[] = {
	X86_CF, X86_PF, X86_AF, X86_ZF, X86_SF, 1 << 11,
};

/* Of rax, rcx, rdx, with memory at rsi and rdi. */
static const struct code {
	uint8_t len, bytes[9];
	const char *feature;	/* that /proc/cpuinfo must have */
} codes[] = {
	{ 3, { 0x48, 0x01, 0xc8 } },
	{ 3, { 0x48, 0x29, 0xc8 } },
	{ 3, { 0x48, 0x21, 0xc8 } },
	{ 3, { 0x48, 0x09, 0xc8 } },
	{ 3, { 0x48, 0x31, 0xc8 } },
	{ 3, { 0x48, 0x39, 0xc8 } },
	{ 3, { 0x48, 0x85, 0xc8 } },
	{ 3, { 0x48, 0x11, 0xc8 } },
	{ 3, { 0x48, 0x19, 0xc8 } },
	{ 3, { 0x48, 0xff, 0xc0 } },
	{ 3, { 0x48, 0xff, 0xc8 } },
	{ 3, { 0x48, 0xf7, 0xd8 } },
	{ 3, { 0x48, 0xf7, 0xd0 } },
	{ 3, { 0x48, 0xf7, 0xe1 } },
	{ 3, { 0x48, 0xf7, 0xe9 } },
	{ 4, { 0x48, 0x0f, 0xaf, 0xc1 } },
	{ 4, { 0x48, 0x6b, 0xc1, 0x07 } },
	/* Shifts: by cl, by 1, by constants, of which 0 counts as none. */
	{ 3, { 0x48, 0xd3, 0xe0 } },
	{ 3, { 0x48, 0xd3, 0xe8 } },
	{ 3, { 0x48, 0xd3, 0xf8 } },
	{ 3, { 0x48, 0xd3, 0xc0 } },
	{ 3, { 0x48, 0xd3, 0xc8 } },
	{ 3, { 0x48, 0xd3, 0xd0 } },
	{ 3, { 0x48, 0xd3, 0xd8 } },
	{ 3, { 0x48, 0xd1, 0xe0 } },
	{ 3, { 0x48, 0xd1, 0xf8 } },
	{ 3, { 0x48, 0xd1, 0xd0 } },
	{ 4, { 0x48, 0xc1, 0xe0, 0x00 } },
	{ 4, { 0x48, 0xc1, 0xe0, 0x05 } },
	{ 4, { 0x48, 0xc1, 0xe0, 0x20 } },
	{ 4, { 0x48, 0xc1, 0xe0, 0x40 } },
	{ 3, { 0xc1, 0xe8, 0x20 } },
	{ 3, { 0xc0, 0xe0, 0x09 } },
	{ 3, { 0xc0, 0xd0, 0x09 } },
	{ 3, { 0xc0, 0xc0, 0x08 } },
	{ 4, { 0x66, 0xc1, 0xd0, 0x11 } },
	{ 4, { 0x66, 0xc1, 0xe0, 0x14 } },
	{ 4, { 0x48, 0x0f, 0xa5, 0xc8 } },
	{ 5, { 0x48, 0x0f, 0xa4, 0xc8, 0 } },
	{ 5, { 0x48, 0x0f, 0xac, 0xc8, 3 } },
	/* Bits. */
	{ 4, { 0x48, 0x0f, 0xa3, 0xc8 } },
	{ 4, { 0x48, 0x0f, 0xab, 0xc8 } },
	{ 4, { 0x48, 0x0f, 0xbc, 0xc1 } },
	{ 4, { 0x48, 0x0f, 0xbd, 0xc1 } },
	{ 5, { 0xf3, 0x48, 0x0f, 0xb8, 0xc1 }, "popcnt" },
	{ 5, { 0xf3, 0x48, 0x0f, 0xbc, 0xc1 }, "bmi1" },
	{ 5, { 0xf3, 0x48, 0x0f, 0xbd, 0xc1 }, "abm" },
	{ 5, { 0xc4, 0xe2, 0xe8, 0xf2, 0xc1 }, "bmi1" },	/* andn */
	{ 5, { 0xc4, 0xe2, 0xf0, 0xf7, 0xc2 }, "bmi1" },	/* bextr */
	{ 5, { 0xc4, 0xe2, 0xf0, 0xf5, 0xc2 }, "bmi2" },	/* bzhi */
	{ 5, { 0xc4, 0xe2, 0xf1, 0xf7, 0xc2 }, "bmi2" },	/* shlx */
	{ 6, { 0x66, 0x48, 0x0f, 0x38, 0xf6, 0xc1 }, "adx" },	/* adcx */
	{ 6, { 0xf3, 0x48, 0x0f, 0x38, 0xf6, 0xc1 }, "adx" },	/* adox */
	/* Flags themselves. */
	{ 1, { 0xf5 } },
	{ 1, { 0xf8 } },
	{ 1, { 0xf9 } },
	{ 1, { 0x9e } },
	{ 1, { 0x9f } },
	{ 1, { 0x9c } },
	{ 3, { 0x0f, 0x92, 0xc0 } },
	{ 3, { 0x0f, 0x9f, 0xc0 } },
	{ 4, { 0x48, 0x0f, 0x46, 0xc1 } },
	{ 4, { 0x48, 0x0f, 0x4a, 0xc1 } },
	{ 3, { 0x48, 0x87, 0xc8 } },
	{ 4, { 0x48, 0x0f, 0xc1, 0xc8 } },
	{ 4, { 0x48, 0x0f, 0xb1, 0xca } },
	{ 5, { 0x48, 0x8d, 0x44, 0x08, 0x05 } },
	{ 4, { 0x66, 0x0f, 0x2e, 0xc1 } },
	{ 4, { 0x66, 0x0f, 0x2f, 0xc1 } },
	{ 5, { 0x66, 0x0f, 0x38, 0x17, 0xc1 }, "sse4_1" },
	{ 2, { 0xdb, 0xf1 } },
	{ 2, { 0xda, 0xc9 } },
	/* Strings, of rcx rounds, which may be none. */
	{ 2, { 0xf3, 0xa6 } },
	{ 2, { 0xf2, 0xae } },
	{ 1, { 0xa6 } },
	{ 2, { 0xf3, 0xa4 } },
	{ 2, { 0xf3, 0xaa } },
};

/* Also those at which flags change. */
static uint64_t
random_value(void)
{
	static const uint64_t special[] = {
		0,	    1,	       UINT64_MAX, INT64_MAX, UINT64_C(1) << 63,
		UINT32_MAX, INT32_MAX, 0xff,	   0x7f,
	};

	return random_below(2) ? random_u64() : special[random_below(9)];
}

static bool
cpu_has(const char *feature)
{
	char line[8192];
	FILE *in = fopen("/proc/cpuinfo", "r");
	bool has = false;

	while (in && !has && fgets(line, sizeof(line), in))
		has = strncmp(line, "flags", 5) == 0 && strstr(line, feature);
	if (in)
		fclose(in);
	return has;
}

static void
state_make(struct regs *regs)
{
	*regs = (struct regs){ 0 };
	regs->r[X86_RAX] = random_value();
	regs->r[X86_RDX] = random_value();
	regs->r[X86_RCX] = random_below(3) ? random_below(9) : random_value();
	/* A string instruction stays in the memory. */
	regs->r[X86_RSI] = NATIVE_SCRATCH;
	regs->r[X86_RDI] = NATIVE_SCRATCH + 64;
	regs->r[X86_RSP] = NATIVE_SCRATCH + 2048;
	regs->r[X86_EFLAGS] = 0x202;
	for (unsigned i = 0; i < 6; i++)
		if (random_below(2))
			regs->r[X86_EFLAGS] |= flags[i];
}

static void
state_run(const struct code *code, const struct regs *in, struct regs *out,
	  uint8_t *memory)
{
	memset(native_scratch, 7, 4096);
	native_scratch[66] = 9;
	memcpy((void *)NATIVE_CODE, code->bytes, code->len);
	native_landing(NATIVE_CODE + code->len, 0);
	native_run(NATIVE_CODE, in, out);
	/* The pushed flags are there as well. */
	memcpy(memory, native_scratch, 4096);
}

static void
flag_try(const struct code *code, const struct motion *motion, struct regs in,
	 uint32_t flag)
{
	static uint8_t memory[2][4096];
	uint32_t looked = 0x8d5 & ~(motion->writes & flag ? 0 : flag);
	struct regs out[2];

	for (int i = 0; i < 2; i++) {
		in.r[X86_EFLAGS] ^= flag;
		state_run(code, &in, &out[i], memory[i]);
	}
	if ((out[0].r[X86_EFLAGS] ^ out[1].r[X86_EFLAGS]) & looked)
		fail_msg("code %zu: flags %#lx or %#lx, by flag %#x",
			 (size_t)(code - codes), out[0].r[X86_EFLAGS],
			 out[1].r[X86_EFLAGS], flag);
	out[1].r[X86_EFLAGS] = out[0].r[X86_EFLAGS];
	if (memcmp(&out[0], &out[1], 20 * sizeof(uint64_t)) != 0 ||
	    memcmp(memory[0], memory[1], 4096) != 0)
		fail_msg("code %zu: another result, by flag %#x",
			 (size_t)(code - codes), flag);
}

static void
test_flags(void **unused)
{
	unsigned written = 0, skipped = 0;

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		struct motion motion;
		struct regs in;

		if (codes[i].feature && !cpu_has(codes[i].feature)) {
			skipped++;
			continue;
		}
		assert_int_equal(arch_x86_64.motion(codes[i].bytes, 15, 0x1000,
						    &motion),
				 0);
		written += motion.writes != 0;
		for (unsigned n = 0; n < STATES; n++) {
			state_make(&in);
			/* scas, cmps, movs and stos. */
			if (codes[i].len == 2 && codes[i].bytes[0] >= 0xf2)
				in.r[X86_RCX] = random_below(9);
			for (unsigned k = 0; k < 6; k++)
				if (!(motion.reads & flags[k]))
					flag_try(&codes[i], &motion, in,
						 flags[k]);
		}
	}
	if (skipped)
		print_message("# %u that this CPU has not\n", skipped);
	assert_true(written > 30);
}

/* Intel SDM volume 2: what is not the same elsewhere, or is left out. */
static void
test_places(void **unused)
{
	static const uint8_t eip[] = { 0x67, 0x8b, 0x05, 1, 0, 0, 0 };
	static const uint8_t jmp16[] = { 0x66, 0xe9, 1, 0, 0, 0 };
	static const uint8_t rip[] = {
		0x48, 0x8d, 0x05, 0xf9, 0xff, 0xff, 0xff
	};
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t pause[] = { 0xf3, 0x90 }, nop[] = { 0x66, 0x90 };
	static const uint8_t stack[] = { 0xff, 0x54, 0x24, 0x08 };
	static const uint8_t r12[] = { 0x41, 0xff, 0x54, 0x24, 0x08 };
	static const uint8_t load[] = { 0x48, 0x8b, 0x05, 1, 0, 0, 0 };
	struct motion motion;

	assert_int_equal(arch_x86_64.motion(eip, 7, 0, &motion), -1);
	assert_int_equal(arch_x86_64.motion(jmp16, 6, 0, &motion), -1);
	assert_int_equal(arch_x86_64.motion(rip, 7, 0x5000, &motion), 0);
	assert_int_equal(motion.disp, 3);
	assert_int_equal(motion.refers, 0x5000);
	assert_int_equal(motion.loads, 0);
	assert_int_equal(arch_x86_64.motion(load, 7, 0x5000, &motion), 0);
	assert_int_equal(motion.refers, 0x5008);
	assert_int_equal(motion.loads, 8);
	assert_int_equal(arch_x86_64.motion(endbr, 4, 0, &motion), 0);
	assert_true(motion.idle && motion.lands);
	assert_int_equal(arch_x86_64.motion(nop, 2, 0, &motion), 0);
	assert_true(motion.idle && !motion.lands);
	assert_int_equal(arch_x86_64.motion(pause, 2, 0, &motion), 0);
	assert_false(motion.idle);
	assert_int_equal(arch_x86_64.motion(stack, 4, 0, &motion), 0);
	assert_true(motion.stack);
	assert_int_equal(arch_x86_64.motion(r12, 5, 0, &motion), 0);
	assert_false(motion.stack);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_places),
	};

	native_open();
	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
