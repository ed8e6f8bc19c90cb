/*
 * Counts derived from counters: the paper's examples, and random graphs
 * walked at random, where all is known.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "tests/lib/flows.h"
#include "tests/lib/kirchhoff.h"

#include <cmocka.h>

enum { ROUNDS = 40000, WALKS = 4, STEPS = 40 };

static const char figure_1[] = "^P PQ P$ QA QB AR BR RC R$ CP";

/* Counters on the edges named, and what they counted. */
static enum propagated
drawn_propagate(struct drawn *drawn, const char *const *names,
		const uint64_t *counters, const struct flow_extra *extras,
		size_t nextras, struct count *counts)
{
	uint32_t arcs[8];
	struct placement placement = { .arcs = arcs };
	struct measured measured = {
		.counters = counters,
		.extras = extras,
		.nextras = nextras,
	};

	for (; names[placement.narcs]; placement.narcs++)
		arcs[placement.narcs] = drawn_arc(drawn,
						  names[placement.narcs]);
	return propagate(drawn->flow, &placement, &measured, counts, NULL);
}

static void
counts_expect(struct drawn *drawn, const struct count *counts,
	      const char *const *names, const uint64_t *expected)
{
	for (int i = 0; names[i]; i++) {
		const struct count *count = &counts[drawn_arc(drawn, names[i])];

		assert_int_not_equal(count->state, COUNT_UNKNOWN);
		assert_int_equal(count->n, expected[i]);
	}
}

/*
 * Figure 5a: counters on P->Q and Q->A, and on the two ways out.  One call
 * runs P Q A R C P Q B R C P Q A R, and leaves from there.
 */
static void
test_figure_5(void **state)
{
	static const char *const names[] = { "PQ", "QA", "P$", "R$", NULL };
	static const uint64_t counters[] = { 3, 2, 0, 1 };
	static const char *const others[] = { "QB", "BR", "AR", "RC", "CP",
					      "^P", "P",  "Q",	"A",  "B",
					      "R",  "C",  "$^", NULL };
	static const uint64_t expected[] = { 1, 1, 2, 2, 2, 1, 3,
					     3, 2, 1, 3, 2, 1 };
	struct drawn drawn = drawn_make(figure_1);
	struct count counts[WALK_ARCS];

	assert_int_equal(drawn_propagate(&drawn, names, counters, NULL, 0,
					 counts),
			 FLOW_CONSISTENT);
	counts_expect(&drawn, counts, others, expected);
	assert_int_equal(counts[drawn_arc(&drawn, "PQ")].state, COUNT_EXACT);
	assert_int_equal(counts[drawn_arc(&drawn, "QB")].state, COUNT_DERIVED);
	flow_free(drawn.flow);
}

/*
 * Figure 7: P Q B R C P Q A, which divides by zero.  A->R was not run: that
 * it comes out as one is put right by A's exit counter.
 */
static void
test_figure_7(void **state)
{
	static const char *const names[] = { "PQ", "QA", "P$", "R$", NULL };
	static const uint64_t counters[] = { 2, 1, 0, 0 };
	static const char *const others[] = { "AR", "QB", "BR", "RC",
					      "A",  "R",  "$^", NULL };
	static const uint64_t wrong[] = { 1, 1, 1, 2, 1, 2, 0 };
	static const uint64_t right[] = { 0, 1, 1, 1, 1, 1, 1 };
	struct drawn drawn = drawn_make(figure_1);
	struct flow_extra extra = { drawn.verts['A'] - FLOW_BLOCK, LEFT_BEHIND,
				    1 };
	struct count counts[WALK_ARCS];

	assert_int_equal(drawn_propagate(&drawn, names, counters, NULL, 0,
					 counts),
			 FLOW_CONSISTENT);
	counts_expect(&drawn, counts, others, wrong);
	assert_int_equal(drawn_propagate(&drawn, names, counters, &extra, 1,
					 counts),
			 FLOW_CONSISTENT);
	counts_expect(&drawn, counts, others, right);
	flow_free(drawn.flow);
}

/*
 * After figure 9: two cycles without counters and without pipes that share
 * the vertex m, as ways into it in one and out of it in the other.  Every
 * vertex is determined, edges on the cycles are not.
 */
static void
test_figure_9(void **state)
{
	static const char *const names[] = { "a", "b", "m", "x", NULL };
	static const uint64_t counters[] = { 3, 5, 2, 7 };
	static const char *const others[] = { "n", "y", NULL };
	/* a and b give m and n; m and n give x and y: 3 + 5 - 2, 8 - 7. */
	static const uint64_t expected[] = { 6, 1 };
	struct drawn drawn = drawn_make(
		"^s sa sb am an bm bn mx my nx ny x$ y$");
	struct count counts[WALK_ARCS];

	assert_int_equal(drawn_propagate(&drawn, names, counters, NULL, 0,
					 counts),
			 FLOW_CONSISTENT);
	counts_expect(&drawn, counts, others, expected);
	for (const char *const *p =
		     (const char *const[]){ "am", "an", "bm", "bn", "mx", "my",
					    "nx", "ny", NULL };
	     *p; p++) {
		const struct count *count = &counts[drawn_arc(&drawn, *p)];

		assert_int_equal(count->state, COUNT_UNKNOWN);
		assert_int_equal(count->reason, REASON_UNPLACED);
	}
	flow_free(drawn.flow);
}

static void
test_faults(void **state)
{
	static const char *const names[] = { "A", "B", NULL };
	static const uint64_t more[] = { 2, 3 }, differ[] = { 2, 2 };
	static const char *const all[] = { "A", "B", "C", NULL };
	static const uint64_t sums[] = { 5, 2, 4 };
	struct drawn drawn = drawn_make("^A AB AC B$ C$");
	struct count counts[WALK_ARCS];

	assert_int_equal(drawn_propagate(&drawn, names, more, NULL, 0, counts),
			 FLOW_NEGATIVE);
	assert_int_equal(drawn_propagate(&drawn, names, differ, NULL, 0,
					 counts),
			 FLOW_CONSISTENT);
	assert_int_equal(drawn_propagate(&drawn, all, sums, NULL, 0, counts),
			 FLOW_INCONSISTENT);
	flow_free(drawn.flow);
}

/* A lost counter takes with it what is derived from it, and no more. */
static void
test_lost(void **state)
{
	struct drawn drawn = drawn_make("^A AB AC BD CD DE DF EG FG G$");
	uint32_t arcs[] = {
		drawn_arc(&drawn, "A"),
		drawn_arc(&drawn, "B"),
		drawn_arc(&drawn, "E"),
	};
	struct placement placement = { .arcs = arcs, .narcs = 3 };
	static const uint64_t counters[] = { 9, 4, 5 };
	static const bool lost[] = { false, true, false };
	struct measured measured = { .counters = counters, .lost = lost };
	static const char *const known[] = { "A", "D", "E", "F", "FG", NULL };
	static const uint64_t expected[] = { 9, 9, 5, 4, 4 };
	struct count counts[WALK_ARCS];

	assert_int_equal(propagate(drawn.flow, &placement, &measured, counts,
				   NULL),
			 FLOW_CONSISTENT);
	counts_expect(&drawn, counts, known, expected);
	for (const char *const *p =
		     (const char *const[]){ "B", "C", "AB", "CD", NULL };
	     *p; p++) {
		const struct count *count = &counts[drawn_arc(&drawn, *p)];

		assert_int_equal(count->state, COUNT_UNKNOWN);
		assert_int_equal(count->reason, REASON_LOST);
	}
	flow_free(drawn.flow);
}

/* Counts are 64 bits wide. */
static void
test_wide(void **state)
{
	static const char *const names[] = { "A", "B", NULL };
	static const uint64_t counters[] = { 0x7fffffffffffffff, 0xffffffff };
	static const char *const others[] = { "C", "AC", "$^", NULL };
	static const uint64_t expected[] = { 0x7fffffff00000000,
					     0x7fffffff00000000,
					     0x7fffffffffffffff };
	struct drawn drawn = drawn_make("^A AB AC B$ C$");
	struct count counts[WALK_ARCS];

	assert_int_equal(drawn_propagate(&drawn, names, counters, NULL, 0,
					 counts),
			 FLOW_CONSISTENT);
	counts_expect(&drawn, counts, others, expected);
	flow_free(drawn.flow);
}

/* One random graph, what is wanted of it and what is counted. */
struct trial {
	struct flow *flow;
	struct placement *placement;
	bool tables;
	bool wanted[WALK_ARCS];
	struct walked walked;
	uint64_t counters[WALK_ARCS];
	bool lost[WALK_ARCS];
	struct count counts[WALK_ARCS];
};

static void
trial_measure(struct trial *trial, bool lose)
{
	for (uint32_t i = 0; i < trial->placement->narcs; i++) {
		trial->counters[i] =
			trial->walked.counts[trial->placement->arcs[i]];
		trial->lost[i] = lose && random_chance(15);
		if (trial->lost[i])
			trial->counters[i] = random_below(1000);
	}
}

static enum propagated
trial_propagate(struct trial *trial)
{
	struct measured measured = {
		.counters = trial->counters,
		.lost = trial->lost,
		.extras = trial->walked.extras,
		.nextras = trial->walked.nextras,
	};

	return propagate(trial->flow, trial->placement, &measured,
			 trial->counts, NULL);
}

/* Whatever is known is right; returns how many are. */
static unsigned
trial_check(const struct trial *trial)
{
	unsigned known = 0;

	for (uint32_t arc = 0; arc < flow_arcs(trial->flow); arc++) {
		if (trial->counts[arc].state == COUNT_UNKNOWN)
			continue;
		assert_int_equal(trial->counts[arc].n,
				 trial->walked.counts[arc]);
		known++;
	}
	return known;
}

static unsigned long ntables;	/* jumps with counters of their own */

/* All edges of an indirect jump that no block counts are there, or none. */
static void
tables_check(const struct flow *flow, const struct placement *placement)
{
	for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++) {
		uint32_t n = 0, all = 0, last = ARC_NONE;

		for (uint32_t e = flow->out[v]; e < flow->out[v + 1]; e++)
			all += flow->edges[e].by == BY_TABLE &&
			       edge_carrier(flow, e) == ARC_NONE;
		for (uint32_t i = 0; i < placement->narcs; i++) {
			uint32_t arc = placement->arcs[i];

			if (arc >= flow->nedges || flow->edges[arc].from != v ||
			    flow->edges[arc].by != BY_TABLE)
				continue;
			/* One after the other. */
			assert_true(
				last == ARC_NONE ||
				(placement->arcs[i - 1] == last && arc > last));
			last = arc;
			n++;
		}
		ntables += n != 0;
		assert_true(!n || n == all);
	}
}

static void
trial_place(struct trial *trial, const struct weights *weights,
	    enum placement_method method, bool all)
{
	struct placement_input input = {
		.method = method,
		.wanted = all ? NULL : trial->wanted,
		.traps = random_chance(50),
		.tables = trial->tables,
	};

	input.whole = !input.traps && random_chance(50);
	placement_free(trial->placement);
	trial->placement = placement_make(trial->flow, weights, &input);
	if (input.whole)
		tables_check(trial->flow, trial->placement);
	for (uint32_t i = 0; i < trial->placement->narcs; i++) {
		uint32_t arc = trial->placement->arcs[i];
		enum flow_by by = arc < trial->flow->nedges ?
					  trial->flow->edges[arc].by :
					  BY_LAST;

		/* Nothing can count these. */
		assert_true(by != BY_NOTHING && by != BY_LEAK);
		assert_true(by != BY_TABLE || trial->tables);
	}
}

static void
wanted_choose(struct trial *trial)
{
	unsigned edges = random_below(3) * 25, blocks = random_below(3) * 50;

	for (uint32_t arc = 0; arc < flow_arcs(trial->flow); arc++)
		trial->wanted[arc] = random_chance(
			arc < trial->flow->nedges ? edges : blocks);
}

static void
trial_walk(struct trial *trial)
{
	memset(&trial->walked, 0, sizeof(trial->walked));
	for (int calls = 1 + (int)random_below(3); calls; calls--)
		walk(trial->flow, &trial->walked, STEPS, true);
}

/* Which arcs are known when all that can be is counted. */
static void
knowable_find(struct trial *trial, const struct weights *weights,
	      bool *knowable)
{
	trial_place(trial, weights, PLACE_EVERY, true);
	trial_walk(trial);
	trial_measure(trial, false);
	assert_int_equal(trial_propagate(trial), FLOW_CONSISTENT);
	trial_check(trial);
	for (uint32_t arc = 0; arc < flow_arcs(trial->flow); arc++)
		knowable[arc] = trial->counts[arc].state != COUNT_UNKNOWN;
}

/*
 * What is wanted and can be known is known, with fewer counters too; what is
 * known with some lost is right all the same.
 */
static void
test_random(void **state)
{
	uint64_t walks = 0, known = 0, lost = 0;
	bool knowable[WALK_ARCS];

	for (int n = 0; n < ROUNDS; n++) {
		struct trial trial = { random_flow(WALK_BLOCKS, false) };
		struct weights *weights = weights_guess(trial.flow, NULL);

		assert_true(flow_arcs(trial.flow) <= WALK_ARCS);
		trial.tables = random_chance(50);
		knowable_find(&trial, weights, knowable);
		for (int i = 0; i < 6; i++) {
			enum placement_method method = i % 3;
			bool vertex = method == PLACE_VERTEX, all = i < 2;

			wanted_choose(&trial);
			trial_place(&trial, weights, method, all);
			for (int k = 0; k < WALKS; k++, walks++) {
				trial_walk(&trial);
				trial_measure(&trial, false);
				assert_int_equal(trial_propagate(&trial),
						 FLOW_CONSISTENT);
				known += trial_check(&trial);
			}
			for (uint32_t arc = 0; arc < flow_arcs(trial.flow);
			     arc++)
				if ((all || trial.wanted[arc]) &&
				    (vertex ? arc >= trial.flow->nedges :
					      knowable[arc]))
					assert_int_not_equal(
						trial.counts[arc].state,
						COUNT_UNKNOWN);
			trial_measure(&trial, true);
			assert_int_equal(trial_propagate(&trial),
					 FLOW_CONSISTENT);
			lost += trial_check(&trial);
		}
		placement_free(trial.placement);
		weights_free(weights);
		flow_free(trial.flow);
	}
	assert_true(ntables > ROUNDS / 40);
	print_message("# %" PRIu64 " times walked, %" PRIu64 " counts, %" PRIu64
		      " with counters lost\n",
		      walks, known, lost);
}

/* A count is known just if linear algebra says that it is determined. */
static void
test_determined(void **state)
{
	unsigned yes = 0, no = 0;

	for (int n = 0; n < ROUNDS / 40; n++) {
		struct trial trial = { random_flow(6, false) };
		bool counted[WALK_ARCS] = { false };
		uint32_t arcs[WALK_ARCS];
		struct placement placement = { .arcs = arcs };
		unsigned rank;

		for (uint32_t arc = 0; arc < flow_arcs(trial.flow); arc++)
			if (arc != trial.flow->back && random_chance(30)) {
				counted[arc] = true;
				arcs[placement.narcs++] = arc;
			}
		trial.placement = &placement;
		trial_walk(&trial);
		trial_measure(&trial, false);
		assert_int_equal(trial_propagate(&trial), FLOW_CONSISTENT);
		trial_check(&trial);
		rank = kirchhoff_rank(trial.flow, counted, ARC_NONE);
		for (uint32_t arc = 0; arc < flow_arcs(trial.flow); arc++) {
			bool known = trial.counts[arc].state != COUNT_UNKNOWN;

			if (counted[arc] || arc == trial.flow->back)
				continue;
			assert_int_equal(known,
					 kirchhoff_rank(trial.flow, counted,
							arc) == rank);
			yes += known;
			no += !known;
		}
		flow_free(trial.flow);
	}
	print_message("# %u determined, %u not\n", yes, no);
	assert_true(yes > 100 && no > 100);
}

/* Some of the nodes are open, so the outside is; false if none are. */
static bool
nodes_open(const struct flow *flow, bool *open)
{
	bool any = false;

	for (uint32_t node = 1; node < flow_nodes(flow); node++)
		any |= open[node] = random_chance(25);
	open[NODE_OUTSIDE] = any;
	return any;
}

/* Forget what happened at nodes that are open, or some of it. */
static void
extras_clear(struct trial *trial, const bool *open)
{
	struct walked *walked = &trial->walked;
	size_t n = 0;

	for (size_t i = 0; i < walked->nextras; i++) {
		struct flow_extra *extra = &walked->extras[i];
		uint32_t v = FLOW_BLOCK + extra->block;
		bool before = extra->how == LEFT_BEFORE ||
			      extra->how == CAME_BEFORE;

		if (open[before ? node_before(v) : node_behind(v)])
			extra->n = random_below((unsigned)extra->n + 1);
		if (extra->n)
			walked->extras[n++] = *extra;
	}
	walked->nextras = n;
}

/*
 * With control that comes and leaves unreported at open nodes a count is known
 * just if it is the same in all solutions of the other nodes' equations; and
 * then it is what happened.
 */
static void
test_open(void **state)
{
	unsigned yes = 0, no = 0, unreported = 0;

	for (int n = 0; n < ROUNDS / 10; n++) {
		struct trial trial = { random_flow(6, false) };
		bool counted[WALK_ARCS] = { false };
		bool open[2 * WALK_BLOCKS + 2] = { false };
		uint32_t arcs[WALK_ARCS];
		struct placement placement = { .arcs = arcs };
		struct measured measured = { .counters = trial.counters,
					     .open = open,
					     .doubt = REASON_STACK };
		unsigned rank;

		for (uint32_t arc = 0; arc < flow_arcs(trial.flow); arc++)
			if (arc != trial.flow->back && random_chance(40)) {
				counted[arc] = true;
				arcs[placement.narcs++] = arc;
			}
		if (!nodes_open(trial.flow, open))
			measured.open = NULL;
		trial.placement = &placement;
		for (int i = 0; i < 4; i++)
			trial_walk(&trial);
		unreported += trial.walked.nextras;
		extras_clear(&trial, open);
		trial_measure(&trial, false);
		measured.extras = trial.walked.extras;
		measured.nextras = trial.walked.nextras;
		assert_int_equal(propagate(trial.flow, &placement, &measured,
					   trial.counts, NULL),
				 FLOW_CONSISTENT);
		if (measured.open)
			assert_int_equal(trial.counts[trial.flow->back].state,
					 COUNT_UNKNOWN);
		trial_check(&trial);
		rank = kirchhoff_rank_open(trial.flow, counted, measured.open,
					   ARC_NONE);
		for (uint32_t arc = 0; arc < flow_arcs(trial.flow); arc++) {
			bool known = trial.counts[arc].state != COUNT_UNKNOWN;

			if (counted[arc] || arc == trial.flow->back)
				continue;
			assert_int_equal(
				known, kirchhoff_rank_open(trial.flow, counted,
							   measured.open,
							   arc) == rank);
			yes += known;
			no += !known;
		}
		flow_free(trial.flow);
	}
	print_message("# %u determined, %u not, %u unreported\n", yes, no,
		      unreported);
	assert_true(yes > 1000 && no > 1000 && unreported > 1000);
}

/* Where everything is counted a wrong counter does not go unnoticed. */
static void
test_wrong(void **state)
{
	unsigned tried = 0, seen = 0;

	for (int n = 0; n < ROUNDS / 20; n++) {
		struct trial trial = { random_flow(WALK_BLOCKS, true) };
		struct weights *weights = weights_guess(trial.flow, NULL);
		uint32_t i;

		trial_place(&trial, weights, PLACE_EVERY, true);
		trial_walk(&trial);
		trial_measure(&trial, false);
		i = random_below(trial.placement->narcs);
		trial.counters[i] += 1000;
		tried++;
		seen += trial_propagate(&trial) != FLOW_CONSISTENT;
		placement_free(trial.placement);
		weights_free(weights);
		flow_free(trial.flow);
	}
	print_message("# %u of %u seen\n", seen, tried);
	/* Not if the one counter is all there is to know. */
	assert_true(seen * 10 > tried * 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_5),
		cmocka_unit_test(test_figure_7),
		cmocka_unit_test(test_figure_9),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_determined),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_wrong),
	};

	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
