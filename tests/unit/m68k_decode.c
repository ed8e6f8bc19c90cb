/*
 * Lengths, kinds and targets of 68000 instructions: hand-assembled ones of
 * the Programmer's Reference Manual, and every operation word against
 * objdump, which is shown each instruction alone.
 */
#include <ctype.h>
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"

#include <cmocka.h>

enum { STRIDE = 32, OPS = 0x10000 };

/* All at address 0x1000; target 0 where there is none. */
static const struct {
	const char *what;
	uint8_t code[22];
	uint8_t size, len;
	enum insn_kind kind;
	uint64_t target;
} cases[] = {
	{ "moveq", { 0x70, 0xff }, 2, 2, INSN_PLAIN, 0 },
	{ "nop", { 0x4e, 0x71 }, 2, 2, INSN_PLAIN, 0 },
	{ "move.l #,(xxx).l",
	  { 0x23, 0xfc, 1, 2, 3, 4, 0, 0, 0x20, 0 },
	  10,
	  10,
	  INSN_PLAIN,
	  0 },
	{ "move.l ([bd,a0],d0,od),([bd,a1],d1,od)",
	  { 0x23, 0xb0, 0x01, 0x37, 0, 0, 1, 0, 0, 0, 2,
	    0,	  0x11, 0x37, 0,    0, 3, 0, 0, 0, 4, 0 },
	  22,
	  22,
	  INSN_PLAIN,
	  0 },
	{ "bra.s", { 0x60, 0xfe }, 2, 2, INSN_JUMP, 0x1000 },
	{ "bra.w", { 0x60, 0x00, 0x01, 0x00 }, 4, 4, INSN_JUMP, 0x1102 },
	{ "bra.l", { 0x60, 0xff, 0, 0, 0x20, 0 }, 6, 6, INSN_JUMP, 0x3002 },
	{ "bsr.s", { 0x61, 0x10 }, 2, 2, INSN_CALL, 0x1012 },
	{ "bsr.l",
	  { 0x61, 0xff, 0xff, 0xff, 0xf0, 0x00 },
	  6,
	  6,
	  INSN_CALL,
	  0x2 },
	{ "beq.s", { 0x67, 0x02 }, 2, 2, INSN_BRANCH, 0x1004 },
	{ "bhi.w", { 0x62, 0x00, 0xff, 0xfe }, 4, 4, INSN_BRANCH, 0x1000 },
	{ "dbf d0", { 0x51, 0xc8, 0xff, 0xfc }, 4, 4, INSN_BRANCH, 0xffe },
	{ "jmp (a0)", { 0x4e, 0xd0 }, 2, 2, INSN_JUMP_INDIRECT, 0 },
	{ "jmp 2(pc,d0.w)",
	  { 0x4e, 0xfb, 0x00, 0x02 },
	  4,
	  4,
	  INSN_JUMP_INDIRECT,
	  0 },
	{ "jmp (xxx).l",
	  { 0x4e, 0xf9, 0x80, 0, 0, 4 },
	  6,
	  6,
	  INSN_JUMP,
	  0x80000004 },
	{ "jmp 8(pc)", { 0x4e, 0xfa, 0x00, 0x08 }, 4, 4, INSN_JUMP, 0x100a },
	{ "jsr (a2)", { 0x4e, 0x92 }, 2, 2, INSN_CALL_INDIRECT, 0 },
	{ "jsr -4(pc)", { 0x4e, 0xba, 0xff, 0xfc }, 4, 4, INSN_CALL, 0xffe },
	{ "jsr (xxx).w", { 0x4e, 0xb8, 0x12, 0x34 }, 4, 4, INSN_CALL, 0x1234 },
	{ "rts", { 0x4e, 0x75 }, 2, 2, INSN_RETURN, 0 },
	{ "rtd", { 0x4e, 0x74, 0, 8 }, 4, 4, INSN_RETURN, 0 },
	{ "rte", { 0x4e, 0x73 }, 2, 2, INSN_RETURN, 0 },
	{ "trap #0", { 0x4e, 0x40 }, 2, 2, INSN_SYSCALL, 0 },
	{ "trap #15", { 0x4e, 0x4f }, 2, 2, INSN_TRAP, 0 },
	{ "illegal", { 0x4a, 0xfc }, 2, 2, INSN_STOP, 0 },
	{ "stop", { 0x4e, 0x72, 0x20, 0 }, 4, 4, INSN_STOP, 0 },
	{ "btst d1,#44", { 0x03, 0x3c, 0, 44 }, 4, 4, INSN_PLAIN, 0 },
	{ "fmove.x fp0,-274(fp)",
	  { 0xf2, 0x2e, 0x68, 0, 0xfe, 0xee },
	  6,
	  6,
	  INSN_PLAIN,
	  0 },
	{ "fmove.d #,fp0",
	  { 0xf2, 0x3c, 0x54, 0, 1, 2, 3, 4, 5, 6, 7, 8 },
	  12,
	  12,
	  INSN_PLAIN,
	  0 },
	{ "fmovem.x (sp)+,fp2",
	  { 0xf2, 0x1f, 0xd0, 0x20 },
	  4,
	  4,
	  INSN_PLAIN,
	  0 },
	{ "fbeq.w", { 0xf2, 0x81, 0, 0x10 }, 4, 4, INSN_BRANCH, 0x1012 },
	{ "fnop", { 0xf2, 0x80, 0, 0 }, 4, 4, INSN_PLAIN, 0 },
};

static void
test_table(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct insn insn;

		print_message("# %s\n", cases[i].what);
		assert_int_equal(arch_m68k.decode(cases[i].code, cases[i].size,
						  0x1000, &insn),
				 0);
		assert_int_equal(insn.len, cases[i].len);
		assert_int_equal(insn.kind, cases[i].kind);
		assert_int_equal(insn.target, cases[i].target);
		/* One byte less is none. */
		assert_int_equal(arch_m68k.decode(cases[i].code,
						  cases[i].size - 1u, 0x1000,
						  &insn),
				 -1);
	}
}

/* Only what subtracts sets the carry as a compare does. */
static void
test_compares(void **state)
{
	static const struct {
		uint8_t code[6];
		bool compares;
	} adds[] = {
		/* addi, add, subi and sub of a long, to d0 */
		{ { 0x06, 0x80, 0xff, 0xff, 0xff, 0xfb }, false },
		{ { 0xd0, 0xbc, 0xff, 0xff, 0xff, 0xfb }, false },
		{ { 0x04, 0x80, 0, 0, 0, 5 }, true },
		{ { 0x90, 0xbc, 0, 0, 0, 5 }, true },
		/* subq.l #5,d0 and addq.l #5,d0 */
		{ { 0x5b, 0x80 }, true },
		{ { 0x5a, 0x80 }, false },
	};
	struct effect effect;

	for (size_t i = 0; i < sizeof(adds) / sizeof(*adds); i++) {
		assert_int_equal(
			arch_m68k.effect(adds[i].code, 6, 0x1000, &effect), 0);
		assert_int_equal(effect.compares, adds[i].compares);
		if (effect.compares)
			assert_int_equal(effect.right, 5);
	}
}

static void
test_cpus(void **state)
{
	static const uint8_t bsr[] = { 0x61, 0xff, 0, 0, 0, 8 };
	static const uint8_t mulsl[] = { 0x4c, 0x01, 0x08, 0 };
	static const uint8_t aline[] = { 0xa0, 0x00 };
	struct insn insn;
	char text[64];

	assert_ptr_equal(arch_find(EM_68K, ELFCLASS32, 0), &arch_m68k);
	assert_ptr_equal(arch_find(EM_68K, ELFCLASS32, 0x01000000),
			 &arch_m68000);
	assert_null(arch_find(EM_68K, ELFCLASS32, 0x00008000));	/* CFV4E */
	assert_null(arch_find(EM_68K, ELFCLASS64, 0));
	assert_int_equal(arch_m68k.decode(mulsl, 4, 0, &insn), 0);
	assert_int_equal(arch_m68000.decode(mulsl, 4, 0, &insn), -1);
	assert_int_equal(arch_m68k.decode(aline, 2, 0, &insn), -1);
	assert_int_equal(arch_m68k.print(bsr, 6, 0x100, text, sizeof(text)), 0);
	assert_string_equal(text, "bsr.l $10a");
}

/* Words that follow an operation word, to have all kinds of extensions. */
static const uint16_t tails[][5] = {
	{ 0x0000, 0x0000, 0x0000, 0x0000, 0x0000 },
	{ 0x1234, 0x0010, 0x4466, 0x0020, 0x2468 },
	{ 0x0130, 0x0120, 0x0132, 0x0004, 0x0004 },
	{ 0x5400, 0x0162, 0x0004, 0x0004, 0x0004 },
	{ 0x4800, 0x0933, 0x0001, 0x0002, 0x0003 },
	{ 0x6822, 0x3170, 0x0004, 0x0004, 0x0004 },
	{ 0xf0ff, 0x0118, 0x0004, 0x0004, 0x0004 },
	{ 0x9000, 0x0171, 0x0004, 0x0004, 0x0004 },
};

static void
record_fill(uint8_t *p, unsigned op, const uint16_t *tail)
{
	p[0] = (uint8_t)(op >> 8);
	p[1] = (uint8_t)op;
	for (int i = 0; i < 5; i++) {
		p[2 + 2 * i] = (uint8_t)(tail[i] >> 8);
		p[3 + 2 * i] = (uint8_t)tail[i];
	}
	for (int i = 12; i < STRIDE; i += 2) {
		p[i] = 0x4e;
		p[i + 1] = 0x71;
	}
}

static bool
text_begins(const char *text, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(text, names[i], strlen(names[i])))
			return true;
	return false;
}

/* What kind objdump's text is of: "bccw 1000", "jmp %a0@". */
static enum insn_kind
objdump_kind(const char *text)
{
	static const char *const plain[] = {
		"bset", "bclr", "btst",	  "bchg",    "bkpt",
		"bf",	"fnop", "bitrev", "byterev",
	};
	static const char *const traps[] = { "bkpt", "trap #" };
	static const char *const returns[] = { "rt" };
	/* By the pc and nothing else, or not by anything. */
	bool direct = (!strchr(text, '%') && !strchr(text, '@')) ||
		      (strstr(text, "%pc@(") && !strchr(text, ',') &&
		       strchr(text, '@') == strrchr(text, '@'));

	if (!strncmp(text, "trap #0", 7) && !isxdigit((unsigned char)text[7]))
		return INSN_SYSCALL;
	if (text_begins(text, traps, 2))
		return INSN_TRAP;
	if (text_begins(text, returns, 1))
		return INSN_RETURN;
	if (!strncmp(text, "illegal", 7) || !strncmp(text, "stop", 4))
		return INSN_STOP;
	if (!strncmp(text, "jmp", 3))
		return direct ? INSN_JUMP : INSN_JUMP_INDIRECT;
	if (!strncmp(text, "jsr", 3))
		return direct ? INSN_CALL : INSN_CALL_INDIRECT;
	if (text_begins(text, plain, sizeof(plain) / sizeof(*plain)))
		return INSN_PLAIN;
	if (!strncmp(text, "bra", 3))
		return INSN_JUMP;
	if (!strncmp(text, "bsr", 3))
		return INSN_CALL;
	if (*text == 'b' || !strncmp(text, "fb", 2) ||
	    !strncmp(text, "db", 2) || !strncmp(text, "fdb", 3))
		return INSN_BRANCH;
	return INSN_PLAIN;
}

/* The address that the text ends with. */
static uint64_t
objdump_target(const char *text)
{
	const char *p = strstr(text, "0x");

	for (const char *q = p; q; q = strstr(q + 1, "0x"))
		p = q;
	return p ? strtoull(p, NULL, 16) : 0;
}

struct report_input {
	size_t known, wrong, missing;
};

/* One line of objdump's, of the record at addr. */
static void
line_compare(struct report_input *t, const struct arch *arch,
	     const uint8_t *blob, const char *line)
{
	char *p;
	uint64_t addr = strtoull(line, &p, 16);
	const char *text;
	struct insn insn;
	int len = 0;

	if (p == line || strncmp(p, ":\t", 2) || addr % STRIDE ||
	    addr >= (uint64_t)OPS * STRIDE)
		return;
	for (p += 2; isxdigit((unsigned char)*p); p += 4, len += 2)
		p += p[4] == ' ';
	text = strchr(p, '\t');
	if (!text)
		return;
	while (isxdigit((unsigned char)p[0])) {
		len += 2;
		p += 5;
	}
	text++;
	if (arch->decode(blob + addr, STRIDE, addr, &insn)) {
		/* Those of the 68851 are the kernel's only. */
		if (addr / STRIDE >> 9 != 0x78 &&
		    strncmp(text, ".short", 6) != 0 && t->missing++ < 30)
			print_message("# not decoded: %s", line);
		return;
	}
	/* objdump leaves out the operand of ftrapcc (3.19, FTRAPcc). */
	if (!strncmp(text, ".short", 6) || !strncmp(text, "ftrap", 5))
		return;
	t->known++;
	if (insn.len == (uint32_t)len && insn.kind == objdump_kind(text) &&
	    (!insn.target || insn.target == (uint32_t)objdump_target(text)))
		return;
	t->wrong++;
	if (t->wrong < 30)
		print_message("# len %u not %d, kind %d not %d, target %" PRIx64
			      ": %s",
			      insn.len, len, insn.kind, objdump_kind(text),
			      insn.target, line);
}

static void
tail_compare(const struct arch *arch, const char *machine, const uint16_t *tail)
{
	uint8_t *blob = malloc((size_t)OPS * STRIDE);
	char path[] = "/tmp/m68k-XXXXXX", cmd[256], line[512];
	struct report_input t = { 0 };
	int fd = mkstemp(path);
	FILE *f;

	assert_non_null(blob);
	for (unsigned op = 0; op < OPS; op++)
		record_fill(blob + (size_t)op * STRIDE, op, tail);
	assert_int_equal(write(fd, blob, (size_t)OPS * STRIDE),
			 (ssize_t)OPS * STRIDE);
	close(fd);
	snprintf(cmd, sizeof(cmd),
		 "m68k-linux-gnu-objdump -D -b binary "
		 "-m m68k:%s --insn-width=24 %s",
		 machine, path);
	f = popen(cmd, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		line_compare(&t, arch, blob, line);
	pclose(f);
	unlink(path);
	free(blob);
	print_message("# %s: %zu known, %zu objdump's only, %zu wrong\n",
		      arch->name, t.known, t.missing, t.wrong);
	assert_true(t.known > 30000);
	assert_int_equal(t.wrong, 0);
}

static void
test_objdump(void **state)
{
	if (system("m68k-linux-gnu-objdump --version >/dev/null 2>&1")) {
		print_message("# m68k-linux-gnu-objdump is not installed "
			      "(package binutils-m68k-linux-gnu)\n");
		skip();
	}
	/* Each with every operation word. */
	for (size_t i = 0;
	     i < (getenv("PMON_SLOW") ? sizeof(tails) / sizeof(*tails) : 3);
	     i++)
		tail_compare(&arch_m68k, "68040", tails[i]);
	for (size_t i = 0; i < (getenv("PMON_SLOW") ? 2 : 1); i++)
		tail_compare(&arch_m68000, "68000", tails[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_compares),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_objdump),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
