/*
 * Where control leaves a function and enters it otherwise than by calls and
 * returns: calls that never come back, and landing pads of exceptions, as
 * images of compiled and assembled code say.
 */
#include "tests/lib/build.h"

#include "program/image_graphs.h"
#include "symtab/lsda.h"

/*
 * Functions whose calls come back are named yes_, those whose calls do not
 * no_; `all` calls each, but never is run.
 */
static const char calls[] =
	"#include <err.h>\n"
	"#include <setjmp.h>\n"
	"#include <stdlib.h>\n"
	"#include <unistd.h>\n"
	"#define FUNC __attribute__((noinline, noclone, used)) void\n"
	"volatile int v; jmp_buf buf; void (*volatile f)(void);\n"
	"FUNC no_abort(void) { abort(); }\n"
	"FUNC no_exit(void) { if (v) exit(1); else _exit(2); }\n"
	"FUNC no_far(void) { v++; no_exit(); }\n"
	"FUNC no_jump(void) { longjmp(buf, 1); }\n"
	"FUNC no_end(void) { for (;;) v++; }\n"
	"FUNC no_trap(void) { v = 3; __builtin_trap(); }\n"
	"void no_odd(void);\n"
	"FUNC no_even(void) { v++; no_odd(); v--; }\n"
	"FUNC no_odd(void) { v += 2; no_even(); v -= 2; }\n"
	"FUNC no_cases(void) { switch (v) { case 1: err(1, \"\");"
	" case 2: errx(1, \"\"); default: no_far(); } }\n"
	"/* Of its calls nothing is known but that the last ends it. */\n"
	"void (*volatile quit)(int) __attribute__((noreturn));\n"
	"FUNC no_pointer(void) { if (v > 4) f(); quit(v); }\n"
	"FUNC yes_plain(void) { v = 1; }\n"
	"FUNC no_last(void) { if (v) f(); no_pointer(); }\n"
	"FUNC yes_maybe(void) { if (v) abort(); }\n"
	"FUNC yes_pointer(void) { f(); }\n"
	"FUNC yes_loop(void) { while (v) v--; }\n"
	"void yes_odd(void);\n"
	"FUNC yes_even(void) { if (v-- > 0) yes_odd(); }\n"
	"FUNC yes_odd(void) { v--; yes_even(); v++; }\n"
	"FUNC yes_tail(void) { v = 9; yes_maybe(); }\n"
	"FUNC yes_sleep(void) { pause(); }\n"
	"FUNC no_frame(void) { __asm__(\"mov %%rbp, %%rsp\");"
	" __builtin_trap(); }\n"
	"void *other;\n"
	"/* Somebody may come back to the stack that is left. */\n"
	"FUNC yes_switch(void) { __asm__(\"mov other(%%rip), %%rsp\");"
	" __builtin_trap(); }\n"
	"FUNC yes_stack(void) { __asm__(\"mov %%rdi, %%rsp\");"
	" __builtin_trap(); }\n"
	"/* As a program may call its own. */\n"
	"FUNC thrd_exit(void) { v++; }\n"
	"FUNC yes_name(void) { v++; thrd_exit(); v--; }\n"
	"/* Behind their last calls they go on in the next function. */\n"
	"#define SYM(f) \".globl \" #f \"\\n.type \" #f"
	" \", @function\\n\" #f \":\\n\"\n"
	"#define END(f) \".size \" #f \", . - \" #f \"\\n\"\n"
	"__asm__(\".text\\n\"\n"
	"SYM(yes_falls) \"nop\\ncall *f(%%rip)\\n\" END(yes_falls)\n"
	"SYM(behind) \"ret\\n\" END(behind)\n"
	"SYM(yes_pads) \"call *f(%%rip)\\n\" END(yes_pads)"
	" \".p2align 4\\n\"\n"
	"SYM(padded) \"ret\\n\" END(padded)\n"
	"SYM(yes_pops) \"push %%rbx\\ncall *f(%%rip)\\n\" END(yes_pops)\n"
	"SYM(popping) \"call *f(%%rip)\\npop %%rbx\\nret\\n\""
	" END(popping)\n"
	"SYM(yes_two) \"cmp %%eax, v(%%rip)\\nje 1f\\npush %%rbx\\n\"\n"
	"\"1: call *f(%%rip)\\n\" END(yes_two)\n"
	"SYM(two) \"ret\\n\" END(two)\n"
	"SYM(yes_moved) \"push %%rdx\\nsub %%rdx, %%rsp\\ncall *f(%%rip)\\n\""
	" END(yes_moved)\n"
	"SYM(moved) \"ret\\n\" END(moved)\n"
	"SYM(yes_unnamed) \"push %%rbx\\ncall *f(%%rip)\\n\""
	" END(yes_unnamed)\n"
	"\"pop %%rbx\\nret\\n\"\n"
	"SYM(unnamed) \"ret\\n\" END(unnamed)\n"
	"/* Calls that are jumps, as their targets forget where from. */\n"
	"SYM(yes_drops) \"call 1f\\n2: jmp 2b\\n\"\n"
	"\"1: lea 8(%%rsp), %%rsp\\nret\\n\" END(yes_drops)\n"
	"SYM(yes_replaces) \"call 1f\\n2: jmp 2b\\n\"\n"
	"\"1: mov %%rax, (%%rsp)\\nret\\n\" END(yes_replaces)\n"
	"SYM(yes_dropped) \"call dropper\\n2: jmp 2b\\n\" END(yes_dropped)\n"
	"SYM(dropper) \"nop\\nadd $8, %%rsp\\nret\\n\" END(dropper)\n"
	"SYM(no_drops) \"call 1f\\nret\\n1: add $8, %%rsp\\nud2\\n\""
	" END(no_drops)\n"
	"SYM(yes_reads) \"call 1f\\nret\\n1: pop %%rax\\njmp *%%rax\\n\""
	" END(yes_reads)\n"
	"\"\");\n"
	"void yes_falls(), yes_pads(), yes_pops(), yes_two(), yes_moved(),"
	" yes_unnamed(), yes_drops(), yes_replaces(), yes_dropped(),"
	" no_drops(), yes_reads();\n"
	"FUNC all(void) {\n"
	"%s"
	"}\n"
	"int main(void) { return 0; }\n";

static const char *const callees[] = {
	"no_abort",    "no_exit",    "no_far",	     "no_jump",
	"no_end",      "no_trap",    "no_even",	     "no_odd",
	"no_cases",    "no_frame",   "yes_plain",    "yes_maybe",
	"yes_pointer", "yes_loop",   "yes_even",     "yes_odd",
	"yes_tail",    "yes_sleep",  "yes_switch",   "yes_stack",
	"yes_name",    "no_pointer", "no_last",	     "yes_falls",
	"yes_pads",    "yes_pops",   "yes_two",	     "yes_moved",
	"yes_unnamed", "yes_drops",  "yes_replaces", "yes_dropped",
	"no_drops",    "yes_reads",
};

enum { CALLEES = sizeof(callees) / sizeof(*callees) };

/* Each call is on a way of its own, or the compiler would leave some out. */
static void
calls_source(void)
{
	char fplan[2048] = "", text[16384];

	for (size_t i = 0; i < CALLEES; i++)
		snprintf(fplan + strlen(fplan), sizeof(fplan) - strlen(fplan),
			 "if (v == %zu) %s(); v++;\n", i, callees[i]);
	snprintf(text, sizeof(text), calls, fplan);
	source("calls.c", text);
}

/* Whether all() calls at least so many, and each is what its name says. */
static void
calls_found(const char *cc, size_t least)
{
	struct image *image;
	struct graphs *graphs;
	const struct func *all;
	struct cfg *cfg;
	size_t found = 0;

	image = opened("calls", IMAGE_FLOW);
	graphs = graphs_open(image);
	all = func_named(image, "all");
	assert_non_null(all);
	cfg = graph_make(graphs, &(struct graph_input){
					 .ranges = all->ranges,
					 .n = all->nranges,
					 .entry = true,
				 });
	for (size_t i = 0; i < cfg->ninsns; i++) {
		const struct insn *insn = &cfg->insns[i];
		const struct func *to = insn->kind == INSN_CALL ?
						image_func(image,
							   insn->target) :
						NULL;
		bool never;

		if (!to || (strncmp(to->name, "no_", 3) &&
			    strncmp(to->name, "yes_", 4)))
			continue;
		never = insn->flow == FLOW_NO_RETURN;
		if (never != !strncmp(to->name, "no_", 3))
			fail_msg("%s: %s: %d", cc, to->name, never);
		found++;
	}
	assert_true(found >= least);
	cfg_free(cfg);
	graphs_close(graphs);
	image_close(image);
}

static void
calls_check(const char *cc)
{
	run("%s -g -w -o calls calls.c", cc);
	/* Jumps take the place of some at -O2. */
	calls_found(cc, CALLEES - 2);
}

static void
test_calls(void **state)
{
	static const char *const kinds[] = {
		"-O0",		"-O2",
		"-O1 -fno-plt", "-O0 -fno-pie -no-pie",
		"-O2 -static",	"-O1 -Wl,-z,now",
	};
	char cc[128];

	calls_source();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(cc, sizeof(cc), "gcc %s", kinds[i]);
		calls_check(cc);
		snprintf(cc, sizeof(cc), "clang %s", kinds[i]);
		if (!try("command -v clang >/dev/null"))
			calls_check(cc);
	}
}

/*
 * No way leads from the function's entry to its return: it is reached by an
 * exception that the function throws itself, or a function that it calls.
 */
static const char caught[] =
	"volatile int v;\n"
	"#define FUNC extern \"C\" __attribute__((noinline, noclone)) int\n"
	"FUNC no_thrower() { throw 1; }\n"
	"FUNC yes_catches() { try { throw 1; }"
	" catch (int x) { return v + x; } }\n"
	"FUNC yes_waits() { try { no_thrower(); }"
	" catch (int x) { return v + x; } return 0; }\n"
	"FUNC yes_passes() { return yes_catches() + 1; }\n"
	"FUNC all() { int n = 0;\n"
	"if (v == 1) no_thrower(); v++;\n"
	"if (v == 2) n += yes_catches(); v++;\n"
	"if (v == 3) n += yes_waits(); v++;\n"
	"if (v == 4) n += yes_passes(); v++;\n"
	"return n; }\n"
	"int main() { return v ? all() : 0; }\n";

static void
test_caught(void **state)
{
	static const char *const kinds[] = { "-O0", "-O1", "-O2" };

	source("caught.cc", caught);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		run("g++ %s -g -o calls caught.cc", kinds[i]);
		calls_found(kinds[i], 4);
	}
}

/* A function with an area made by hand; its pads are symbols. */
static const char area[] =
	".globl f\n.type f, @function\nf:\n"
	".cfi_startproc\n.cfi_personality 0x9b, DW.ref\n"
	".cfi_lsda 0x%x, area\n"
	"nop\ncall g\nafter: nop\nret\n"
	"pad1: nop\nret\npad2: nop\npad3: nop\nret\n"
	".cfi_endproc\n.size f, . - f\n"
	".globl g\n.type g, @function\ng: ret\n.size g, 1\n"
	".globl main\n.type main, @function\nmain: ret\n.size main, 1\n"
	".section .data.rel.ro, \"aw\"\nDW.ref: .quad g\n"
	".section .gcc_except_table, \"a\"\n"
	"area:\n%s\n.byte 0xff\n.byte 0x%x\n.uleb128 2f - 1f\n"
	"1: %s 0\n%s 2\n%s pad1 - %s\n.uleb128 1\n"
	"%s 2\n%s 1\n%s 0\n.uleb128 0\n"
	"%s 3\n%s 2\n%s pad2 - %s\n.uleb128 300\n"
	"%s 5\n%s 2\n%s pad2 - %s\n.uleb128 0\n"
	"2:\n.section .note.GNU-stack, \"\"\n";

static void
area_check(unsigned pointer, unsigned encoding, const char *put,
	   const char *start, const char *base)
{
	struct image *image;
	const struct func *f;
	char text[4096];

	snprintf(text, sizeof(text), area, pointer, start, encoding, put, put,
		 put, base, put, put, put, put, put, put, base, put, put, put,
		 base);
	source("area.s", text);
	run("gcc -no-pie -o area area.s");
	image = opened("area", IMAGE_FLOW);
	f = func_named(image, "f");
	assert_non_null(f);
	/* nop, call, nop, ret; nop, ret. */
	assert_int_equal(image->npads, 2);
	assert_int_equal(image->pads[0], f->addr + 8);
	assert_int_equal(image->pads[1], f->addr + 10);
	image_close(image);
}

static void
test_pads(void **state)
{
	area_check(0x1b, 0x01, ".uleb128", ".byte 0xff", "f");
	area_check(0x1b, 0x03, ".long", ".byte 0xff", "f");
	area_check(0x1c, 0x0b, ".long", ".byte 0xff", "f");
	area_check(0x03, 0x04, ".quad", ".byte 0xff", "f");
	area_check(0x1b, 0x09, ".sleb128", ".byte 0xff", "f");
	area_check(0x1b, 0x02, ".short", ".byte 0xff", "f");
	/* Pads are counted from elsewhere. */
	area_check(0x1b, 0x01, ".uleb128", ".byte 0x03\n.long f + 1",
		   "(f + 1)");
	area_check(0x1b, 0x03, ".long", ".byte 0x1b\n.long f + 2 - .",
		   "(f + 2)");
}

/* Whatever an area says, reading it ends, and within its section. */
static void
test_hostile(void **state)
{
	static uint8_t bytes[64];
	struct lsda_section section = { { bytes, 0 }, 0x1000 };
	uint64_t *pads = NULL;
	size_t npads = 0;

	srand(3);
	for (int i = 0; i < 200000; i++) {
		section.bytes.n = (size_t)rand() % sizeof(bytes);
		for (size_t k = 0; k < section.bytes.n; k++)
			bytes[k] = (uint8_t)(rand() % 3 ? rand() % 16 : rand());
		/* With a head that lets it begin. */
		if (rand() % 2)
			memcpy(bytes, (uint8_t[]){ 0xff, 0xff, 1, 40 }, 4);
		npads = 0;
		lsda_pads(&section, 0x1000 + (uint64_t)rand() % 80, 0x4000,
			  &pads, &npads);
		assert_true(npads <= sizeof(bytes) / 4);
	}
	free(pads);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_caught),
		cmocka_unit_test(test_pads),
		cmocka_unit_test(test_hostile),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, work_make, work_remove);
}
