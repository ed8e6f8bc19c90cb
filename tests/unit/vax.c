/*
 * VAX instructions: against what objdump made of every opcode with operands
 * of every kind (tests/vax/decodings, which tools/vax-decodings makes), and
 * against the handbook where objdump has no opinion.
 */
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "flow/cfg.h"

static const struct arch *const arch = &arch_vax;

/* All at address 0x1000; target 0 where there is none. */
static const struct {
	const char *what;
	uint8_t code[24];
	uint8_t len;		/* of code; the instruction's, with its table */
	enum insn_kind kind;
	uint64_t target;
} cases[] = {
	{ "halt", { 0x00 }, 1, INSN_STOP, 0 },
	{ "nop", { 0x01 }, 1, INSN_PLAIN, 0 },
	{ "rei", { 0x02 }, 1, INSN_RETURN, 0 },
	{ "bpt", { 0x03 }, 1, INSN_TRAP, 0 },
	{ "ret", { 0x04 }, 1, INSN_RETURN, 0 },
	{ "rsb", { 0x05 }, 1, INSN_RETURN, 0 },
	{ "ldpctx", { 0x06 }, 1, INSN_PLAIN, 0 },
	{ "bsbb", { 0x10, 0x10 }, 2, INSN_CALL, 0x1012 },
	{ "brb", { 0x11, 0xfe }, 2, INSN_JUMP, 0x1000 },
	{ "bneq", { 0x12, 0x80 }, 2, INSN_BRANCH, 0xf82 },
	{ "blssu", { 0x1f, 0x7f }, 2, INSN_BRANCH, 0x1081 },
	{ "jsb (r0)", { 0x16, 0x60 }, 2, INSN_CALL_INDIRECT, 0 },
	{ "jsb @#", { 0x16, 0x9f, 1, 2, 3, 0x40 }, 6, INSN_CALL, 0x40030201 },
	{ "jmp relative byte", { 0x17, 0xaf, 0x10 }, 3, INSN_JUMP, 0x1013 },
	{ "jmp relative word", { 0x17, 0xcf, 0, 0xff }, 4, INSN_JUMP, 0xf04 },
	{ "jmp relative long",
	  { 0x17, 0xef, 0, 0, 1, 0 },
	  6,
	  INSN_JUMP,
	  0x11006 },
	{ "jmp relative, beyond 2^32",
	  { 0x17, 0xef, 0, 0, 0xff, 0xff },
	  6,
	  INSN_JUMP,
	  0xffff1006 },
	{ "jmp @(r1)+", { 0x17, 0x91 }, 2, INSN_JUMP_INDIRECT, 0 },
	{ "jmp relative deferred",
	  { 0x17, 0xbf, 0x10 },
	  3,
	  INSN_JUMP_INDIRECT,
	  0 },
	{ "jmp relative indexed",
	  { 0x17, 0x41, 0xaf, 0x10 },
	  4,
	  INSN_JUMP_INDIRECT,
	  0 },
	{ "bsbw", { 0x30, 0, 1 }, 3, INSN_CALL, 0x1103 },
	{ "brw", { 0x31, 0xfd, 0xff }, 3, INSN_JUMP, 0x1000 },
	{ "acbb",
	  { 0x9d, 0x01, 0x02, 0x50, 0x00, 0x01 },
	  6,
	  INSN_BRANCH,
	  0x1106 },
	{ "acbh",
	  { 0xfd, 0x6f, 0x50, 0x54, 0x61, 0xf9, 0xff },
	  7,
	  INSN_BRANCH,
	  0x1000 },
	{ "bbs", { 0xe0, 0x03, 0x50, 0x05 }, 4, INSN_BRANCH, 0x1009 },
	{ "blbc", { 0xe9, 0x50, 0x05 }, 3, INSN_BRANCH, 0x1008 },
	{ "aoblss", { 0xf2, 0x0a, 0x50, 0xfc }, 4, INSN_BRANCH, 0x1000 },
	{ "sobgtr", { 0xf5, 0x50, 0xfd }, 3, INSN_BRANCH, 0x1000 },
	{ "chmk", { 0xbc, 0x04 }, 2, INSN_SYSCALL, 0 },
	{ "chmu", { 0xbf, 0x8f, 0x39, 0x30 }, 4, INSN_SYSCALL, 0 },
	{ "callg", { 0xfa, 0x6c, 0xaf, 0x04 }, 4, INSN_CALL, 0x1008 },
	{ "calls", { 0xfb, 0x02, 0xef, 0, 0, 0, 0 }, 7, INSN_CALL, 0x1007 },
	{ "calls (r2)", { 0xfb, 0x02, 0x62 }, 3, INSN_CALL_INDIRECT, 0 },
	{ "calls *8(ap)",
	  { 0xfb, 0x02, 0xbc, 0x08 },
	  4,
	  INSN_CALL_INDIRECT,
	  0 },
	{ "xfc", { 0xfc }, 1, INSN_STOP, 0 },
	{ "bugw", { 0xff, 0xfe, 0x8f, 1, 2 }, 5, INSN_STOP, 0 },
	{ "casel, literal limit",
	  { 0xcf, 0x50, 0x00, 0x02, 6, 0, 8, 0, 0xfc, 0xff },
	  10,
	  INSN_JUMP_INDIRECT,
	  0 },
	{ "caseb, immediate limit",
	  { 0x8f, 0x50, 0x8f, 0x10, 0x8f, 0x01, 4, 0, 6, 0 },
	  10,
	  INSN_JUMP_INDIRECT,
	  0 },
	{ "casew, limit 0",
	  { 0xaf, 0x50, 0x00, 0x00, 2, 0 },
	  6,
	  INSN_JUMP_INDIRECT,
	  0 },
};

static void
test_kinds(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct insn insn;

		print_message("# %s\n", cases[i].what);
		assert_int_equal(arch->decode(cases[i].code, cases[i].len,
					      0x1000, &insn),
				 0);
		assert_int_equal(insn.addr, 0x1000);
		assert_int_equal(insn.len, cases[i].len);
		assert_int_equal(insn.kind, cases[i].kind);
		assert_int_equal(insn.target, cases[i].target);
		/* One byte too few is no instruction. */
		assert_int_equal(arch->decode(cases[i].code, cases[i].len - 1,
					      0x1000, &insn),
				 -1);
	}
}

/* Reserved addressing mode faults, and CASE of which the end is not known. */
static void
test_refused(void **state)
{
	static const uint8_t codes[][16] = {
		{ 0xd0, 0x50, 0x01 },		/* movl r0,$1 */
		{ 0xd6, 0x01 },			/* incl $1 */
		{ 0xde, 0x50, 0x51 },		/* moval r0,r1 */
		{ 0xe0, 0x01, 0x02, 0x00 },	/* bbs $1,$2,.+4 */
		{ 0x17, 0x50 },			/* jmp r0 */
		{ 0xd0, 0x5f, 0x50 },		/* movl pc,r0 */
		{ 0xd0, 0x7f, 0x50 },		/* movl -(pc),r0 */
		{ 0xd0, 0x4f, 0x60, 0x50 },	/* movl (r0)[pc],r0 */
		{ 0xd0, 0x41, 0x01, 0x50 },	/* movl $1[r1],r0 */
		{ 0xd0, 0x41, 0x52, 0x50 },	/* movl r2[r1],r0 */
		{ 0xd0, 0x41, 0x42, 0x60, 0x50 },
		{ 0xd0, 0x41, 0x8f, 0, 0, 0, 0, 0x50 },
		{ 0xcf, 0x50, 0x00, 0x51 },	/* casel r0,$0,r1 */
		{ 0xcf, 0x50, 0x00, 0x8f, 0xff, 0xff, 0xff, 0xff },
	};
	struct insn insn;
	char buf[64];

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		print_message("# %zu\n", i);
		assert_int_equal(arch->decode(codes[i], 16, 0, &insn), -1);
	}
	assert_int_equal(arch->decode(codes[0], 0, 0, &insn), -1);
	assert_int_equal(arch->print(codes[0], 3, 0, buf, 64), -1);
}

static void
test_targets(void **state)
{
	static const uint8_t casel[] = { 0xcf, 0x50, 0x00, 0x02, 6,
					 0,    8,    0,	   0xfc, 0xff };
	static const uint8_t movl[] = { 0xd0, 0x50, 0x51 };
	uint64_t *targets = NULL;
	size_t n = 0;

	assert_int_equal(arch->targets(casel, 10, 0x1000, &targets, &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(targets[0], 0x100a);
	assert_int_equal(targets[1], 0x100c);
	assert_int_equal(targets[2], 0x1000);
	assert_int_equal(targets[3], 0x100a);	/* out of range */
	assert_int_equal(arch->targets(casel, 9, 0x1000, &targets, &n), -1);
	assert_int_equal(arch->targets(movl, 3, 0x1000, &targets, &n), -1);
	assert_int_equal(n, 4);
	free(targets);
}

/* At 0x1000: a switch with a table whose bytes would decode as something. */
static const uint8_t switched[] = {
	0xcf, 0x50, 0x00, 0x02,		/* casel r0,$0,$2 */
	0x08, 0x00, 0x09, 0x00, 0x0c, 0x00, 0xd4, 0x51, /* 100a: clrl r1 */
	0x04,				/* 100c: ret */
	0xd6, 0x51,			/* 100d: incl r1 */
	0x04,				/* 100f: ret */
	0x17, 0x62,			/* 1010: jmp (r2) */
};

static const uint8_t *
switched_text(void *ctx, uint64_t addr, size_t *avail)
{
	*avail = sizeof(switched) - (addr - 0x1000);
	return switched + (addr - 0x1000);
}

/* The graph of the text from 0x1000 up to hi. */
static struct cfg *
switched_cfg(uint64_t hi)
{
	uint64_t lo = 0x1000;

	return cfg_make(&(struct cfg_input){
		.arch = arch,
		.lo = &lo,
		.hi = &hi,
		.n = 1,
		.text = switched_text,
	});
}

static void
test_graph(void **state)
{
	static const uint64_t found[] = { 0x100a, 0x100c, 0x100d, 0x1010 };
	struct cfg *cfg = switched_cfg(0x1012);

	assert_int_equal(cfg->bad, 0);
	assert_int_equal(cfg->ninsns, 6);
	assert_int_equal(cfg->insns[0].flow, FLOW_TABLE);
	/* What is reached out of range, falling through, twice, and never. */
	assert_int_equal(cfg->nblocks, 5);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(cfg_block(cfg, found[i]), i + 1);
	assert_int_equal(cfg->in[2] - cfg->in[1], 1);
	assert_int_equal(cfg->in[3] - cfg->in[2], 2);
	assert_int_equal(cfg->in[4] - cfg->in[3], 1);
	assert_int_equal(cfg->in[5] - cfg->in[4], 1);
	assert_true(cfg->unresolved);	/* jmp (r2) */
	cfg_free(cfg);
	/* A part of the cases is not in the function: the jump leaves it. */
	cfg = switched_cfg(0x100d);
	assert_int_equal(cfg->insns[0].flow, FLOW_TABLE_LEAVES);
	assert_false(cfg->unresolved);
	cfg_free(cfg);
}

static void
test_print(void **state)
{
	static const uint8_t subl3[] = { 0xc3, 0xac, 0x04, 0x61, 0x50 };
	char buf[64];

	assert_int_equal(arch->print(subl3, 5, 0, buf, 22), 0);
	assert_string_equal(buf, "subl3 0x4(ap),(r1),r0");
	assert_int_equal(arch->print(subl3, 5, 0, buf, 21), -1);
}

static void
test_find(void **state)
{
	static const uint8_t movpsl[] = { 0xdc, 0x50 }, movl[] = { 0xd0 };

	assert_ptr_equal(arch_find(EM_VAX, ELFCLASS32, 0), &arch_vax);
	assert_null(arch_find(EM_VAX, ELFCLASS64, 0));
	assert_int_equal(arch->first(0x1000), 0x1002);
	assert_true(arch->step_shows(movpsl, 2));
	assert_false(arch->step_shows(movl, 1));
}

/* A line of the file; false at its end. */
static bool
line_read(FILE *f, uint64_t *addr, uint8_t *code, size_t *len, char *text)
{
	char line[512], hex[160];
	int at;

	if (!fgets(line, sizeof(line), f))
		return false;
	line[strcspn(line, "\n")] = '\0';
	assert_int_equal(sscanf(line, "%" SCNx64 " %159s %n", addr, hex, &at),
			 2);
	snprintf(text, sizeof(line), "%s", line + at);
	*len = strlen(hex) / 2;
	assert_true(*len <= INSN_MAX);
	for (size_t i = 0; i < *len; i++)
		assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &code[i]), 1);
	return true;
}

static bool
line_agrees(uint64_t addr, const uint8_t *code, size_t len, const char *text)
{
	bool is_case = !strncmp(text, "case", 4);
	char buf[256];
	struct insn insn;

	if (!strcmp(text, "-"))
		return arch->decode(code, INSN_MAX, addr, &insn) == -1;
	if (arch->print(code, len, addr, buf, sizeof(buf)) ||
	    strcmp(buf, text)) {
		print_message("# %s: %s\n", text, buf);
		return false;
	}
	if (arch->print(code, len - 1, addr, buf, sizeof(buf)) != -1)
		return false;
	/* objdump does not know that a table follows. */
	if (is_case)
		return true;
	return !arch->decode(code, len, addr, &insn) && insn.len == len;
}

static void
test_objdump(void **state)
{
	FILE *f = fopen("tests/vax/decodings", "r");
	size_t n = 0, differ = 0, len;
	uint8_t code[INSN_MAX + 1];
	char text[512];
	uint64_t addr;

	assert_non_null(f);
	for (;;) {
		memset(code, 1, sizeof(code));
		if (!line_read(f, &addr, code, &len, text))
			break;
		n++;
		if (!line_agrees(addr, code, len, text)) {
			print_message("# differs: %" PRIx64 " %s\n", addr,
				      text);
			differ++;
		}
	}
	fclose(f);
	print_message("# %zu instructions\n", n);
	assert_true(n > 3000);
	assert_int_equal(differ, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	cmocka_unit_test(test_refused),
		cmocka_unit_test(test_targets), cmocka_unit_test(test_graph),
		cmocka_unit_test(test_print),	cmocka_unit_test(test_find),
		cmocka_unit_test(test_objdump),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
