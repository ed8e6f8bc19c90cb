/*
 * The examples of Ball & Larus 1994 as programs with plans of all methods:
 * figures 1, 5 and 7 with the executions shown, and figure 4.
 */
#include "probe/counts.h"
#include "tests/lib/letters.h"

static const enum placement_method methods[] = {
	PLACE_OPTIMAL,
	PLACE_VERTEX,
	PLACE_EVERY,
};

/* Instructions of blocks in the order they are executed, by block letter. */
struct figure {
	const char *code;
	size_t len;
	struct {
		char block;
		uint8_t first, last;	/* offsets of instructions */
		bool branch;	/* the last is one */
		uint8_t target;
	} blocks[10];
};

/*
 * Figure 1: P (b to X) Q (b to B) A (j to R) B R (b to X) C (j to P), and X,
 * a return.
 */
static const struct figure figure_1 = {
	"b\x0a"
	"b\3"
	"pj\1"
	"p"
	"b\2"
	"j\xf4"
	"r",
	13,
	{ { 'P', 0, 0, true, 12 },
	  { 'Q', 2, 2, true, 7 },
	  { 'A', 4, 5, false, 0 },
	  { 'B', 7, 7, false, 0 },
	  { 'R', 8, 8, true, 12 },
	  { 'C', 10, 10, false, 0 },
	  { 'X', 12, 12, false, 0 } },
};

/*
 * Figure 4: a (b to f) b (b to e) c (b to e) d, e (b to b), f (b to h) g and
 * h, which return.
 */
static const struct figure figure_4 = {
	"b\7"
	"b\3"
	"b\1"
	"p"
	"b\xf9"
	"b\1"
	"r"
	"r",
	13,
	{ { 'a', 0, 0, true, 9 },
	  { 'b', 2, 2, true, 7 },
	  { 'c', 4, 4, true, 7 },
	  { 'd', 6, 6, false, 0 },
	  { 'e', 7, 7, true, 2 },
	  { 'f', 9, 9, true, 12 },
	  { 'g', 11, 11, false, 0 },
	  { 'h', 12, 12, false, 0 } },
};

static size_t
figure_block(const struct figure *figure, char block)
{
	size_t i = 0;

	while (figure->blocks[i].block != block)
		i++;
	return i;
}

/* Run a path of blocks n times; false: its last instruction was not begun. */
static void
figure_run(const struct figure *figure, struct plan *plan, const char *path,
	   uint64_t n, bool whole)
{
	for (; *path; path++) {
		size_t i = figure_block(figure, *path);
		uint8_t first = figure->blocks[i].first;
		uint8_t last = figure->blocks[i].last;
		bool taken =
			path[1] && figure->blocks[i].branch &&
			figure->blocks[figure_block(figure, path[1])].first ==
				figure->blocks[i].target;

		hit(plan, first, n, first == last && taken ? n : 0);
		if (first != last && (path[1] || whole))
			hit(plan, last, n, taken ? n : 0);
	}
}

static struct plan *
figure_plan(const struct figure *figure, struct abc_image *t, const char *names,
	    enum placement_method method, bool eager)
{
	abc_begin(t);
	abc_func(t, "f", 0, figure->len);
	abc_code(t, 0, figure->code, figure->len);
	return abc_plan_of(t, units(names), method, eager);
}

/* "P3 Q3": how often blocks ran. */
static void
figure_expect(const struct figure *figure, struct plan *plan,
	      const char *counts)
{
	unsigned n;
	char block;
	int used;

	for (; sscanf(counts, " %c%u%n", &block, &n, &used) == 2;
	     counts += used) {
		size_t i = figure_block(figure, block);

		assert_int_equal(insn_known(plan, 0, figure->blocks[i].first),
				 n);
	}
}

static uint64_t
edge_known(struct plan *plan, const struct figure *figure, char from, char to)
{
	const struct func_plan *fplan = &plan->fplans[0];
	uint32_t vert = FLOW_BLOCK + (uint32_t)figure_block(figure, from);

	plan_propagate(plan, NULL);
	for (uint32_t e = fplan->flow->out[vert];
	     e < fplan->flow->out[vert + 1]; e++)
		if (fplan->flow->edges[e].to ==
		    FLOW_BLOCK + figure_block(figure, to)) {
			assert_int_not_equal(fplan->counts[e].state,
					     COUNT_UNKNOWN);
			return fplan->counts[e].n;
		}
	fail_msg("no edge %c%c", from, to);
	return 0;
}

/* Figure 5: P Q A R C P Q B R C P Q A R. */
static void
test_figure_5(void **state)
{
	struct abc_image t;
	struct plan *plan;

	for (int i = 0; i < 6; i++) {
		plan = figure_plan(&figure_1, &t, "edge,func", methods[i % 3],
				   i < 3);
		figure_run(&figure_1, plan, "PQARCPQBRCPQARX", 1, true);
		figure_expect(&figure_1, plan, "P3 Q3 A2 B1 R3 C2 X1");
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 1);
		assert_int_equal(edge_known(plan, &figure_1, 'Q', 'B'), 1);
		assert_int_equal(edge_known(plan, &figure_1, 'C', 'P'), 2);
		abc_close(plan);
	}
}

/* Figure 7: P Q B R C P Q A, which divides by zero in its first half. */
static void
test_figure_7(void **state)
{
	struct abc_image t;
	struct plan *plan;

	for (int i = 0; i < 6; i++) {
		plan = figure_plan(&figure_1, &t, "edge,insn", methods[i % 3],
				   i < 3);
		figure_run(&figure_1, plan, "PQBRCPQA", 1, false);
		left(plan, 5, true, 1);
		figure_expect(&figure_1, plan, "P2 Q2 A1 B1 R1 C1 X0");
		assert_int_equal(insn_known(plan, 0, 5), 0);
		assert_int_equal(edge_known(plan, &figure_1, 'A', 'R'), 0);
		assert_int_equal(edge_known(plan, &figure_1, 'B', 'R'), 1);
		abc_close(plan);
	}
}

/* The path of one call of figure 4 that goes round its loop 51 times. */
static const char *
path_4(void)
{
	static char path[256];

	strcpy(path, "a");
	for (int i = 0; i < 51; i++)
		strcat(path, i < 20 ? "bcde" : i < 41 ? "bce" : "be");
	return strcat(path, "fh");
}

/*
 * Figure 4, run so that the blocks have its weights.  For blocks from
 * counters in blocks there are 5, as in the figure.
 */
static void
test_figure_4(void **state)
{
	struct abc_image t;
	struct plan *plan;

	for (int i = 0; i < 3; i++) {
		plan = figure_plan(&figure_4, &t, "block", methods[i], true);
		if (methods[i] == PLACE_VERTEX)
			assert_int_equal(plan->nsites, 5);
		if (methods[i] == PLACE_EVERY)
			assert_int_equal(plan->nsites, 8);
		figure_run(&figure_4, plan, path_4(), 1, true);
		figure_run(&figure_4, plan, "abcdefg", 1, true);
		figure_run(&figure_4, plan, "abcdefh", 1, true);
		figure_run(&figure_4, plan, "afg", 2, true);
		figure_run(&figure_4, plan, "afh", 1, true);
		figure_expect(&figure_4, plan, "a6 b53 c43 d22 e53 f6 g3 h3");
		abc_close(plan);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_4),
		cmocka_unit_test(test_figure_5),
		cmocka_unit_test(test_figure_7),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
