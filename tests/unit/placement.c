/*
 * Placements: the paper's examples with its costs, and random graphs, where
 * no cheaper one must be found by trying all.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "tests/lib/kirchhoff.h"

#include <cmocka.h>

enum { ROUNDS = 1500, WALKS = 30, STEPS = 200, SMALL = 4, MEASURES = 3000 };

struct weighed {
	const char *edge;
	double weight;
};

/* Figure 1, as given by the costs stated with figure 5. */
static const char figure_1[] = "^P PQ P$ QA QB AR BR RC R$ CP";
static const struct weighed weights_1[] = {
	{ "^P", 1 },	{ "PQ", 10.5 }, { "P$", .5 },	{ "QA", 5.25 },
	{ "QB", 5.25 }, { "AR", 5.25 }, { "BR", 5.25 }, { "RC", 10 },
	{ "R$", .5 },	{ "CP", 10 },	{ "$^", 1 },	{ NULL }
};

/* Figure 4: vertices b, c, d and e run 53, 43, 22 and 53 times. */
static const char figure_4[] = "^a ab af bc be cd ce de eb ef fg fh g$ h$";
static const struct weighed weights_4[] = {
	{ "^a", 6 },  { "ab", 3 },  { "af", 3 },  { "bc", 43 },
	{ "be", 10 }, { "cd", 22 }, { "ce", 21 }, { "de", 22 },
	{ "eb", 50 }, { "ef", 3 },  { "fg", 3 },  { "fh", 3 },
	{ "g$", 3 },  { "h$", 3 },  { "$^", 6 },  { NULL }
};

static struct weights *
drawn_weights(struct drawn *drawn, const struct weighed *weighed)
{
	double edges[FLOW_TEXT_MAX] = { 0 };

	for (; weighed->edge; weighed++)
		edges[drawn_edge(drawn, weighed->edge)] = weighed->weight;
	return weights_exact(drawn->flow, edges);
}

static void
placement_expect(const struct drawn *drawn, const struct weights *weights,
		 enum placement_method method, const bool *wanted, double cost,
		 uint32_t n)
{
	struct placement_input input = { .method = method, .wanted = wanted };
	struct placement *placement = placement_make(drawn->flow, weights,
						     &input);

	assert_float_equal(placement->cost, cost, 1e-9);
	assert_int_equal(placement->narcs, n);
	assert_int_equal(placement->nsites, n);
	assert_float_equal(placement_events(drawn->flow, weights, placement,
					    false),
			   cost, 1e-9);
	placement_free(placement);
}

/*
 * Figure 5b is optimal, at 11.5, with |E| - (|V| - 1) = 10 - 6 counters; the
 * counters of 5a come to 16.75.
 */
static void
test_figure_5(void **state)
{
	struct drawn drawn = drawn_make(figure_1);
	struct weights *weights = drawn_weights(&drawn, weights_1);
	uint32_t arcs[] = {
		drawn_edge(&drawn, "PQ"),
		drawn_edge(&drawn, "QA"),
		drawn_edge(&drawn, "P$"),
		drawn_edge(&drawn, "R$"),
	};
	struct placement placement = { .arcs = arcs, .narcs = 4 };

	placement_expect(&drawn, weights, PLACE_OPTIMAL, NULL, 11.5, 4);
	assert_float_equal(placement_events(drawn.flow, weights, &placement,
					    false),
			   16.75, 1e-9);
	weights_free(weights);
	flow_free(drawn.flow);
}

/* Of figure 4's, in turn a, b and c; Eprof(Ecnt) has 14 - 8 counters. */
static void
test_figure_4(void **state)
{
	struct drawn drawn = drawn_make(figure_4);
	struct weights *weights = drawn_weights(&drawn, weights_4);
	bool blocks[FLOW_TEXT_MAX] = { false };

	for (uint32_t v = FLOW_BLOCK; v < drawn.flow->nverts; v++)
		blocks[arc_of_block(drawn.flow, v)] = true;
	placement_expect(&drawn, weights, PLACE_VERTEX, blocks, 124, 5);
	placement_expect(&drawn, weights, PLACE_OPTIMAL, NULL, 62, 6);
	placement_expect(&drawn, weights, PLACE_OPTIMAL, blocks, 59, 5);
	/* In all blocks: 6 + 53 + 43 + 22 + 53 + 6 + 3 + 3. */
	placement_expect(&drawn, weights, PLACE_EVERY, blocks, 189, 8);
	weights_free(weights);
	flow_free(drawn.flow);
}

/* Only what is wanted: which arcs are counted, in any order. */
static const struct {
	const char *what, *text, *wanted, *arcs, *traps;
} drawings[] = {
	{ "calls: the entry", "^A AB AC BD CD D$", "^A", "A", "A" },
	{ "calls of what begins with a loop: what leaves it",
	  "^A AA AB BC BD CE DE E$", "^A", "C D", "C D" },
	{ "one block", "^A AB AC BD CD D$", "C", "C", "C" },
	{ "one critical edge", "^A AB AC BC BD CD D$", "AC", "AC", "AC" },
	{ "nothing", "^A AB AC BC BD CD D$", "", "", "" },
	{ "the way into a loop", "^A AB BB BC C$", "AB", "A", "A" },
	{ "both branches", "^A AB AC BD CD D$", "AB AC", "B C", "B C" },
};

static void
names_mark(struct drawn *drawn, const char *names, bool *marks)
{
	char name[3];
	int used;

	for (; sscanf(names, "%2s%n", name, &used) == 1; names += used)
		marks[drawn_arc(drawn, name)] = true;
}

static void
test_drawings(void **state)
{
	for (size_t i = 0; i < sizeof(drawings) / sizeof(*drawings); i++)
		for (int traps = 0; traps < 2; traps++) {
			struct drawn drawn = drawn_make(drawings[i].text);
			struct weights *weights = weights_guess(drawn.flow,
								NULL);
			bool wanted[FLOW_TEXT_MAX] = { false };
			bool expected[FLOW_TEXT_MAX] = { false };
			struct placement_input input = {
				.wanted = wanted,
				.traps = traps,
			};
			struct placement *placement;

			print_message("# %s\n", drawings[i].what);
			names_mark(&drawn, drawings[i].wanted, wanted);
			names_mark(&drawn,
				   traps ? drawings[i].traps : drawings[i].arcs,
				   expected);
			placement = placement_make(drawn.flow, weights, &input);
			for (uint32_t k = 0; k < placement->narcs; k++) {
				assert_true(expected[placement->arcs[k]]);
				expected[placement->arcs[k]] = false;
			}
			for (uint32_t k = 0; k < flow_arcs(drawn.flow); k++)
				assert_false(expected[k]);
			placement_free(placement);
			weights_free(weights);
			flow_free(drawn.flow);
		}
}

/* The ways of a switch are counted in its cases, also the one around them. */
static void
test_switch(void **state)
{
	struct drawn drawn = drawn_make("^A AB AC AD AE BE CE DE E$");
	struct weights *weights = weights_guess(drawn.flow, NULL);

	for (int traps = 0; traps < 2; traps++) {
		struct placement_input input = {
			.tables = true,
			.traps = traps,
		};
		struct placement *placement = placement_make(drawn.flow,
							     weights, &input);

		assert_int_equal(placement->narcs, 4);
		for (uint32_t i = 0; i < placement->narcs; i++)
			assert_true(placement->arcs[i] >= drawn.flow->nedges);
		placement_free(placement);
	}
	weights_free(weights);
	flow_free(drawn.flow);
}

/*
 * Two indirect jumps to the same three blocks: blocks do not tell how often
 * which came from where, so some of the six ways are counted themselves, if
 * that can be done.
 */
static void
test_tables(void **state)
{
	struct drawn drawn = drawn_make("^A AB AC BD BE BF CD CE CF D$ E$ F$");
	struct weights *weights = weights_guess(drawn.flow, NULL);

	for (int tables = 0; tables < 2; tables++) {
		struct placement_input input = { .tables = tables };
		struct placement *placement = placement_make(drawn.flow,
							     weights, &input);
		uint32_t edges = 0, blocks = 0;

		for (uint32_t i = 0; i < placement->narcs; i++)
			if (placement->arcs[i] < drawn.flow->nedges)
				edges++;
			else
				blocks++;
		/* |E| - (|V| - 1) of the paper: 13 - (8 - 1). */
		assert_int_equal(blocks, 4);
		assert_int_equal(edges, tables ? 2 : 0);
		placement_free(placement);
	}
	weights_free(weights);
	flow_free(drawn.flow);
}

/* Three times as dear on one arc. */
static double
cost_thrice(void *ctx, const struct flow *flow, const struct weights *weights,
	    uint32_t arc)
{
	return weight_of_arc(flow, weights, arc) *
	       (arc == *(uint32_t *)ctx ? 3 : 1);
}

/* Whichever of two equal branches costs more is derived. */
static void
test_cost(void **state)
{
	struct drawn drawn = drawn_make("^A AB AC BD CD D$");
	struct weights *weights = weights_guess(drawn.flow, NULL);
	uint32_t arcs[] = { drawn_arc(&drawn, "B"), drawn_arc(&drawn, "C") };
	bool wanted[FLOW_TEXT_MAX] = { false };

	names_mark(&drawn, "A B C", wanted);
	for (int i = 0; i < 2; i++) {
		struct placement_input input = {
			.cost = cost_thrice,
			.ctx = &arcs[i],
			.wanted = i ? wanted : NULL,
		};
		struct placement *placement = placement_make(drawn.flow,
							     weights, &input);

		for (uint32_t k = 0; k < placement->narcs; k++)
			assert_int_not_equal(placement->arcs[k], arcs[i]);
		assert_int_equal(placement->narcs, 2);
		placement_free(placement);
	}
	weights_free(weights);
	flow_free(drawn.flow);
}

/*
 * A loop of one block, run ten times: two counters of edges, or one trap on
 * the branch, with the block's own where they are one instruction.
 */
static void
test_traps(void **state)
{
	static const struct {
		bool traps, one;
		uint32_t narcs, nsites;
	} cases[] = {
		{ false, false, 2, 2 },
		{ false, true, 2, 2 },
		{ true, false, 2, 1 },
		{ true, true, 3, 1 },
	};
	struct drawn drawn = drawn_make("^A AA A$");
	struct weights *weights = weights_guess(drawn.flow, NULL);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct placement_input input = { .traps = cases[i].traps };
		struct placement *placement;

		drawn.flow->one[drawn.verts['A']] = cases[i].one;
		placement = placement_make(drawn.flow, weights, &input);
		assert_int_equal(placement->narcs, cases[i].narcs);
		assert_int_equal(placement->nsites, cases[i].nsites);
		assert_float_equal(placement->cost, 10, 1e-9);
		assert_float_equal(placement_events(drawn.flow, weights,
						    placement, input.traps),
				   10, 1e-9);
		placement_free(placement);
	}
	weights_free(weights);
	flow_free(drawn.flow);
}

/* Weights as of some walks. */
static struct weights *
walked_weights(const struct flow *flow, unsigned walks)
{
	static struct walked walked;
	double edges[WALK_ARCS];

	memset(&walked, 0, sizeof(walked));
	while (walks--)
		walk(flow, &walked, STEPS, false);
	for (uint32_t e = 0; e < flow->nedges; e++)
		edges[e] = (double)walked.counts[e];
	return weights_exact(flow, edges);
}

/* Does a set of these arcs that costs less determine all that is wanted? */
static bool
cheaper_exists(const struct flow *flow, const struct weights *weights,
	       const uint32_t *arcs, unsigned n, const bool *wanted,
	       double limit)
{
	for (uint32_t set = 0; set < 1u << n; set++) {
		bool counted[WALK_ARCS] = { false };
		double cost = 0;

		for (unsigned i = 0; i < n && cost < limit; i++) {
			if (!(set >> i & 1))
				continue;
			counted[arcs[i]] = true;
			cost += weight_of_arc(flow, weights, arcs[i]);
		}
		if (cost < limit && kirchhoff_determines(flow, counted, wanted))
			return true;
	}
	return false;
}

static bool
edge_countable(const struct flow *flow, uint32_t edge)
{
	return flow->edges[edge].by == BY_LAST ||
	       flow->edges[edge].by == BY_TAKEN ||
	       flow->edges[edge].by == BY_FALL;
}

/* Counters for all edges, and for all blocks in blocks, cost least. */
static void
optimum_check(const struct flow *flow, const struct weights *weights,
	      bool vertex)
{
	bool wanted[WALK_ARCS];
	uint32_t arcs[WALK_ARCS], n = 0;
	struct placement_input input = {
		.method = vertex ? PLACE_VERTEX : PLACE_OPTIMAL,
		.wanted = vertex ? wanted : NULL,
	};
	struct placement *placement;

	for (uint32_t arc = 0; arc < flow_arcs(flow); arc++) {
		bool block = arc >= flow->nedges;

		wanted[arc] = !vertex || block;
		if (block ? flow->in[arc_block(flow, arc)] !=
				    flow->in[arc_block(flow, arc) + 1] :
			    !vertex && edge_countable(flow, arc))
			arcs[n++] = arc;
	}
	placement = placement_make(flow, weights, &input);
	assert_false(cheaper_exists(flow, weights, arcs, n, wanted,
				    placement->cost));
	placement_free(placement);
}

static void
test_optimum(void **state)
{
	for (int n = 0; n < ROUNDS; n++) {
		struct flow *flow = random_flow(SMALL, true);
		struct weights *weights = walked_weights(flow, WALKS);

		/* Walks cut short are not by Kirchhoff's law. */
		if (weights->verts[FLOW_EXIT] == WALKS) {
			optimum_check(flow, weights, false);
			optimum_check(flow, weights, true);
		}
		weights_free(weights);
		flow_free(flow);
	}
}

/* With traps, no site can be left out. */
static void
test_minimal(void **state)
{
	for (int n = 0; n < ROUNDS; n++) {
		struct flow *flow = random_flow(SMALL + 2, true);
		struct weights *weights = weights_guess(flow, NULL);
		struct placement_input input = { .traps = true,
						 .tables = true };
		struct placement *placement = placement_make(flow, weights,
							     &input);
		bool wanted[WALK_ARCS];

		memset(wanted, true, sizeof(wanted));
		for (uint32_t i = 0; i < placement->narcs; i++) {
			bool counted[WALK_ARCS] = { false };
			uint32_t v = arc_head(flow, placement->arcs[i]);

			if (placement->arcs[i] < flow->nedges)
				v = arc_tail(flow, placement->arcs[i]);
			for (uint32_t k = 0; k < placement->narcs; k++) {
				uint32_t arc = placement->arcs[k];
				uint32_t w = arc < flow->nedges ?
						     arc_tail(flow, arc) :
						     arc_head(flow, arc);

				counted[arc] = v != w;
			}
			assert_false(
				kirchhoff_determines(flow, counted, wanted));
		}
		placement_free(placement);
		weights_free(weights);
		flow_free(flow);
	}
}

/* Events per placement over many graphs. */
struct events {
	double every, guessed, exact, vertex, blocks, traps;
};

static double
events_of(const struct flow *flow, const struct weights *exact,
	  const struct weights *weights, struct placement_input input)
{
	struct placement *placement = placement_make(flow, weights, &input);
	double events = placement_events(flow, exact, placement, input.traps);

	placement_free(placement);
	return events;
}

static void
events_add(struct events *sum, const struct flow *flow,
	   const struct weights *guessed, const struct weights *exact)
{
	struct placement_input input = { .method = PLACE_EVERY };
	bool blocks[WALK_ARCS] = { false };
	double optimal, fewer;

	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++)
		blocks[arc_of_block(flow, v)] = true;
	input.wanted = blocks;
	sum->every += events_of(flow, exact, exact, input);
	input.method = PLACE_VERTEX;
	sum->vertex += events_of(flow, exact, guessed, input);
	input.method = PLACE_OPTIMAL;
	fewer = events_of(flow, exact, exact, input);
	sum->blocks += fewer;
	input.wanted = NULL;
	optimal = events_of(flow, exact, exact, input);
	sum->exact += optimal;
	assert_true(fewer <= optimal);
	sum->guessed += events_of(flow, exact, guessed, input);
	assert_true(events_of(flow, exact, guessed, input) >= optimal);
	input.traps = true;
	sum->traps += events_of(flow, exact, guessed, input);
}

/*
 * How much is saved on random graphs walked at random, which are not
 * programs.
 */
static void
test_measure(void **state)
{
	struct events sum = { 0 };

	for (int n = 0; n < MEASURES; n++) {
		struct flow *flow = random_flow(WALK_BLOCKS, true);
		struct weights *exact = walked_weights(flow, WALKS);
		struct weights *guessed = weights_guess(flow, NULL);

		if (exact->verts[FLOW_EXIT] == WALKS)
			events_add(&sum, flow, guessed, exact);
		weights_free(guessed);
		weights_free(exact);
		flow_free(flow);
	}
	print_message("# increments of every block, over those of: optimal "
		      "%.2f, with exact weights %.2f, for blocks only %.2f, "
		      "vertex %.2f, traps %.2f\n",
		      sum.every / sum.guessed, sum.every / sum.exact,
		      sum.every / sum.blocks, sum.every / sum.vertex,
		      sum.every / sum.traps);
	assert_true(sum.guessed < sum.every);
	assert_true(sum.guessed < 1.34 * sum.exact);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_5),
		cmocka_unit_test(test_figure_4),
		cmocka_unit_test(test_drawings),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_traps),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_optimum),
		cmocka_unit_test(test_minimal),
		cmocka_unit_test(test_measure),
	};

	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
