/*
 * Increments of events: those of Ball 1994, figures 1 and 5, and of random graphs
 * along random walks, where a counter of all events is kept beside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "flow/increments.h"
#include "tests/lib/flows.h"

#include <cmocka.h>

enum { ROUNDS = 20000, WALKS = 4, STEPS = 60 };

/* ---- the paper's figures */

/* Vertices have as many events as their letters' places, so that sums differ. */
enum { P = 1, Q = 10, A = 100, B = 1000, R = 10000, C = 100000, E = 1000000 };

static const struct {
	const char *arc;
	uint64_t events;
} drawn_events[] = {
	{ "P", P }, { "Q", Q }, { "A", A }, { "B", B },
	{ "R", R }, { "C", C }, { "E", E },
};

static const struct {
	const char *arc;	/* figure 1: w, x, y, z */
	uint64_t increment;
} drawn_chords[] = {
	{ "PE", P + E },
	{ "QA", P + Q + A + R + C },
	{ "QB", P + Q + B + R + C },
	{ "RE", E - C },
};

static void
test_figures(void **state)
{
	struct drawn drawn = drawn_make("^P PQ PE QA QB AR BR RC RE CP E$");
	uint32_t narcs = flow_arcs(drawn.flow);
	uint64_t *events = mem_alloc(narcs * sizeof(*events));
	bool *fixed = mem_alloc(narcs);
	struct weights *weights = weights_guess(drawn.flow, NULL);
	struct increments *increments;
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(drawn_events) / sizeof(*drawn_events);
	     i++)
		events[drawn_arc(&drawn, drawn_events[i].arc)] =
			drawn_events[i].events;
	/* The paper has chosen these chords. */
	for (size_t i = 0; i < sizeof(drawn_chords) / sizeof(*drawn_chords);
	     i++)
		weights->edges[drawn_edge(&drawn, drawn_chords[i].arc)] = -1;
	increments = increments_make(drawn.flow, weights, events, fixed);
	assert_non_null(increments);
	for (size_t i = 0; i < sizeof(drawn_chords) / sizeof(*drawn_chords);
	     i++)
		assert_int_equal(
			increments
				->arcs[drawn_edge(&drawn, drawn_chords[i].arc)],
			drawn_chords[i].increment);
	for (uint32_t i = 0; i < narcs; i++)
		n += increments->arcs[i] != 0;
	assert_int_equal(n, 4);
	/* Figure 5; and section 1: behind P and Q nothing has been added. */
	assert_int_equal(increments->nodes[node_behind(drawn.verts['B'])],
			 (uint64_t)0 - R - C);
	assert_int_equal(increments->nodes[node_behind(drawn.verts['Q'])],
			 P + Q);
	increments_free(increments);
	weights_free(weights);
	flow_free(drawn.flow);
	free(events);
	free(fixed);
}

/* Nothing can be added on a cycle that has events. */
static void
test_impossible(void **state)
{
	struct drawn drawn = drawn_make("^A AA A$");
	struct weights *weights = weights_guess(drawn.flow, NULL);
	uint64_t events[8] = { 0 };
	bool fixed[8];

	memset(fixed, true, sizeof(fixed));
	assert_in_range(flow_arcs(drawn.flow), 1, 8);
	events[drawn_arc(&drawn, "A")] = 1;
	assert_null(increments_make(drawn.flow, weights, events, fixed));
	assert_string_equal(fail_message(),
			    "events are where nothing can be added");
	weights_free(weights);
	flow_free(drawn.flow);
}

/* ---- random graphs */

/* As relocated code does: no probe is on edges that nothing counts. */
static bool *
random_fixed(const struct flow *flow)
{
	bool *fixed = mem_alloc(flow_arcs(flow));

	for (uint32_t e = 0; e < flow->nedges; e++)
		fixed[e] = flow->edges[e].by == BY_NOTHING ||
			   flow->edges[e].by == BY_LEAK ||
			   flow->edges[e].by == BY_TABLE;
	return fixed;
}

/* Only arcs that can have increments have events. */
static uint64_t *
random_events(const struct flow *flow, const bool *fixed)
{
	uint64_t *events = mem_alloc(flow_arcs(flow) * sizeof(*events));

	for (uint32_t i = 0; i < flow_arcs(flow); i++)
		if (!fixed[i] && random_chance(60))
			events[i] = random_chance(90) ? random_below(40) :
							random_u64();
	return events;
}

/* Nodes tell what to add wherever the walk is, and the sum is right outside. */
static void
walk_check(const struct flow *flow, const uint64_t *events,
	   const struct increments *increments)
{
	uint64_t all = 0, counter = 0;
	uint32_t v = FLOW_ROOT;

	for (int i = 0; i < STEPS; i++) {
		uint32_t n = flow->out[v + 1] - flow->out[v];
		uint32_t arc;

		if (v >= FLOW_BLOCK) {
			arc = arc_of_block(flow, v);
			all += events[arc];
			counter += increments->arcs[arc];
			assert_int_equal(
				counter + increments->nodes[node_behind(v)],
				all);
		}
		if (!n)
			return;
		arc = flow->out[v] + random_below(n);
		all += events[arc];
		counter += increments->arcs[arc];
		v = flow->edges[arc].to;
		assert_int_equal(counter + increments->nodes[node_before(v)],
				 all);
		if (v == FLOW_EXIT)
			assert_int_equal(counter, all);
	}
}

/* At most as many arcs add something as a spanning tree leaves. */
static void
chords_check(const struct flow *flow, const bool *fixed,
	     const struct increments *increments)
{
	uint32_t n = 0, apart = 0;

	/* Blocks that nothing leads to are trees of their own. */
	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++)
		apart += flow->in[v] == flow->in[v + 1];
	for (uint32_t i = 0; i < flow_arcs(flow); i++) {
		n += increments->arcs[i] != 0;
		assert_false(fixed[i] && increments->arcs[i]);
	}
	assert_true(n <= flow_arcs(flow) - flow_nodes(flow) + 1 + apart);
}

static void
test_random(void **state)
{
	for (int n = 0; n < ROUNDS; n++) {
		struct flow *flow = random_flow(WALK_BLOCKS, n % 2);
		struct weights *weights = weights_guess(flow, NULL);
		bool *fixed = random_fixed(flow);
		uint64_t *events = random_events(flow, fixed);
		struct increments *increments = increments_make(flow, weights,
								events, fixed);

		assert_non_null(increments);
		for (int i = 0; i < WALKS; i++)
			walk_check(flow, events, increments);
		if (n % 2)
			chords_check(flow, fixed, increments);
		increments_free(increments);
		weights_free(weights);
		free(events);
		free(fixed);
		flow_free(flow);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_random),
	};

	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
