/*
 * Flow graphs made from code: which edges there are and how they are counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "flow/graph.h"
#include "flow/cfg.h"
#include "tests/lib/toy.h"

#include <cmocka.h>

enum { OUT = 200, INSNS = 12 };

/*
 * edges: "^0 02t 01f 1$": from, to and by: t and f the branch, i the indirect
 * jump, l at the last instruction, x a leak, nothing: not at all.  Blocks are
 * named by their number.
 */
static const struct {
	const char *what;
	struct {
		int kind;
		unsigned target;
	} insns[INSNS];
	unsigned n;
	const char *leaders, *leaky, *edges;
} drawings[] = {
	{ "straight",
	  { { INSN_PLAIN }, { INSN_RETURN } },
	  2,
	  "",
	  "",
	  "^0 $^ 0$l" },
	{ "if",
	  { { INSN_BRANCH, 2 }, { INSN_PLAIN }, { INSN_RETURN } },
	  3,
	  "",
	  "",
	  "^0 $^ 01f 02t 12l 2$l" },
	{ "both ways of a branch are one",
	  { { INSN_BRANCH, 1 }, { INSN_RETURN } },
	  2,
	  "",
	  "",
	  "^0 $^ 01l 1$l" },
	{ "a conditional jump to another function",
	  { { INSN_BRANCH, OUT }, { INSN_JUMP, OUT } },
	  2,
	  "",
	  "",
	  "^0 $^ 01f 0$t 1$l" },
	{ "the end of the function is run over, or jumped over",
	  { { INSN_PLAIN }, { INSN_BRANCH, OUT } },
	  2,
	  "",
	  "",
	  "^0 $^ 0$t 0$f" },
	{ "a call at the end of a block says nothing of its coming back",
	  { { INSN_CALL, OUT },
	    { INSN_PLAIN },
	    { INSN_BRANCH, 1 },
	    { INSN_STOP } },
	  4,
	  "",
	  "",
	  "^0 $^ 01 11t 12f 2$l" },
	{ "a leader that only padding leads to is entered, the padding not",
	  { { INSN_JUMP, 3 },
	    { INSN_PLAIN },
	    { INSN_JUMP, 3 },
	    { INSN_RETURN } },
	  4,
	  "2",
	  "",
	  "^0 ^2 $^ 03l 23l 3$l" },
	{ "of two leaders only the first comes from nowhere",
	  { { INSN_RETURN }, { INSN_PLAIN }, { INSN_RETURN } },
	  3,
	  "1 2",
	  "",
	  "^0 ^1 $^ 0$l 12l 2$l" },
	{ "dead code leads nowhere",
	  { { INSN_RETURN }, { INSN_JUMP, 0 } },
	  2,
	  "",
	  "",
	  "^0 $^ 0$l" },
	{ "any block may be jumped to",
	  { { INSN_BRANCH, 2 }, { INSN_JUMP_INDIRECT }, { INSN_RETURN } },
	  3,
	  "",
	  "",
	  "^0 ^1 ^2 $^ 01f 02t 1$l 2$l" },
	{ "a leak",
	  { { INSN_CALL, OUT },
	    { INSN_PLAIN },
	    { INSN_PLAIN },
	    { INSN_RETURN } },
	  4,
	  "0 2",
	  "0",
	  "^0 $^ 01l 0$x 1$l" },
};

static struct cfg *
drawing_build(size_t i)
{
	uint64_t lo = TOY_BASE, hi = toy_addr(drawings[i].n), leaders[INSNS];
	const char *p = drawings[i].leaders;
	size_t nleaders = 0;
	unsigned k;
	int used;

	for (k = 0; k < drawings[i].n; k++)
		toy_put(toy_addr(k), drawings[i].insns[k].kind, TOY_LEN,
			toy_addr(drawings[i].insns[k].target));
	for (; sscanf(p, "%u%n", &k, &used) == 1; p += used)
		leaders[nleaders++] = toy_addr(k);
	return toy_cfg(&lo, &hi, 1, leaders, nleaders);
}

static char
vert_name(uint32_t v)
{
	return v == FLOW_ROOT ? '^' :
	       v == FLOW_EXIT ? '$' :
				(char)('0' + (v - FLOW_BLOCK));
}

static void
edges_print(const struct flow *flow, char *buf, size_t size)
{
	static const char *const bys[] = { "", "l", "t", "f", "i", "x" };
	size_t len = 0;

	buf[0] = '\0';
	for (uint32_t e = 0; e < flow->nedges; e++)
		len += (size_t)snprintf(buf + len, size - len, "%s%c%c%s",
					len ? " " : "",
					vert_name(flow->edges[e].from),
					vert_name(flow->edges[e].to),
					bys[flow->edges[e].by]);
}

static void
test_drawings(void **state)
{
	for (size_t i = 0; i < sizeof(drawings) / sizeof(*drawings); i++) {
		struct cfg *cfg = drawing_build(i);
		uint32_t leaky = 0;
		struct flow *flow;
		char buf[128];

		print_message("# %s\n", drawings[i].what);
		flow = flow_build(cfg, &leaky, *drawings[i].leaky != '\0');
		edges_print(flow, buf, sizeof(buf));
		assert_string_equal(buf, drawings[i].edges);
		flow_free(flow);
		cfg_free(cfg);
	}
}

/* Two ways of a table to one block, where a call does not come back. */
static void
test_table(void **state)
{
	struct edge edges[] = {
		{ 0, 1, EDGE_TABLE },
		{ 0, 1, EDGE_TABLE },
		{ 0, 2, EDGE_TABLE },
	};
	struct insn insns[] = {
		{ 100, .kind = INSN_JUMP_INDIRECT, .flow = FLOW_TABLE },
		{ 110, .kind = INSN_CALL, .flow = FLOW_NO_RETURN },
		{ 120, .kind = INSN_RETURN },
	};
	struct block blocks[] = { { 0, 1 }, { 1, 1 }, { 2, 1 } };
	uint32_t in[] = { 0, 0, 2, 3 };
	struct cfg cfg = {
		.insns = insns,
		.ninsns = 3,
		.blocks = blocks,
		.nblocks = 3,
		.edges = edges,
		.nedges = 3,
		.in = in,
	};
	struct flow *flow = flow_build(&cfg, NULL, 0);
	struct term term;
	char buf[128];

	edges_print(flow, buf, sizeof(buf));
	assert_string_equal(buf, "^0 $^ 01i 02i 1$ 2$l");
	assert_true(flow->one[FLOW_BLOCK]);
	assert_true(arc_term(flow, &cfg, 3, &term));
	assert_int_equal(term.addr, 100);
	assert_int_equal(term.kind, TERM_TARGET);
	assert_int_equal(term.to, 120);
	flow_free(flow);
}

/*
 * The part below the entry, foo.cold, runs into it after a call: edge 0 is
 * still that to the entry, which is not the first block.
 */
static void
test_entry_below(void **state)
{
	const uint64_t lo[] = { toy_addr(1), toy_addr(0) };
	const uint64_t hi[] = { toy_addr(2), toy_addr(1) };
	struct flow *flow;
	struct cfg *cfg;
	char buf[64];

	toy_put(toy_addr(0), INSN_CALL, TOY_LEN, toy_addr(OUT));
	toy_put(toy_addr(1), INSN_BRANCH, TOY_LEN, toy_addr(0));
	cfg = toy_cfg(lo, hi, 2, NULL, 0);
	flow = flow_build(cfg, NULL, 0);
	edges_print(flow, buf, sizeof(buf));
	assert_string_equal(buf, "^1 $^ 01 10t 1$f");
	flow_free(flow);
	cfg_free(cfg);
}

/* Where edges of "if" are counted, and blocks. */
static void
test_terms(void **state)
{
	struct cfg *cfg = drawing_build(1);
	struct flow *flow = flow_build(cfg, NULL, 0);
	struct term term;

	assert_int_equal(flow->nedges, 6);
	assert_int_equal(edge_carrier(flow, 0), arc_of_block(flow, 2));
	assert_int_equal(edge_carrier(flow, 2), arc_of_block(flow, 3));
	assert_int_equal(edge_carrier(flow, 3), ARC_NONE);
	assert_int_equal(edge_carrier(flow, 4), arc_of_block(flow, 3));
	assert_int_equal(edge_carrier(flow, 5), arc_of_block(flow, 4));
	assert_true(arc_term(flow, cfg, 3, &term));
	assert_int_equal(term.addr, toy_addr(0));
	assert_int_equal(term.kind, TERM_TAKEN);
	assert_true(arc_term(flow, cfg, 2, &term));
	assert_int_equal(term.kind, TERM_FALL);
	assert_true(arc_term(flow, cfg, arc_of_block(flow, 4), &term));
	assert_int_equal(term.addr, toy_addr(2));
	assert_int_equal(term.kind, TERM_HITS);
	assert_false(arc_term(flow, cfg, 0, &term));
	flow_free(flow);
	cfg_free(cfg);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drawings),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_entry_below),
		cmocka_unit_test(test_terms),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
