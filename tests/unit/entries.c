/*
 * Entries into regions: known shapes with the arcs that count them written
 * down.
 */
#include <stdint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "flow/entries.h"
#include "flow/cfg.h"
#include "tests/lib/toy.h"

enum { OUT = 200, ARCS = 16, NO = -1 };

/* What was emitted. */
struct emitted {
	uint32_t ids[ARCS], arcs[ARCS], insns[ARCS];
	size_t n;
};

static void
emit(void *ctx, uint32_t id, uint32_t arc, uint32_t insn)
{
	struct emitted *emitted = ctx;

	assert_true(emitted->n < ARCS);
	emitted->ids[emitted->n] = id;
	emitted->arcs[emitted->n] = arc;
	emitted->insns[emitted->n++] = insn;
}

/* A code drawn and its graph. */
struct drawn {
	struct cfg *cfg;
	struct flow *flow;
};

/*
 * Instructions by their number: "3" is the block that begins with 3, "3>5"
 * the edge from the block that ends with 3 to that which begins with 5, '^'
 * is ROOT, "@4" is 4 in the middle of its block.
 */
static int
arc_print(const struct drawn *drawn, uint32_t arc, uint32_t insn, char *buf,
	  size_t size)
{
	const struct block *blocks = drawn->cfg->blocks;
	const struct flow_edge *edge = &drawn->flow->edges[arc];
	const struct block *from, *to;

	if (arc >= drawn->flow->nedges) {
		to = &blocks[arc_block(drawn->flow, arc) - FLOW_BLOCK];
		if (insn == INSN_NONE)
			return snprintf(buf, size, "%u", to->first);
		assert_true(insn > to->first && insn < to->first + to->count);
		return snprintf(buf, size, "@%u", insn);
	}
	assert_int_equal(insn, INSN_NONE);
	assert_true(edge->to >= FLOW_BLOCK);
	to = &blocks[edge->to - FLOW_BLOCK];
	if (edge->from == FLOW_ROOT)
		return snprintf(buf, size, "^>%u", to->first);
	from = &blocks[edge->from - FLOW_BLOCK];
	return snprintf(buf, size, "%u>%u", from->first + from->count - 1,
			to->first);
}

static void
arcs_expect(const struct drawn *drawn, const struct emitted *emitted,
	    uint32_t id, const char *expected)
{
	char buf[128] = "";
	size_t len = 0;

	for (size_t i = 0; i < emitted->n; i++) {
		if (emitted->ids[i] != id)
			continue;
		if (len)
			buf[len++] = ' ';
		len += (size_t)arc_print(drawn, emitted->arcs[i],
					 emitted->insns[i], buf + len,
					 sizeof(buf) - len);
	}
	assert_string_equal(buf, expected);
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
	const char *arcs[3];	/* of regions 0, 1, 2 */
};

static const struct drawing drawings[] = {
	{ "while at -O0: the line of the condition is entered at its jump "
	  "and from the body",
	  { { INSN_PLAIN, 0, 0 },
	    { INSN_JUMP, 3, 1 },
	    { INSN_PLAIN, 0, 2 },
	    { INSN_BRANCH, 2, 1 },
	    { INSN_RETURN, 0, 0 } },
	  5,
	  "0 1 2 3 4",
	  { "0 4", "1 2>3", "2" } },
	{ "for (a; b; c) at -O0: one entry from before, one from the body",
	  { { INSN_PLAIN, 0, 1 },
	    { INSN_JUMP, 4, 1 },
	    { INSN_PLAIN, 0, 2 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_BRANCH, 2, 1 },
	    { INSN_RETURN, 0, 0 } },
	  6,
	  "0 2 3 5",
	  { "5", "0 3", "2" } },
	{ "do while: the body is entered from before, and over the branch",
	  { { INSN_PLAIN, 0, 0 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_BRANCH, 1, 2 },
	    { INSN_RETURN, 0, 0 } },
	  4,
	  "0 1 2 3",
	  { "0 3", "1", "2" } },
	{ "do while in one line counts each time round",
	  { { INSN_PLAIN, 0, 0 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_BRANCH, 1, 1 },
	    { INSN_RETURN, 0, 0 } },
	  4,
	  "0 1 3",
	  { "0 3", "1", "" } },
	{ "one instruction, to itself, is the whole function",
	  { { INSN_BRANCH, 0, 1 }, { INSN_RETURN, 0, 0 } },
	  2,
	  "0 1",
	  { "1", "0", "" } },
	{ "one instruction, to itself",
	  { { INSN_PLAIN, 0, 0 },
	    { INSN_BRANCH, 1, 1 },
	    { INSN_RETURN, 0, 0 } },
	  3,
	  "0 1 2",
	  { "0 2", "1", "" } },
	{ "a loop whose head is the entry, through another line",
	  { { INSN_PLAIN, 0, 0 },
	    { INSN_BRANCH, 0, 1 },
	    { INSN_RETURN, 0, 0 } },
	  3,
	  "0 1 2",
	  { "0 2", "1", "" } },
	{ "a loop in a loop, in one line: both go round",
	  { { INSN_PLAIN, 0, 0 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_BRANCH, 2, 1 },
	    { INSN_BRANCH, 1, 1 },
	    { INSN_RETURN, 0, 0 } },
	  5,
	  "0 1 4",
	  { "0 4", "1 2>2", "" } },
	{ "a loop that another line interrupts is entered again, not gone "
	  "round",
	  { { INSN_PLAIN, 0, 1 },
	    { INSN_PLAIN, 0, 2 },
	    { INSN_BRANCH, 0, 1 },
	    { INSN_RETURN, 0, 0 } },
	  4,
	  "3",
	  { "3", "^>0 @2", "@1" } },
	{ "a loop in a line with two ways in: the second is no iteration",
	  { { INSN_BRANCH, 2, 0 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_BRANCH, 1, 1 },
	    { INSN_RETURN, 0, 0 } },
	  5,
	  "0 1 2 4",
	  { "0 4", "1 0>2", "" } },
	{ "entered over a conditional jump, from inside too",
	  { { INSN_BRANCH, 3, 0 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_BRANCH, 3, 1 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_RETURN, 0, 2 } },
	  5,
	  "0 1 4",
	  { "0", "1 0>3", "4" } },
	{ "entered by falling through one",
	  { { INSN_PLAIN, 0, 2 },
	    { INSN_BRANCH, 5, 0 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_BRANCH, 2, 1 },
	    { INSN_PLAIN, 0, 0 },
	    { INSN_RETURN, 0, 0 } },
	  6,
	  "0 1 2 4",
	  { "1 4", "2", "0" } },
	{ "both ways of a branch lead in",
	  { { INSN_BRANCH, 1, 0 },
	    { INSN_BRANCH, 1, 1 },
	    { INSN_RETURN, 0, 2 } },
	  3,
	  "0 1 2",
	  { "0", "1", "2" } },
	{ "the line changes in the middle of a block",
	  { { INSN_PLAIN, 0, 0 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_PLAIN, 0, 0 },
	    { INSN_RETURN, 0, NO } },
	  4,
	  "",
	  { "0 @2", "@1", "" } },
	{ "a switch by a table: its cases come from it",
	  { { INSN_PLAIN, 0, 0 },
	    { INSN_JUMP_INDIRECT, 0, 0 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_PLAIN, 0, 2 },
	    { INSN_BRANCH, 3, 2 },
	    { INSN_RETURN, 0, NO } },
	  6,
	  "0 2 3 5",
	  { "0", "2", "3" } },
	{ "the whole switch in one line is entered once",
	  { { INSN_PLAIN, 0, 0 },
	    { INSN_JUMP_INDIRECT, 0, 1 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_JUMP, 5, 1 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_RETURN, 0, 0 } },
	  6,
	  "0 1 2 4 5",
	  { "0 5", "0>1", "" } },
	{ "two statements in a line, and an indirect jump elsewhere",
	  { { INSN_JUMP_INDIRECT, 0, 0 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_RETURN, 0, 2 } },
	  4,
	  "0 1 2 3",
	  { "0", "1 ^>2", "3" } },
	{ "what only an exception comes to",
	  { { INSN_CALL, OUT, 0 },
	    { INSN_RETURN, 0, 0 },
	    { INSN_PLAIN, 0, 1 },
	    { INSN_JUMP, 1, 1 } },
	  4,
	  "0 2",
	  { "0 3>1", "2", "" } },
	{ "padding behind a jump: its count, which is nothing",
	  { { INSN_JUMP, 2, 0 }, { INSN_PLAIN, 0, 0 }, { INSN_RETURN, 0, 0 } },
	  3,
	  "0",
	  { "0 1", "", "" } },
};

static struct drawn
drawing_build(const struct drawing *drawing)
{
	uint64_t lo = TOY_BASE, hi = toy_addr(drawing->n), leaders[12];
	const char *p = drawing->leaders;
	struct drawn drawn;
	size_t nleaders = 0;
	unsigned i;
	int used;

	for (i = 0; i < drawing->n; i++)
		toy_put(toy_addr(i), drawing->insns[i].kind, TOY_LEN,
			toy_addr(drawing->insns[i].target));
	for (; sscanf(p, "%u%n", &i, &used) == 1; p += used)
		leaders[nleaders++] = toy_addr(i);
	drawn.cfg = toy_cfg(&lo, &hi, 1, leaders, nleaders);
	drawn.flow = flow_build(drawn.cfg, NULL, 0);
	return drawn;
}

static void
drawn_free(struct drawn *drawn)
{
	flow_free(drawn->flow);
	cfg_free(drawn->cfg);
}

static void
test_drawings(void **state)
{
	for (size_t i = 0; i < sizeof(drawings) / sizeof(*drawings); i++) {
		const struct drawing *drawing = &drawings[i];
		struct drawn drawn = drawing_build(drawing);
		struct emitted emitted = { .n = 0 };
		uint32_t owner[12];

		print_message("# %s\n", drawing->what);
		for (unsigned k = 0; k < drawing->n; k++)
			owner[k] = drawing->insns[k].owner == NO ?
					   REGION_NONE :
					   (uint32_t)drawing->insns[k].owner;
		entries_of_regions(&(struct regions){ drawn.cfg, drawn.flow,
						      owner },
				   emit, &emitted);
		for (uint32_t id = 0; id < 3; id++)
			arcs_expect(&drawn, &emitted, id, drawing->arcs[id]);
		arcs_expect(&drawn, &emitted, REGION_NONE, "");
		drawn_free(&drawn);
	}
}

/*
 * All of a switch is in one line.  If control may also come to its cases from
 * elsewhere, over no edge, that enters the line.
 */
static void
test_elsewhere(void **state)
{
	static const struct drawing drawing = {
		"",
		{ { INSN_PLAIN, 0, 0 },
		  { INSN_JUMP_INDIRECT, 0, 1 },
		  { INSN_PLAIN, 0, 1 },
		  { INSN_JUMP, 4, 1 },
		  { INSN_RETURN, 0, 0 } },
		5,
		"0 1 2 4",
		{ "" },
	};
	static const uint32_t owner[] = { 0, 1, 1, 1, 0 };

	for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
		struct drawn drawn = drawing_build(&drawing);
		struct emitted emitted = { .n = 0 };

		assert_false(drawn.cfg->elsewhere);
		drawn.cfg->elsewhere = elsewhere;
		entries_of_regions(&(struct regions){ drawn.cfg, drawn.flow,
						      owner },
				   emit, &emitted);
		arcs_expect(&drawn, &emitted, 1, elsewhere ? "1 2" : "0>1");
		drawn_free(&drawn);
	}
}

/* What may be begun without going on: what comes behind it is entered. */
static void
test_leaky(void **state)
{
	static const int kinds[] = {
		INSN_CALL,
		INSN_CALL_INDIRECT,
		INSN_SYSCALL,
		INSN_TRAP,
	};
	struct drawing drawing = {
		"",
		{ { INSN_PLAIN, 0, 0 },
		  { 0, OUT, 0 },
		  { INSN_PLAIN, 0, 1 },
		  { INSN_BRANCH, 2, 1 },
		  { INSN_RETURN, 0, 0 } },
		5,
		"0 2 4",
		{ "" },
	};
	static const uint32_t owner[] = { 0, 0, 1, 1, 0 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct emitted emitted = { .n = 0 };
		struct drawn drawn;

		drawing.insns[1].kind = kinds[i];
		drawn = drawing_build(&drawing);
		entries_of_regions(&(struct regions){ drawn.cfg, drawn.flow,
						      owner },
				   emit, &emitted);
		arcs_expect(&drawn, &emitted, 1, "2");
		drawn_free(&drawn);
	}
}

/* An empty row of line 1 before an instruction of line 0, in a loop. */
static void
test_point(void **state)
{
	static const struct drawing loop = {
		"",
		{ { INSN_PLAIN, 0, 2 },
		  { INSN_PLAIN, 0, 0 },
		  { INSN_PLAIN, 0, 2 },
		  { INSN_BRANCH, 1, 1 },
		  { INSN_RETURN, 0, 2 } },
		5,
		"0 1 4",
		{ "" },
	};
	static const uint32_t owner[] = { 2, 0, 2, 1, 2 };
	static const struct {
		uint32_t id, insn;
		const char *arcs;
	} points[] = {
		{ 1, 1, "0>1" },	/* not from 3, its own */
		{ 3, 1, "1" },	 { 5, 2, "@2" }, /* mid-block */
		{ 0, 2, "" },	 { 1, 4, "" },	 { 2, 0, "0" },
	};
	struct drawn drawn = drawing_build(&loop);

	for (size_t i = 0; i < sizeof(points) / sizeof(*points); i++) {
		struct emitted emitted = { .n = 0 };

		entries_of_point(&(struct regions){ drawn.cfg, drawn.flow,
						    owner },
				 points[i].id, points[i].insn, emit, &emitted);
		arcs_expect(&drawn, &emitted, points[i].id, points[i].arcs);
	}
	drawn_free(&drawn);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drawings),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_leaky),
		cmocka_unit_test(test_point),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
