/*
 * Kinds and targets of aarch64 instructions, against objdump over a whole
 * library, and emulated branches.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/aarch64/regs.h"
#include "arch/arch.h"

#include <cmocka.h>

static const struct arch *const arch = &arch_aarch64;

static void
word_bytes(uint32_t word, uint8_t *code)
{
	for (int i = 0; i < 4; i++)
		code[i] = (uint8_t)(word >> 8 * i);
}

/* What kind objdump's mnemonic is of. */
static enum insn_kind
objdump_kind(const char *m)
{
	static const struct {
		const char *name;
		enum insn_kind kind;
	} kinds[] = {
		{ "b", INSN_JUMP },	      { "bl", INSN_CALL },
		{ "br", INSN_JUMP_INDIRECT }, { "blr", INSN_CALL_INDIRECT },
		{ "ret", INSN_RETURN },	      { "cbz", INSN_BRANCH },
		{ "cbnz", INSN_BRANCH },      { "tbz", INSN_BRANCH },
		{ "tbnz", INSN_BRANCH },      { "svc", INSN_SYSCALL },
		{ "brk", INSN_TRAP },	      { "hlt", INSN_STOP },
		{ "udf", INSN_STOP },
	};
	size_t n = strcspn(m, "\t\n ");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (n == strlen(kinds[i].name) && !memcmp(m, kinds[i].name, n))
			return kinds[i].kind;
	return strncmp(m, "b.", 2) ? INSN_PLAIN : INSN_BRANCH;
}

static void
test_objdump(void **state)
{
	static const char path[] = "/usr/aarch64-linux-gnu/lib/libc.so.6";
	char line[512];
	size_t n = 0;
	FILE *f;

	if (access(path, R_OK) ||
	    system("aarch64-linux-gnu-objdump --version >/dev/null 2>&1")) {
		print_message("# no %s (package libc6-arm64-cross), or no "
			      "aarch64-linux-gnu-objdump\n",
			      path);
		skip();
	}
	f = popen("aarch64-linux-gnu-objdump -d -j .text "
		  "/usr/aarch64-linux-gnu/lib/libc.so.6",
		  "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *p, *text, *end;
		uint64_t addr = strtoull(line, &p, 16);
		struct insn insn;
		uint8_t code[4];

		if (p == line || strncmp(p, ":\t", 2) ||
		    !(text = strchr(p + 2, '\t')))
			continue;
		word_bytes((uint32_t)strtoul(p + 2, NULL, 16), code);
		assert_int_equal(arch->decode(code, 4, addr, &insn), 0);
		n++;
		if (insn.kind != objdump_kind(text + 1))
			fail_msg("kind %d: %s", insn.kind, line);
		end = strstr(text, " <");
		if (!insn.target || !end)
			continue;
		for (p = end; p[-1] != ' ' && p[-1] != '\t'; p--)
			;
		if (insn.target != strtoull(p, NULL, 16))
			fail_msg("target %" PRIx64 ": %s", insn.target, line);
	}
	pclose(f);
	print_message("# %zu instructions\n", n);
	assert_true(n > 100000);
}

/* Where the emulated instruction at 0x1000 goes on, or 0. */
static uint64_t
emulate(uint32_t word, struct regs *regs)
{
	struct emul emul;
	uint8_t code[4];

	word_bytes(word, code);
	if (arch->emul_prepare(code, 4, 0x1000, &emul) ||
	    arch->emul_run(&emul, regs, NULL) == EMUL_FAULT)
		return 0;
	return regs->r[A64_PC];
}

static void
test_emulation(void **state)
{
	struct regs regs = { 0 };

	regs.r[3] = UINT64_C(0x100000000);
	regs.r[A64_CPSR] = UINT64_C(1) << A64_Z;
	assert_int_equal(emulate(0x54000040, &regs), 0x1008);	/* b.eq */
	assert_int_equal(emulate(0x54000041, &regs), 0x1004);	/* b.ne */
	assert_int_equal(emulate(0x34000043, &regs), 0x1008);	/* cbz w3 */
	assert_int_equal(emulate(0xb4000043, &regs), 0x1004);	/* cbz x3 */
	assert_int_equal(emulate(0xb5000043, &regs), 0x1008);	/* cbnz x3 */
	assert_int_equal(emulate(0xb7000043, &regs), 0x1008);	/* tbnz 32 */
	assert_int_equal(emulate(0xb6000043, &regs), 0x1004);	/* tbz 32 */
	assert_int_equal(emulate(0x94000002, &regs), 0x1008);	/* bl */
	assert_int_equal(regs.r[A64_LR], 0x1004);
	assert_int_equal(emulate(0xd65f03c0, &regs), 0x1004);	/* ret */
	assert_int_equal(emulate(0xb0000005, &regs), 0x1004);	/* adrp x5 */
	assert_int_equal(regs.r[5], 0x2000);
	assert_int_equal(emulate(0xd65f0bff, &regs), 0);	/* retaa */
}

static void
test_slot(void **state)
{
	static const uint8_t add[] = { 0x00, 0x04, 0x00, 0x91 };
	static const uint8_t literal[] = { 0x40, 0x00, 0x00, 0x58 };
	/* b to behind the original: 0x1004 - 0x2004 = -0x1000. */
	static const uint8_t want[] = {
		0x00, 0x04, 0x00, 0x91, 0x00, 0xfc, 0xff, 0x17,
	};
	struct slot_code slot;

	assert_int_equal(arch->slot_make(add, 4, 0x1000, 0x2000, &slot), 0);
	assert_int_equal(slot.len, 8);
	assert_int_equal(slot.after, 4);
	assert_memory_equal(slot.bytes, want, 8);
	assert_int_equal(arch->slot_make(add, 4, 0x1000, 0x20000000, &slot),
			 -1);
	assert_int_equal(arch->slot_make(literal, 4, 0x1000, 0x2000, &slot),
			 -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objdump),
		cmocka_unit_test(test_emulation),
		cmocka_unit_test(test_slot),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
