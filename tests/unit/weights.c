/*
 * Weights by the rules of Ball & Larus 1994, section 5, worked out by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "tests/lib/flows.h"

#include <cmocka.h>

enum { ROUNDS = 20000 };

static const struct {
	const char *what, *text;
	struct {
		const char *arc;
		double weight;
	} arcs[14];
} drawings[] = {
	{ "the branches of conditionals are equal",
	  "^A AB AC BD BE CF DF EF F$",
	  { { "^A", 1 },
	    { "AB", .5 },
	    { "AC", .5 },
	    { "BD", .25 },
	    { "BE", .25 },
	    { "CF", .5 },
	    { "EF", .25 },
	    { "F$", 1 },
	    { "F", 1 } } },
	{ "figure 1: entered once, a loop's header runs ten times, and each "
	  "of two exits is taken every other time",
	  "^P PQ P$ QA QB AR BR RC R$ CP",
	  { { "P", 10 },
	    { "PQ", 9.5 },
	    { "P$", .5 },
	    { "QA", 4.75 },
	    { "QB", 4.75 },
	    { "AR", 4.75 },
	    { "BR", 4.75 },
	    { "RC", 9 },
	    { "R$", .5 },
	    { "CP", 9 },
	    { "$^", 1 } } },
	{ "a loop in a loop",
	  "^A AB A$ BB BA",
	  { { "A", 10 },
	    { "AB", 9 },
	    { "A$", 1 },
	    { "B", 90 },
	    { "BB", 81 },
	    { "BA", 9 } } },
	{ "an exit of two loops is the outer one's",
	  "^A AB A$ BC BA CB C$",
	  { { "A", 10 },
	    { "AB", 9.5 },
	    { "A$", .5 },
	    { "B", 95 },
	    { "BA", 4.75 },
	    { "BC", 90.25 },
	    { "C$", .5 },
	    { "CB", 89.75 } } },
	{ "an exit that would take more than there is",
	  "^A AB AH BC BH CD CH DE DH E$ EH HA",
	  { { "AB", 5 },
	    { "BC", 2.5 },
	    { "CD", 1.25 },
	    { "DE", .625 },
	    { "E$", .3125 },
	    { "EH", .3125 } } },
	{ "a loop with two entries",
	  "^A AB AC BC CB CD D$",
	  { { "AB", .5 },
	    { "AC", .5 },
	    { "BC", 5 },
	    { "C", 5.5 },
	    { "CD", .5 },
	    { "CB", 5 } } },
	{ "the cases of a table",
	  "^A AB AC AD AE BE CE DE E$",
	  { { "AB", .25 }, { "AE", .25 }, { "DE", .25 }, { "E", 1 } } },
	{ "a landing pad is rare",
	  "^A ^L AB LB B$",
	  { { "^A", 1 }, { "^L", 1. / 64 }, { "B", 65. / 64 } } },
};

static void
test_drawings(void **state)
{
	for (size_t i = 0; i < sizeof(drawings) / sizeof(*drawings); i++) {
		struct drawn drawn = drawn_make(drawings[i].text);
		struct weights *weights = weights_guess(drawn.flow, NULL);

		print_message("# %s\n", drawings[i].what);
		for (int k = 0; drawings[i].arcs[k].arc; k++) {
			const char *name = drawings[i].arcs[k].arc;
			uint32_t arc = drawn_arc(&drawn, name);

			assert_float_equal(weight_of_arc(drawn.flow, weights,
							 arc),
					   drawings[i].arcs[k].weight, 1e-9);
		}
		weights_free(weights);
		flow_free(drawn.flow);
	}
}

/* A leak takes nothing: A goes on to B every time. */
static void
test_leak(void **state)
{
	static const struct flow_edge edges[] = {
		{ FLOW_ROOT, FLOW_BLOCK, BY_NOTHING },
		{ FLOW_BLOCK, FLOW_EXIT, BY_LEAK },
		{ FLOW_BLOCK, FLOW_BLOCK + 1, BY_NOTHING },
		{ FLOW_BLOCK + 1, FLOW_EXIT, BY_LAST },
	};
	struct flow *flow = flow_make(2, edges, 4);
	struct weights *weights = weights_guess(flow, NULL);

	assert_float_equal(weights->verts[FLOW_BLOCK + 1], 1, 1e-9);
	weights_free(weights);
	flow_free(flow);
}

/*
 * A branches to B or C, each of 65 parts one to the way that ends: C goes on to
 * D, which does not come back, as does B's other way, E.
 */
static void
test_ends(void **state)
{
	static const struct flow_edge edges[] = {
		{ FLOW_ROOT, FLOW_BLOCK, BY_NOTHING },
		{ FLOW_BLOCK, FLOW_BLOCK + 1, BY_FALL },
		{ FLOW_BLOCK, FLOW_BLOCK + 2, BY_TAKEN },
		{ FLOW_BLOCK + 1, FLOW_EXIT, BY_FALL },
		{ FLOW_BLOCK + 1, FLOW_BLOCK + 4, BY_TAKEN },
		{ FLOW_BLOCK + 2, FLOW_BLOCK + 3, BY_LAST },
		{ FLOW_BLOCK + 3, FLOW_EXIT, BY_LAST },
		{ FLOW_BLOCK + 4, FLOW_EXIT, BY_LAST },
	};
	struct insn insns[] = {
		{ .kind = INSN_BRANCH },
		{ .kind = INSN_BRANCH },
		{ .kind = INSN_PLAIN },
		{ .kind = INSN_CALL, .flow = FLOW_NO_RETURN },
		{ .kind = INSN_STOP },
	};
	struct block blocks[] = {
		{ .first = 0, .count = 1 }, { .first = 1, .count = 1 },
		{ .first = 2, .count = 1 }, { .first = 3, .count = 1 },
		{ .first = 4, .count = 1 },
	};
	struct cfg cfg = {
		.insns = insns,
		.ninsns = 5,
		.blocks = blocks,
		.nblocks = 5,
	};
	struct flow *flow = flow_make(5, edges, 8);
	struct weights *weights = weights_guess(flow, &cfg);

	assert_float_equal(weights->verts[FLOW_BLOCK + 1], 64.0 / 65, 1e-9);
	assert_float_equal(weights->verts[FLOW_BLOCK + 3], 1.0 / 65, 1e-9);
	assert_float_equal(weights->verts[FLOW_BLOCK + 4], 64.0 / 65 / 65,
			   1e-9);
	weights_free(weights);
	flow_free(flow);
}

/* Whatever the graph, all that can run has a weight. */
static void
test_random(void **state)
{
	for (int n = 0; n < ROUNDS; n++) {
		struct flow *flow = random_flow(WALK_BLOCKS, n % 2);
		struct weights *weights = weights_guess(flow, NULL);

		for (uint32_t e = 0; e < flow->nedges; e++) {
			double weight = weights->edges[e];

			if (flow->edges[e].by == BY_LEAK)
				continue;
			assert_true(isfinite(weight));
			assert_true(weight > 0);
		}
		weights_free(weights);
		flow_free(flow);
	}
}

static void
test_exact(void **state)
{
	struct drawn drawn = drawn_make("^A AB AC BD CD D$");
	static const double edges[] = { 7, 7, 4, 3, 4, 3, 7 };
	struct weights *weights = weights_exact(drawn.flow, edges);

	assert_float_equal(weights->verts[drawn.verts['A']], 7, 0);
	assert_float_equal(weights->verts[drawn.verts['C']], 3, 0);
	weights_free(weights);
	flow_free(drawn.flow);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drawings), cmocka_unit_test(test_leak),
		cmocka_unit_test(test_ends),	 cmocka_unit_test(test_random),
		cmocka_unit_test(test_exact),
	};

	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
