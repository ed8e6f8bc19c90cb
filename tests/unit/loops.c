/*
 * Loops: known shapes, and random graphs against the definition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "flow/loops.h"
#include "tests/lib/flows.h"

#include <cmocka.h>

enum { ROUNDS = 20000, DEEP = 20000 };

/* inner: for each block in the order of letters its innermost loop or '-'. */
static const struct {
	const char *what, *text, *blocks, *inner, *irreducible;
} drawings[] = {
	{ "figure 1", "^P PQ P$ QA QB AR BR RC R$ CP", "PQABRC", "PPPPPP", "" },
	{ "no loop", "^A AB AC BD CD D$", "ABCD", "----", "" },
	{ "self loop", "^A AB BB BC C$", "ABC", "-B-", "" },
	{ "the entry loops to itself", "^A AA A$", "A", "A", "" },
	{ "two loops, one in the other, latches apart",
	  "^A AB BC BF CD CE DC EB F$", "ABCDEF", "-BCCB-", "" },
	{ "two back edges to one header are one loop",
	  "^A AB AE BC BD CA DA E$", "ABCDE", "AAAA-", "" },
	{ "two loops, one after the other", "^A AA AB BC CB CD D$", "ABCD",
	  "ABB-", "" },
	{ "a loop with two entries", "^A AB AC BC CB CD D$", "ABCD", "-BB-",
	  "B" },
	{ "a jump into an inner loop from the outer one",
	  "^A AB AD BC CD DC DE EA E$", "ABCDE", "AACCA", "C" },
	{ "a jump into both from outside", "^S SA SC AB BC CB CD DA D$",
	  "SABCD", "-ABBA", "AB" },
	{ "never left", "^A AB BA", "AB", "AA", "" },
};

static void
test_drawings(void **state)
{
	for (size_t i = 0; i < sizeof(drawings) / sizeof(*drawings); i++) {
		struct drawn drawn = drawn_make(drawings[i].text);
		struct loops *loops = loops_find(drawn.flow);
		const char *blocks = drawings[i].blocks;

		print_message("# %s\n", drawings[i].what);
		for (int k = 0; blocks[k]; k++) {
			uint32_t v = drawn.verts[(int)blocks[k]];
			char expected = drawings[i].inner[k];
			bool irreducible = strchr(drawings[i].irreducible,
						  blocks[k]);

			assert_int_equal(loops->inner[v],
					 expected == '-' ?
						 LOOP_NONE :
						 drawn.verts[(int)expected]);
			assert_int_equal(loops->irreducible[v], irreducible);
		}
		loops_free(loops);
		flow_free(drawn.flow);
	}
}

static void
test_left(void **state)
{
	struct drawn drawn = drawn_make("^A AB BC BF CD C$ DC DE EB EA F$");
	struct loops *loops = loops_find(drawn.flow);
	static const struct {
		const char *edge;
		char left;
	} cases[] = {
		{ "AB", 0 },   { "BC", 0 },   { "BF", 'A' },
		{ "C$", 'A' }, { "DC", 0 },   { "DE", 'C' },
		{ "EB", 0 },   { "EA", 'B' }, { "F$", 0 },
	};

	assert_int_equal(loops->outer[drawn.verts['C']], drawn.verts['B']);
	assert_int_equal(loops->outer[drawn.verts['B']], drawn.verts['A']);
	assert_int_equal(loops->outer[drawn.verts['A']], LOOP_NONE);
	assert_int_equal(loops->depth[drawn.verts['D']], 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(loop_left(drawn.flow, loops,
					   drawn_edge(&drawn, cases[i].edge)),
				 cases[i].left ?
					 drawn.verts[(int)cases[i].left] :
					 LOOP_NONE);
	loops_free(loops);
	flow_free(drawn.flow);
}

/* Mark what reaches v backwards without passing header. */
static void
natural_mark(const struct flow *flow, uint32_t header, uint32_t v, bool *fplan)
{
	if (fplan[v])
		return;
	fplan[v] = true;
	if (v == header)
		return;
	for (uint32_t i = flow->in[v]; i < flow->in[v + 1]; i++)
		natural_mark(flow, header, flow->edges[flow->ins[i]].from,
			     fplan);
}

static bool
loop_has(const struct loops *loops, uint32_t header, uint32_t v)
{
	for (uint32_t h = loops->inner[v]; h != LOOP_NONE; h = loops->outer[h])
		if (h == header)
			return true;
	return false;
}

/* Is there a way into the loop beside its header? */
static bool
loop_entered(const struct flow *flow, const struct loops *loops,
	     uint32_t header)
{
	for (uint32_t e = 0; e < flow->nedges; e++)
		if (flow->edges[e].to != header &&
		    loop_has(loops, header, flow->edges[e].to) &&
		    !loop_has(loops, header, flow->edges[e].from))
			return true;
	return false;
}

static void
loop_check(const struct flow *flow, const struct loops *loops, uint32_t header)
{
	bool fplan[FLOW_BLOCK + WALK_BLOCKS] = { false }, any = false;

	for (uint32_t i = flow->in[header]; i < flow->in[header + 1]; i++)
		if (loops->back[flow->ins[i]]) {
			any = true;
			natural_mark(flow, header,
				     flow->edges[flow->ins[i]].from, fplan);
		}
	assert_int_equal(any, loops->inner[header] == header);
	if (!any)
		return;
	assert_int_equal(loops->irreducible[header],
			 loop_entered(flow, loops, header));
	for (uint32_t v = 0; v < flow->nverts; v++)
		if (loops->irreducible[header])
			/* Part of what could be it. */
			assert_true(v == header || fplan[v] ||
				    !loop_has(loops, header, v));
		else
			assert_int_equal(fplan[v] || v == header,
					 loop_has(loops, header, v));
}

static void
test_random(void **state)
{
	unsigned found = 0, irreducible = 0;

	for (int n = 0; n < ROUNDS; n++) {
		struct flow *flow = random_flow(WALK_BLOCKS, false);
		struct loops *loops = loops_find(flow);

		for (uint32_t v = FLOW_BLOCK; v < flow->nverts; v++) {
			loop_check(flow, loops, v);
			found += loops->inner[v] == v;
			irreducible += loops->irreducible[v];
		}
		loops_free(loops);
		flow_free(flow);
	}
	print_message("# %u loops, %u irreducible\n", found, irreducible);
	assert_true(irreducible > 100);
}

/*
 * Loops in loops in loops: 0 -> 1 -> ... -> n - 1, each also to itself or,
 * from the second half, back to its fellow in the first.  And ways from all
 * of them into the innermost.
 */
static void
test_deep(void **state)
{
	struct flow_edge *edges = NULL;
	struct flow *flow;
	struct loops *loops;
	size_t n = 0;

	*vec_push(edges, n) = (struct flow_edge){ FLOW_ROOT, FLOW_BLOCK, 0 };
	for (uint32_t b = 0; b < DEEP; b++) {
		uint32_t v = FLOW_BLOCK + b;
		uint32_t fellow = FLOW_BLOCK + DEEP - 1 - b;

		*vec_push(edges, n) = (struct flow_edge){
			v, b + 1 < DEEP ? v + 1 : FLOW_EXIT, BY_FALL
		};
		*vec_push(edges, n) = (struct flow_edge){
			v, fellow < v ? fellow : FLOW_BLOCK + DEEP / 2, BY_TAKEN
		};
	}
	flow = flow_make(DEEP, edges, n);
	loops = loops_find(flow);
	for (uint32_t b = 0; b < DEEP / 2; b++)
		assert_int_equal(loops->depth[FLOW_BLOCK + b],
				 b < LOOP_DEPTH_MAX ? b + 1 : LOOP_DEPTH_MAX);
	loops_free(loops);
	flow_free(flow);
	free(edges);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drawings),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_deep),
	};

	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
