/*
 * Decoding against hand-assembled encodings of the Intel SDM, and against
 * objdump over every instruction of real programs; quick decoding against
 * Zydis.
 */
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/x86_64/x86.h"

static const struct arch *const arch = &arch_x86_64;

/* All at address 0x1000; target 0 where there is none. */
static const struct {
	const char *what;
	uint8_t code[15];
	uint8_t len;
	enum insn_kind kind;
	uint64_t target;
} cases[] = {
	{ "push %rbp", { 0x55 }, 1, INSN_PLAIN, 0 },
	{ "endbr64", { 0xf3, 0x0f, 0x1e, 0xfa }, 4, INSN_PLAIN, 0 },
	{ "nop", { 0x90 }, 1, INSN_PLAIN, 0 },
	{ "nopw 0(%rax,%rax,1)",
	  { 0x66, 0x0f, 0x1f, 0x44, 0, 0 },
	  6,
	  INSN_PLAIN,
	  0 },
	{ "movabs", { 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 }, 10, INSN_PLAIN, 0 },
	{ "movl $1, 4(%rip)",
	  { 0xc7, 0x05, 4, 0, 0, 0, 1, 0, 0, 0 },
	  10,
	  INSN_PLAIN,
	  0 },
	{ "vaddps", { 0xc5, 0xf4, 0x58, 0xc2 }, 4, INSN_PLAIN, 0 },
	{ "EVEX vaddps",
	  { 0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2 },
	  6,
	  INSN_PLAIN,
	  0 },
	{ "rep movsb", { 0xf3, 0xa4 }, 2, INSN_PLAIN, 0 },
	{ "lock inc (%rax)", { 0xf0, 0xff, 0x00 }, 3, INSN_PLAIN, 0 },
	{ "jmp rel8", { 0xeb, 0xfe }, 2, INSN_JUMP, 0x1000 },
	{ "jmp rel32", { 0xe9, 0, 1, 0, 0 }, 5, INSN_JUMP, 0x1105 },
	{ "bnd jmp rel32", { 0xf2, 0xe9, 0, 1, 0, 0 }, 6, INSN_JUMP, 0x1106 },
	{ "jo rel8", { 0x70, 0x10 }, 2, INSN_BRANCH, 0x1012 },
	{ "jg rel8", { 0x7f, 0x80 }, 2, INSN_BRANCH, 0xf82 },
	{ "jo rel32", { 0x0f, 0x80, 0, 0, 0, 0 }, 6, INSN_BRANCH, 0x1006 },
	{ "jg rel32",
	  { 0x0f, 0x8f, 0xfa, 0xff, 0xff, 0xff },
	  6,
	  INSN_BRANCH,
	  0x1000 },
	{ "jne,pt", { 0x3e, 0x75, 0 }, 3, INSN_BRANCH, 0x1003 },
	{ "loopne", { 0xe0, 0xfe }, 2, INSN_BRANCH, 0x1000 },
	{ "loope", { 0xe1, 0xfe }, 2, INSN_BRANCH, 0x1000 },
	{ "loop", { 0xe2, 0xfe }, 2, INSN_BRANCH, 0x1000 },
	{ "jrcxz", { 0xe3, 2 }, 2, INSN_BRANCH, 0x1004 },
	{ "jecxz", { 0x67, 0xe3, 2 }, 3, INSN_BRANCH, 0x1005 },
	{ "xbegin", { 0xc7, 0xf8, 2, 0, 0, 0 }, 6, INSN_BRANCH, 0x1008 },
	{ "call rel32", { 0xe8, 0, 0, 0, 0 }, 5, INSN_CALL, 0x1005 },
	{ "call *%rax", { 0xff, 0xd0 }, 2, INSN_CALL_INDIRECT, 0 },
	{ "call *8(%rip)",
	  { 0xff, 0x15, 8, 0, 0, 0 },
	  6,
	  INSN_CALL_INDIRECT,
	  0 },
	{ "lcall *(%rax)", { 0xff, 0x18 }, 2, INSN_CALL_INDIRECT, 0 },
	{ "jmp *%rax", { 0xff, 0xe0 }, 2, INSN_JUMP_INDIRECT, 0 },
	{ "notrack jmp *%rax", { 0x3e, 0xff, 0xe0 }, 3, INSN_JUMP_INDIRECT, 0 },
	{ "jmp *8(%rip)",
	  { 0xff, 0x25, 8, 0, 0, 0 },
	  6,
	  INSN_JUMP_INDIRECT,
	  0 },
	{ "ljmp *(%rax)", { 0xff, 0x28 }, 2, INSN_JUMP_INDIRECT, 0 },
	{ "ret", { 0xc3 }, 1, INSN_RETURN, 0 },
	{ "rep ret", { 0xf3, 0xc3 }, 2, INSN_RETURN, 0 },
	{ "ret $8", { 0xc2, 8, 0 }, 3, INSN_RETURN, 0 },
	{ "lret", { 0xcb }, 1, INSN_RETURN, 0 },
	{ "iretq", { 0x48, 0xcf }, 2, INSN_RETURN, 0 },
	{ "iret", { 0xcf }, 1, INSN_RETURN, 0 },
	{ "syscall", { 0x0f, 0x05 }, 2, INSN_SYSCALL, 0 },
	{ "sysenter", { 0x0f, 0x34 }, 2, INSN_SYSCALL, 0 },
	{ "int $0x80", { 0xcd, 0x80 }, 2, INSN_SYSCALL, 0 },
	{ "int3", { 0xcc }, 1, INSN_TRAP, 0 },
	{ "int $3", { 0xcd, 3 }, 2, INSN_TRAP, 0 },
	{ "int1", { 0xf1 }, 1, INSN_TRAP, 0 },
	{ "hlt", { 0xf4 }, 1, INSN_STOP, 0 },
	{ "ud2", { 0x0f, 0x0b }, 2, INSN_STOP, 0 },
	{ "ud1 %eax, %eax", { 0x0f, 0xb9, 0xc0 }, 3, INSN_STOP, 0 },
	{ "ud0 %eax, %eax", { 0x0f, 0xff, 0xc0 }, 3, INSN_STOP, 0 },
};

static void
test_table(void **state)
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

static void
test_no_instruction(void **state)
{
	static const uint8_t codes[][15] = {
		{ 0x06 },			/* push %es: not 64-bit */
		{ 0x0f, 0x04 },
		{ 0xf0, 0x90 },			/* lock nop */
		{ 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
		  0x66, 0x66, 0x66, 0x66, 0x66 },	/* only prefixes */
	};
	struct insn insn;

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		assert_int_equal(arch->decode(codes[i], 15, 0, &insn), -1);
	assert_int_equal(arch->decode(codes[0], 0, 0, &insn), -1);
}

/* Bytes that begin instructions of every kind that x86_quick knows. */
static void
code_random(uint32_t *seed, uint8_t *code, size_t n)
{
	static const uint8_t starts[] = {
		0x66, 0xf2, 0xf3, 0x2e, 0x64, 0x48, 0x4f, 0x41, 0x66, 0x0f,
	};
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		*seed = *seed * 1103515245 + 12345;
		code[i] = (uint8_t)(*seed >> 16);
	}
	for (uint32_t r = *seed >> 8; r & 1; r >>= 1, k++)
		code[k] = starts[code[k] % sizeof(starts)];
}

/* x86_quick says of random bytes what Zydis says, or nothing. */
static void
test_quick(void **state)
{
	uint8_t code[48];
	uint32_t seed = 1, quick = 0;

	for (int i = 0; i < 400000; i++) {
		ZydisDecodedInstruction zinsn;
		struct insn insn;
		bool relative;

		code_random(&seed, code, sizeof(code));
		if (!x86_quick(code, 15, 0x1000, &insn))
			continue;
		quick++;
		assert_int_equal(x86_decode(code, 15, &zinsn, NULL), 0);
		relative = zinsn.raw.imm[0].is_relative;
		assert_int_equal(insn.addr, 0x1000);
		assert_int_equal(insn.len, zinsn.length);
		assert_int_equal(insn.kind, x86_kind(&zinsn));
		assert_int_equal(insn.target,
				 relative ? 0x1000 + zinsn.length +
						    zinsn.raw.imm[0].value.u :
					    0);
	}
	print_message("# %u of 400000 were quick\n", quick);
	assert_true(quick > 100000);
}

/*
 * x86_motion, which keeps what it learns of an opcode, says of random bytes
 * what decoding in full says.
 */
static void
test_motion(void **state)
{
	uint8_t code[48];
	uint32_t seed = 2, same = 0;

	for (int i = 0; i < 400000; i++) {
		struct motion motion, full;

		code_random(&seed, code, sizeof(code));
		assert_int_equal(x86_motion(code, 15, 0x1000, &motion),
				 x86_motion_full(code, 15, 0x1000, &full));
		if (x86_motion_full(code, 15, 0x1000, &full))
			continue;
		same++;
		assert_int_equal(motion.reads, full.reads);
		assert_int_equal(motion.writes, full.writes);
		assert_int_equal(motion.lands, full.lands);
		assert_int_equal(motion.idle, full.idle);
		assert_int_equal(motion.stack, full.stack);
		assert_int_equal(motion.disp, full.disp);
		assert_int_equal(motion.refers, full.refers);
		assert_int_equal(motion.loads, full.loads);
		assert_int_equal(motion.cond, full.cond);
	}
	assert_true(same > 100000);
}

static void
place_equal(const struct place *a, const struct place *b)
{
	assert_int_equal(a->kind, b->kind);
	if (a->kind == PLACE_NONE)
		return;
	assert_int_equal(a->width, b->width);
	assert_int_equal(a->reg, b->reg);
	assert_int_equal(a->index, b->index);
	assert_int_equal(a->scale, b->scale);
	assert_int_equal(a->index_width, b->index_width);
	assert_int_equal(a->index_sign, b->index_sign);
	assert_int_equal(a->disp, b->disp);
}

/* The quick effect is that of decoding in full. */
static void
test_effect(void **state)
{
	uint8_t code[48];
	uint32_t seed = 4, quick = 0;

	for (int i = 0; i < 400000; i++) {
		struct effect effect, full;

		code_random(&seed, code, sizeof(code));
		if (!x86_quick_effect(code, 15, 0x1000, &effect))
			continue;
		quick++;
		assert_int_equal(x86_effect_full(code, 15, 0x1000, &full), 0);
		assert_int_equal(effect.op, full.op);
		assert_int_equal(effect.cond, full.cond);
		assert_int_equal(effect.sign, full.sign);
		assert_int_equal(effect.flags, full.flags);
		assert_int_equal(effect.compares, full.compares);
		assert_int_equal(effect.stores, full.stores);
		assert_int_equal(effect.sp, full.sp);
		assert_int_equal(effect.imm, full.imm);
		assert_int_equal(effect.right, full.right);
		assert_int_equal(effect.kills, full.kills);
		assert_int_equal(effect.spoils, full.spoils);
		place_equal(&effect.dst, &full.dst);
		place_equal(&effect.src, &full.src);
		place_equal(&effect.left, &full.left);
		place_equal(&effect.operand, &full.operand);
	}
	assert_true(quick > 10000);
}

/* What x86_addressless passes over has no address in x86_effect's sense. */
static void
test_addressless(void **state)
{
	uint8_t code[48];
	uint32_t seed = 3, passed = 0;

	for (int i = 0; i < 400000; i++) {
		struct effect effect;

		code_random(&seed, code, sizeof(code));
		if (!x86_addressless(code, 15))
			continue;
		passed++;
		assert_int_equal(x86_effect(code, 15, 0x1000, &effect), 0);
		assert_false(effect.src.kind == PLACE_MEM &&
			     effect.src.reg == REG_NONE && effect.src.disp);
		assert_false(
			(effect.op == EFFECT_COPY || effect.op == EFFECT_SUM) &&
			effect.dst.kind == PLACE_REG &&
			effect.dst.reg == X86_RBP && effect.src.reg == X86_RSP);
	}
	assert_true(passed > 50000);
}

static void
test_print(void **state)
{
	static const uint8_t call[] = { 0xe8, 0x10, 0, 0, 0 };
	static const uint8_t lea[] = { 0x48, 0x8d, 0x05, 0x10, 0, 0, 0 };
	static const uint8_t bad[] = { 0x06 };
	char buf[128];

	assert_int_equal(arch->print(call, 5, 0x1000, buf, sizeof(buf)), 0);
	assert_non_null(strstr(buf, "call"));
	assert_non_null(strstr(buf, "1015"));
	assert_int_equal(arch->print(lea, 7, 0x1000, buf, sizeof(buf)), 0);
	assert_non_null(strstr(buf, "1017"));
	assert_non_null(strstr(buf, ", %rax"));
	assert_int_equal(arch->print(bad, 1, 0x1000, buf, sizeof(buf)), -1);
	assert_int_equal(arch->print(call, 5, 0x1000, buf, 3), -1);
}

/* The text begins with the stem, the condition's name and a blank. */
static void
spelling_check(const uint8_t *code, size_t size, const char *stem,
	       const char *condition)
{
	char buf[128], name[16];

	snprintf(name, sizeof(name), "%s%s ", stem, condition);
	assert_int_equal(arch->print(code, size, 0x1000, buf, sizeof(buf)), 0);
	buf[strlen(name)] = '\0';
	assert_string_equal(buf, name);
}

/* Conditions by their numbers (Intel SDM, volume 2, B.1.4.7), as objdump's. */
static void
test_spelling(void **state)
{
	static const char *const names[] = {
		"o", "no", "b", "ae", "e", "ne", "be", "a",
		"s", "ns", "p", "np", "l", "ge", "le", "g",
	};

	for (uint8_t i = 0; i < 16; i++) {
		const uint8_t jump[] = { 0x70 | i, 0x10 };
		const uint8_t far[] = { 0x0f, 0x80 | i, 0, 1, 0, 0 };
		const uint8_t set[] = { 0x0f, 0x90 | i, 0xc0 };
		const uint8_t set_memory[] = { 0x0f, 0x90 | i, 0 };
		const uint8_t move[] = { 0x0f, 0x40 | i, 0xc1 };

		spelling_check(jump, sizeof(jump), "j", names[i]);
		spelling_check(far, sizeof(far), "j", names[i]);
		spelling_check(set, sizeof(set), "set", names[i]);
		spelling_check(set_memory, sizeof(set_memory), "set", names[i]);
		spelling_check(move, sizeof(move), "cmov", names[i]);
	}
	/* and $-16, %rsp */
	{
		static const uint8_t code[] = { 0x48, 0x83, 0xe4, 0xf0 };
		char buf[128];

		assert_int_equal(arch->print(code, 4, 0, buf, sizeof(buf)), 0);
		assert_non_null(strcasestr(buf, "$0xfffffffffffffff0, "));
	}
}

static void
test_find(void **state)
{
	assert_ptr_equal(arch_find(EM_X86_64, ELFCLASS64, 0), &arch_x86_64);
	assert_null(arch_find(EM_X86_64, ELFCLASS32, 0));	/* x32 */
	assert_null(arch_find(EM_386, ELFCLASS32, 0));
	assert_int_equal(arch->first(0x1234), 0x1234);
}

/* The kind that objdump's text of an instruction says. */
static enum insn_kind
objdump_kind(const char *m)
{
	static const char *const prefixes[] = {
		"bnd ", "notrack ", "repz ", "cs ", "ds ", "data16 ",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(m, prefixes[i], strlen(prefixes[i]))) {
			m += strlen(prefixes[i]);
			i = (size_t)-1;
		}
	if (!strncmp(m, "jmp", 3) || !strncmp(m, "ljmp", 4))
		return strstr(m, " *") ? INSN_JUMP_INDIRECT : INSN_JUMP;
	if (!strncmp(m, "call", 4) || !strncmp(m, "lcall", 5))
		return strstr(m, " *") ? INSN_CALL_INDIRECT : INSN_CALL;
	if (*m == 'j' || !strncmp(m, "loop", 4) || !strncmp(m, "xbegin", 6))
		return INSN_BRANCH;
	if (!strncmp(m, "ret", 3) || !strncmp(m, "lret", 4) ||
	    !strncmp(m, "iret", 4))
		return INSN_RETURN;
	if (!strncmp(m, "int3", 4) || !strncmp(m, "int    $0x3\n", 12))
		return INSN_TRAP;
	if (!strncmp(m, "syscall", 7) || !strncmp(m, "int ", 4))
		return INSN_SYSCALL;
	if (!strncmp(m, "hlt", 3) || !strncmp(m, "ud", 2))
		return INSN_STOP;
	return INSN_PLAIN;
}

/* "  401136:\tf3 0f 1e fa \tendbr64"; the bytes' number, 0 if no such line */
static int
objdump_parse(char *line, uint64_t *addr, uint8_t *code, char **mnemonic)
{
	char *p;
	int n = 0, used;

	*addr = strtoull(line, &p, 16);
	if (p == line || strncmp(p, ":\t", 2))
		return 0;
	p += 2;
	while (n < INSN_MAX && sscanf(p, "%2hhx %n", &code[n], &used) == 1 &&
	       *p != '\t') {
		p += 2;
		n++;
		while (*p == ' ')
			p++;
	}
	if (*p != '\t')
		return 0;
	*mnemonic = p + 1;
	return n;
}

static uint64_t
objdump_target(const char *mnemonic)
{
	const char *p = strchr(mnemonic, '<');

	/* "jmp    401040 <puts@plt>" */
	if (!p)
		return 0;
	for (p--; p > mnemonic && p[-1] != ' '; p--)
		;
	return strtoull(p, NULL, 16);
}

/*
 * objdump prints a prefix without effect, or a byte that begins nothing, as
 * a line of its own.
 */
static int
objdump_unsure(const char *mnemonic)
{
	return strstr(mnemonic, "(bad)") || strchr(mnemonic, ' ') == NULL ||
	       !strncmp(mnemonic, "rex", 3) || !strncmp(mnemonic, "fwait", 5);
}

static void
compare_file(const char *path)
{
	char cmd[512], line[1024], *mnemonic;
	size_t n = 0, differ = 0;
	uint8_t code[INSN_MAX];
	struct insn insn;
	uint64_t addr;
	FILE *f;
	int len;

	snprintf(cmd, sizeof(cmd), "objdump -d --insn-width=16 -j .text '%s'",
		 path);
	f = popen(cmd, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		len = objdump_parse(line, &addr, code, &mnemonic);
		if (!len)
			continue;
		n++;
		if (arch->decode(code, (size_t)len, addr, &insn)) {
			if (!objdump_unsure(mnemonic)) {
				print_message("# not decoded: %s", line);
				differ++;
			}
			continue;
		}
		if ((int)insn.len != len ||
		    insn.kind != objdump_kind(mnemonic) ||
		    (insn.target && insn.target != objdump_target(mnemonic))) {
			print_message("# len %u kind %d target %" PRIx64 ": %s",
				      insn.len, insn.kind, insn.target, line);
			differ++;
		}
	}
	pclose(f);
	print_message("# %s: %zu instructions\n", path, n);
	assert_true(n > 1000);
	assert_int_equal(differ, 0);
}

static void
test_objdump(void **state)
{
	static const char *const paths[] = {
		"/usr/bin/git",
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/usr/bin/perl",
		"/proc/self/exe",
	};
	char self[256];
	ssize_t len;

	if (system("objdump --version >/dev/null 2>&1")) {
		print_message("# objdump is not installed\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		const char *path = paths[i];

		if (access(path, R_OK)) {
			print_message("# there is no %s\n", path);
			continue;
		}
		len = readlink(path, self, sizeof(self) - 1);
		if (!strcmp(path, "/proc/self/exe") && len > 0) {
			self[len] = '\0';
			path = self;
		}
		compare_file(path);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_no_instruction),
		cmocka_unit_test(test_quick),
		cmocka_unit_test(test_motion),
		cmocka_unit_test(test_effect),
		cmocka_unit_test(test_addressless),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_spelling),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_objdump),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
