/*
 * Functions that are entered in their middle: by jumps and calls of others,
 * before they are looked at and after, as parts of two functions, by code
 * without a name, and by themselves.
 */
#include "tests/lib/letters.h"

enum { F, G };			/* function plans */

static const char mid_entered[] =
	"other code jumps into the middle of the function";

/*
 * f: 0 p, 1 b to 4, 3 p, 4 p, 5 r.  g: 0x40 p, 0x41 j or call to 4 of f, then
 * r.
 */
static void
jump_begin(struct abc_image *t, char op)
{
	char code[] = { 'p', op, (char)(op == 'C' ? 4 - 0x41 : 4 - 0x43), 'r' };

	abc_begin(t);
	abc_func(t, "f", 0, 6);
	abc_code(t, 0, "pb\1ppr", 6);
	abc_func(t, "g", 0x40, 4);
	abc_code(t, 0x40, code, 4);
	abc_row(t, 0, 1, true);
	abc_row(t, 4, 2, true);
	abc_end(t, 6);
	abc_row(t, 0x40, 3, true);
	abc_end(t, 0x44);
}

/* f is called 5 times, g 3 times, and goes to 4 in f. */
static void
f_run(struct plan *plan)
{
	hit(plan, 0, 5, 0);
	hit(plan, 1, 5, 4);
	hit(plan, 3, 1, 0);
	hit(plan, 4, 5, 0);
	hit(plan, 5, 5, 0);
}

static void
g_run(struct plan *plan, char op)
{
	hit(plan, 0x40, 3, 0);
	hit(plan, 0x41, 3, 0);
	hit(plan, 4, 3, 0);
	hit(plan, 5, 3, 0);
	if (op == 'C')
		hit(plan, 0x43, 3, 0);
}

static void
test_mid_entry_before(void **state)
{
	static const char ops[] = { 'j', 'C' };
	struct abc_image t;
	struct plan *plan;

	for (int i = 0; i < 4; i++) {
		jump_begin(&t, ops[i % 2]);
		plan = abc_plan_of(&t, units("insn,edge,line,func"),
				   PLACE_OPTIMAL, i < 2);
		g_run(plan, ops[i % 2]);
		assert_int_equal(plan->fplans[F].state, FPLAN_READY);
		f_run(plan);
		assert_int_equal(insn_known(plan, F, 0), 5);
		assert_int_equal(insn_known(plan, F, 4), 8);
		assert_int_equal(insn_known(plan, F, 5), 8);
		assert_int_equal(insn_known(plan, G, 0x41), 3);
		/* From line 1, and from the other function. */
		assert_int_equal(count_of(plan, UNIT_LINE, 0, 2), 8);
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 5);
		abc_close(plan);
	}
}

static void
test_mid_entry_after(void **state)
{
	struct abc_image t;
	struct plan *plan;

	for (int i = 0; i < 2; i++) {
		char op = i ? 'C' : 'j';

		jump_begin(&t, op);
		plan = abc_plan(&t, units("insn,line,func"));
		f_run(plan);
		assert_int_equal(insn_known(plan, F, 4), 5);
		g_run(plan, op);
		assert_true(plan->fplans[F].mid_entered);
		assert_string_equal(why_of(plan, UNIT_LINE, 0, 2), mid_entered);
		assert_string_equal(insn_why(plan, F, 5), mid_entered);
		assert_int_equal(insn_known(plan, G, 0x41), 3);
		assert_int_equal(count_of(plan, UNIT_LINE, 0, 3), 3);
		abc_close(plan);
	}
}

/* A look at the counts makes graphs of functions that still wait. */
static void
test_mid_entry_between(void **state)
{
	struct abc_image t;
	struct plan *plan;

	jump_begin(&t, 'j');
	plan = abc_plan(&t, units("insn,line"));
	assert_int_equal(insn_known(plan, F, 4), 0);
	assert_non_null(plan->fplans[F].cfg);
	g_run(plan, 'j');
	f_run(plan);
	assert_int_equal(insn_known(plan, F, 4), 8);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 2), 8);
	abc_close(plan);
}

/* A second jump to a place that is known for one changes nothing. */
static void
test_mid_entry_twice(void **state)
{
	char code[] = { 'p', 'j', (char)(4 - 0x53) };
	struct abc_image t;
	struct plan *plan;

	jump_begin(&t, 'j');
	abc_func(&t, "h", 0x50, 3);
	abc_code(&t, 0x50, code, 3);
	plan = abc_plan(&t, units("insn"));
	g_run(plan, 'j');
	f_run(plan);
	hit(plan, 0x50, 2, 0);
	hit(plan, 0x51, 2, 0);
	hit(plan, 4, 2, 0);
	hit(plan, 5, 2, 0);
	assert_int_equal(insn_known(plan, F, 4), 10);
	assert_int_equal(insn_known(plan, F, 0), 5);
	abc_close(plan);
}

/* A jump into an instruction: what runs there is not known. */
static void
test_inside_insn(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	/* 0 b to 4, which is in the P at 3. */
	abc_func(&t, "f", 0, 7);
	abc_code(&t, 0, "b\2pPppr", 7);
	plan = abc_plan(&t, units("insn,func"));
	hit(plan, 0, 4, 3);
	hit(plan, 2, 1, 0);
	assert_int_equal(insn_known(plan, F, 0), 4);
	assert_string_equal(insn_why(plan, F, 6), mid_entered);
	/* Might it not go to 0 from there? */
	assert_string_equal(why_of(plan, UNIT_FUNC, 0, 0), mid_entered);
	abc_close(plan);
}

/* 0 C to 5, 2 C to 5, 4 r; 5 b to 8, 7 p, 8 r: a subroutine within. */
static void
test_subroutine(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 9);
	abc_code(&t, 0, "C\5C\3rb\1pr", 9);
	for (int every = 0; every < 2; every++) {
		plan = abc_plan_of(&t, units("insn,func"),
				   every ? PLACE_EVERY : PLACE_OPTIMAL, false);
		hit(plan, 0, 3, 0);
		hit(plan, 5, 6, 2);
		hit(plan, 7, 4, 0);
		hit(plan, 8, 6, 0);
		hit(plan, 2, 3, 0);
		hit(plan, 4, 3, 0);
		assert_int_equal(insn_known(plan, F, 2), 3);
		assert_int_equal(insn_known(plan, F, 5), 6);
		assert_int_equal(insn_known(plan, F, 8), 6);
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 3);
		abc_close(plan);
	}
}

/*
 * f has a part at 8 that begins g, which is longer: g has what is behind.
 * f: 0 p, 1 b to 8, 3 r; 8 p, 9 j to 3.  g goes on: 11 p, 12 r.
 */
static void
test_guest(void **state)
{
	static struct range ranges[] = {
		{ BASE, BASE + 4 },
		{ BASE + 8, BASE + 11 },
	};
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 4);
	t.funcs[0].ranges = ranges;
	t.funcs[0].nranges = 2;
	abc_func(&t, "g", 8, 5);
	abc_code(&t, 0, "pb\5r", 4);
	abc_code(&t, 8, "pj\xf8pr", 5);
	for (int i = 0; i < 3; i++) {
		plan = abc_plan_of(&t, units(i == 2 ? "func" : "func,insn"),
				   PLACE_OPTIMAL, i == 1);
		assert_true(plan->fplans[G].guest);
		/* g is called 6 times before f ever is. */
		hit(plan, 8, 6, 0);
		hit(plan, 9, 6, 0);
		hit(plan, 3, 6, 0);
		assert_int_equal(count_of(plan, UNIT_FUNC, 1, 0), 6);
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 0);
		hit(plan, 0, 5, 0);
		hit(plan, 1, 5, 2);
		hit(plan, 8, 2, 0);
		hit(plan, 9, 2, 0);
		hit(plan, 3, 5, 0);
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 5);
		assert_int_equal(count_of(plan, UNIT_FUNC, 1, 0), 8);
		if (i < 2)
			assert_int_equal(insn_known(plan, F, 3), 11);
		abc_close(plan);
	}
}

/* g is a part of f and nothing else: it is called there all the same. */
static void
test_no_code(void **state)
{
	static struct range ranges[] = {
		{ BASE, BASE + 4 },
		{ BASE + 8, BASE + 11 },
	};
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 4);
	t.funcs[0].ranges = ranges;
	t.funcs[0].nranges = 2;
	abc_func(&t, "g", 8, 3);
	abc_code(&t, 0, "pb\5r", 4);
	abc_code(&t, 8, "pj\xf8", 3);
	for (int eager = 0; eager < 2; eager++) {
		plan = abc_plan_of(&t, units("func,insn"), PLACE_OPTIMAL,
				   eager);
		assert_false(plan->fplans[G].guest);
		assert_int_equal(plan->fplans[G].nranges, 0);
		hit(plan, 8, 6, 0);
		hit(plan, 9, 6, 0);
		hit(plan, 3, 6, 0);
		hit(plan, 0, 5, 0);
		hit(plan, 1, 5, 2);
		hit(plan, 8, 2, 0);
		hit(plan, 9, 2, 0);
		hit(plan, 3, 5, 0);
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 5);
		assert_int_equal(count_of(plan, UNIT_FUNC, 1, 0), 8);
		assert_int_equal(insn_known(plan, F, 9), 8);
		assert_int_equal(insn_known(plan, F, 3), 11);
		abc_close(plan);
	}
}

/* Code without a name is looked at from the start, and jumps into f. */
static void
test_nameless(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	/* f: 8 b to 11, 10 p, 11 p, 12 r.  Before it, without a name: */
	abc_func(&t, "f", 8, 5);
	abc_code(&t, 8, "b\1ppr", 5);
	abc_code(&t, 0, "pj\x08", 3);		/* to 11 */
	abc_row(&t, 0, 1, true);
	abc_end(&t, 3);
	abc_row(&t, 8, 2, true);
	abc_end(&t, 13);
	plan = abc_plan(&t, units("line,insn,func"));
	assert_int_equal(plan->nfplans, 2);
	assert_int_equal(plan->fplans[1].func, FUNC_NONE);
	assert_int_equal(plan->fplans[1].state, FPLAN_READY);
	hit(plan, 0, 3, 0);
	hit(plan, 1, 3, 0);
	hit(plan, 11, 3, 0);
	hit(plan, 8, 4, 1);
	hit(plan, 10, 3, 0);
	hit(plan, 11, 4, 0);
	assert_int_equal(insn_known(plan, 1, 1), 3);
	assert_int_equal(insn_known(plan, F, 12), 7);
	assert_int_equal(insn_known(plan, F, 10), 3);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 4);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 3);
	/* Called, and come to from outside. */
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 2), 7);
	abc_close(plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mid_entry_before),
		cmocka_unit_test(test_mid_entry_after),
		cmocka_unit_test(test_mid_entry_between),
		cmocka_unit_test(test_mid_entry_twice),
		cmocka_unit_test(test_inside_insn),
		cmocka_unit_test(test_subroutine),
		cmocka_unit_test(test_guest),
		cmocka_unit_test(test_no_code),
		cmocka_unit_test(test_nameless),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
