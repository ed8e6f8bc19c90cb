/*
 * Entries into regions: known shapes with their terms written down.
 */
#include <stdint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "flow/entries.h"
#include "tests/unit/toy.h"

enum { OUT = 200, TERMS = 16, NO = -1 };

/* What was emitted: "+3" hits of instruction 3, "-3t" taken, "3f" on. */
struct emitted {
	struct term terms[TERMS];
	uint32_t ids[TERMS];
	size_t n;
};

static void
emit(void *ctx, uint32_t id, const struct term *term)
{
	struct emitted *emitted = ctx;

	assert_true(emitted->n < TERMS);
	emitted->ids[emitted->n] = id;
	emitted->terms[emitted->n++] = *term;
}

static unsigned
toy_index(uint64_t addr)
{
	return (unsigned)(addr - TOY_BASE) / TOY_LEN;
}

static void
terms_print(const struct emitted *emitted, uint32_t id, char *buf,
	    size_t size)
{
	static const char *const kinds[] = { "", "t", "f" };
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < emitted->n; i++) {
		const struct term *term = &emitted->terms[i];

		if (emitted->ids[i] == id)
			len += (size_t)snprintf(
				buf + len, size - len, "%s%c%u%s",
				len ? " " : "", term->sign > 0 ? '+' : '-',
				toy_index(term->addr), kinds[term->kind]);
	}
}

/* owner NO: no region.  leaders are indices. */
struct drawing {
	const char *what;
	struct {
		int kind;
		unsigned target;
		int owner;
	} insns[12];
	unsigned n;
	const char *leaders;
	const char *terms[3];	/* of regions 0, 1, 2 */
	const char *func;
};

static const struct drawing drawings[] = {
	{ "while at -O0: the line of the condition is entered at its jump "
	  "and from the body",
	  { { INSN_PLAIN, 0, 0 }, { INSN_JUMP, 3, 1 }, { INSN_PLAIN, 0, 2 },
	    { INSN_BRANCH, 2, 1 }, { INSN_RETURN, 0, 0 } },
	  5, "0 1 2 3 4", { "+0 +4", "+1 +2", "+2" }, "+0" },
	{ "for (a; b; c) at -O0: one entry from before, one from the body",
	  { { INSN_PLAIN, 0, 1 }, { INSN_JUMP, 4, 1 }, { INSN_PLAIN, 0, 2 },
	    { INSN_PLAIN, 0, 1 }, { INSN_BRANCH, 2, 1 },
	    { INSN_RETURN, 0, 0 } },
	  6, "0 2 3 5", { "+5", "+0 +3", "+2" }, "+0" },
	{ "do while: the body is entered from before, and over the branch",
	  { { INSN_PLAIN, 0, 0 }, { INSN_PLAIN, 0, 1 }, { INSN_BRANCH, 1, 2 },
	    { INSN_RETURN, 0, 0 } },
	  4, "0 1 2 3", { "+0 +3", "+1", "+2" }, "+0" },
	{ "do while in one line",
	  { { INSN_PLAIN, 0, 0 }, { INSN_PLAIN, 0, 1 }, { INSN_BRANCH, 1, 1 },
	    { INSN_RETURN, 0, 0 } },
	  4, "0 1 3", { "+0 +3", "+0", "" }, "+0" },
	{ "one instruction, to itself, is the whole function",
	  { { INSN_BRANCH, 0, 1 }, { INSN_RETURN, 0, 0 } },
	  2, "0 1", { "+1", "+0 -0t", "" }, "+0 -0t" },
	{ "one instruction, to itself",
	  { { INSN_PLAIN, 0, 0 }, { INSN_BRANCH, 1, 1 },
	    { INSN_RETURN, 0, 0 } },
	  3, "0 1 2", { "+0 +2", "+0", "" }, "+0" },
	{ "a loop whose head is the entry, through another line",
	  { { INSN_PLAIN, 0, 0 }, { INSN_BRANCH, 0, 1 },
	    { INSN_RETURN, 0, 0 } },
	  3, "0 1 2", { "+0 +2", "+1", "" }, "+0 -1t" },
	{ "entered over a conditional jump, from inside too",
	  { { INSN_BRANCH, 3, 0 }, { INSN_PLAIN, 0, 1 },
	    { INSN_BRANCH, 3, 1 }, { INSN_PLAIN, 0, 1 },
	    { INSN_RETURN, 0, 2 } },
	  5, "0 1 4", { "+0", "+1 +0t", "+4" }, "+0" },
	{ "entered by falling through one",
	  { { INSN_PLAIN, 0, 2 }, { INSN_BRANCH, 5, 0 }, { INSN_PLAIN, 0, 1 },
	    { INSN_BRANCH, 2, 1 }, { INSN_PLAIN, 0, 0 },
	    { INSN_RETURN, 0, 0 } },
	  6, "0 1 2 4", { "+1 +4", "+1f", "+0" }, "+0" },
	{ "both ways of a branch lead in",
	  { { INSN_BRANCH, 1, 0 }, { INSN_BRANCH, 1, 1 },
	    { INSN_RETURN, 0, 2 } },
	  3, "0 1 2", { "+0", "+0", "+2" }, "+0" },
	{ "the line changes in the middle of a block",
	  { { INSN_PLAIN, 0, 0 }, { INSN_PLAIN, 0, 1 }, { INSN_PLAIN, 0, 0 },
	    { INSN_RETURN, 0, NO } },
	  4, "", { "+0 +2", "+1", "" }, "+0" },
	{ "a call may not come back: what it falls into is counted there",
	  { { INSN_PLAIN, 0, 0 }, { INSN_CALL, OUT, 0 }, { INSN_PLAIN, 0, 1 },
	    { INSN_BRANCH, 2, 1 }, { INSN_RETURN, 0, 0 } },
	  5, "0 2 4", { "+0 +4", "+2 -3t", "" }, "+0" },
	{ "a switch by a table: its cases come from it",
	  { { INSN_PLAIN, 0, 0 }, { INSN_JUMP_INDIRECT, 0, 0 },
	    { INSN_PLAIN, 0, 1 }, { INSN_PLAIN, 0, 2 },
	    { INSN_BRANCH, 3, 2 }, { INSN_RETURN, 0, NO } },
	  6, "0 2 3 5", { "+0", "+2", "+3 -4t" }, "+0" },
	{ "the whole switch in one line is entered once",
	  { { INSN_PLAIN, 0, 0 }, { INSN_JUMP_INDIRECT, 0, 1 },
	    { INSN_PLAIN, 0, 1 }, { INSN_JUMP, 5, 1 }, { INSN_PLAIN, 0, 1 },
	    { INSN_RETURN, 0, 0 } },
	  6, "0 1 2 4 5", { "+0 +5", "+0", "" }, "+0" },
	{ "a case that prints a message and exits, in one line",
	  { { INSN_JUMP_INDIRECT, 0, 0 }, { INSN_CALL, OUT, 1 },
	    { INSN_CALL, OUT, 1 }, { INSN_RETURN, 0, 2 } },
	  4, "0 1 2 3", { "+0", "+1", "+3" }, "+0" },
	{ "two statements in a line, and an indirect jump elsewhere",
	  { { INSN_JUMP_INDIRECT, 0, 0 }, { INSN_PLAIN, 0, 1 },
	    { INSN_PLAIN, 0, 1 }, { INSN_RETURN, 0, 2 } },
	  4, "0 1 2 3", { "+0", "+1 +2 -1", "+3" }, "+0" },
	{ "a landing pad",
	  { { INSN_CALL, OUT, 0 }, { INSN_RETURN, 0, 0 },
	    { INSN_PLAIN, 0, 1 }, { INSN_JUMP, 1, 1 } },
	  4, "0 2", { "+0 +3", "+2", "" }, "+0" },
	{ "padding behind a jump is not entered",
	  { { INSN_JUMP, 2, 0 }, { INSN_PLAIN, 0, 0 },
	    { INSN_RETURN, 0, 0 } },
	  3, "0", { "+0", "", "" }, "+0" },
};

static struct cfg *
drawing_build(const struct drawing *drawing)
{
	uint64_t lo = TOY_BASE, hi = toy_addr(drawing->n), leaders[12];
	const char *p = drawing->leaders;
	size_t nleaders = 0;
	unsigned i;
	int used;

	for (i = 0; i < drawing->n; i++)
		toy_put(toy_addr(i), drawing->insns[i].kind, TOY_LEN,
			toy_addr(drawing->insns[i].target));
	for (; sscanf(p, "%u%n", &i, &used) == 1; p += used)
		leaders[nleaders++] = toy_addr(i);
	return cfg_build(&toy, &lo, &hi, 1, leaders, nleaders, toy_code,
			 NULL);
}

static void
test_drawings(void **state)
{
	for (size_t i = 0; i < sizeof(drawings) / sizeof(*drawings); i++) {
		const struct drawing *drawing = &drawings[i];
		struct cfg *cfg = drawing_build(drawing);
		struct emitted emitted = { .n = 0 };
		uint32_t owner[12];
		char buf[128];

		print_message("# %s\n", drawing->what);
		for (unsigned k = 0; k < drawing->n; k++)
			owner[k] = drawing->insns[k].owner == NO ?
				REGION_NONE :
				(uint32_t)drawing->insns[k].owner;
		entries_of_regions(cfg, owner, emit, &emitted);
		for (uint32_t id = 0; id < 3; id++) {
			terms_print(&emitted, id, buf, sizeof(buf));
			assert_string_equal(buf, drawing->terms[id]);
		}
		terms_print(&emitted, REGION_NONE, buf, sizeof(buf));
		assert_string_equal(buf, "");
		emitted.n = 0;
		entries_of_func(cfg, 7, emit, &emitted);
		terms_print(&emitted, 7, buf, sizeof(buf));
		assert_string_equal(buf, drawing->func);
		cfg_free(cfg);
	}
}

/* What may be begun without going on. */
static void
test_leaky(void **state)
{
	static const int kinds[] = {
		INSN_CALL, INSN_CALL_INDIRECT, INSN_SYSCALL, INSN_TRAP,
	};
	struct drawing drawing = {
		"", { { INSN_PLAIN, 0, 0 }, { 0, OUT, 0 },
		      { INSN_PLAIN, 0, 1 }, { INSN_BRANCH, 2, 1 },
		      { INSN_RETURN, 0, 0 } }, 5, "0 2 4", { "" }, "",
	};
	static const uint32_t owner[] = { 0, 0, 1, 1, 0 };
	char buf[64];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct emitted emitted = { .n = 0 };
		struct cfg *cfg;

		drawing.insns[1].kind = kinds[i];
		cfg = drawing_build(&drawing);
		entries_of_regions(cfg, owner, emit, &emitted);
		terms_print(&emitted, 1, buf, sizeof(buf));
		assert_string_equal(buf, "+2 -3t");
		cfg_free(cfg);
	}
}

/* The part below the entry runs into it, after a call. */
static void
test_entry_below(void **state)
{
	const uint64_t lo[] = { toy_addr(1), toy_addr(0) };
	const uint64_t hi[] = { toy_addr(2), toy_addr(1) };
	struct emitted emitted = { .n = 0 };
	struct cfg *cfg;
	char buf[64];

	toy_put(toy_addr(0), INSN_CALL, TOY_LEN, toy_addr(OUT));
	toy_put(toy_addr(1), INSN_BRANCH, TOY_LEN, toy_addr(0));
	cfg = cfg_build(&toy, lo, hi, 2, NULL, 0, toy_code, NULL);
	entries_of_func(cfg, 0, emit, &emitted);
	terms_print(&emitted, 0, buf, sizeof(buf));
	assert_string_equal(buf, "+1 -0");
	cfg_free(cfg);
}

/* An empty row of line 1 before an instruction of line 0, in a loop. */
static void
test_point(void **state)
{
	static const struct drawing loop = {
		"", { { INSN_PLAIN, 0, 2 }, { INSN_PLAIN, 0, 0 },
		      { INSN_PLAIN, 0, 2 }, { INSN_BRANCH, 1, 1 },
		      { INSN_RETURN, 0, 2 } }, 5, "0 1 4", { "" }, "",
	};
	static const uint32_t owner[] = { 2, 0, 2, 1, 2 };
	struct cfg *cfg = drawing_build(&loop);
	struct emitted emitted = { .n = 0 };
	char buf[64];

	entries_of_point(cfg, owner, 1, 1, emit, &emitted);
	terms_print(&emitted, 1, buf, sizeof(buf));
	assert_string_equal(buf, "+0");		/* not from 3, its own */
	emitted.n = 0;
	entries_of_point(cfg, owner, 3, 1, emit, &emitted);
	terms_print(&emitted, 3, buf, sizeof(buf));
	assert_string_equal(buf, "+1");
	emitted.n = 0;
	entries_of_point(cfg, owner, 5, 2, emit, &emitted);	/* mid-block */
	terms_print(&emitted, 5, buf, sizeof(buf));
	assert_string_equal(buf, "+2");
	emitted.n = 0;
	entries_of_point(cfg, owner, 0, 2, emit, &emitted);
	terms_print(&emitted, 0, buf, sizeof(buf));
	assert_string_equal(buf, "");
	cfg_free(cfg);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drawings),
		cmocka_unit_test(test_leaky),
		cmocka_unit_test(test_entry_below),
		cmocka_unit_test(test_point),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
