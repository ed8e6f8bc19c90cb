/*
 * Plans of images made by hand: which function plans, sites and units there
 * are, and what the units' counts are made of.
 */
#include "probe/counts.h"
#include "tests/lib/letters.h"

static bool
has(struct plan *plan, enum unit_kind kind, uint32_t ref, uint32_t line)
{
	return unit_of(plan, kind, ref, line).kind == kind;
}

static void
test_func(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "straight", 0, 3);
	abc_code(&t, 0, "ppr", 3);
	/* The loop's head is the entry: b goes back to it. */
	abc_func(&t, "loop", 0x100, 4);
	abc_code(&t, 0x100, "pb\xfdr", 4);
	t.image.has_dwarf = false;
	plan = abc_plan(&t, NULL);
	assert_int_equal(units_number(plan), 2);
	assert_int_equal(plan->nsites, 2);
	hit(plan, 0, 5, 0);
	/* Called twice; the branch went back 7 times in all. */
	hit(plan, 0x100, 9, 0);
	hit(plan, 0x101, 9, 7);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 5);
	assert_int_equal(count_of(plan, UNIT_FUNC, 1, 0), 2);
	/* Nothing planted beyond what is needed. */
	assert_int_equal(plan->nsites, 3);
	assert_null(plan_site(plan, BASE + 1));
	assert_true(plan_site(plan, BASE + 0x101)->branch);
	assert_false(plan_site(plan, BASE)->branch);
	assert_int_equal(plan_site(plan, BASE + 0x101)->insn.kind, INSN_BRANCH);
	abc_close(plan);
}

static void
test_lost_and_negative(void **state)
{
	struct selection sel = { 0 };
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "loop", 0, 4);
	abc_code(&t, 0, "pb\xfdr", 4);
	assert_int_equal(select_units(&sel, "func"), 0);
	plan = abc_plan(&t, &sel);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 0);
	/* Attached inside the loop: the branch was seen, the entry not. */
	plan_ready(plan, 0);
	hit(plan, 1, 1, 1);
	assert_non_null(strstr(why_of(plan, UNIT_FUNC, 0, 0), "contradict"));
	hit(plan, 0, 2, 0);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 1);
	plan_site(plan, BASE)->lost = true;
	assert_non_null(strstr(why_of(plan, UNIT_FUNC, 0, 0), "breakpoint"));
	abc_close(plan);
	select_free(&sel);
}

/*
 * Two ways round a diamond, and from its end back to its beginning: each
 * method has its counters, and what it knows is the same.
 */
static void
test_methods(void **state)
{
	static const enum placement_method methods[] = {
		PLACE_OPTIMAL,
		PLACE_VERTEX,
		PLACE_EVERY,
	};
	static const uint64_t at[] = { 0, 1, 3, 4, 6, 7, 8, 10 };
	static const uint64_t ran[] = { 10, 10, 6, 6, 4, 10, 10, 3 };
	struct selection sel = { 0 };
	struct abc_image t;
	size_t nsites[3];

	abc_begin(&t);
	abc_func(&t, "f", 0, 11);
	/* 0 p, 1 b to 6, 3 p, 4 j to 7, 6 p, 7 p, 8 b to 0, 10 r. */
	abc_code(&t, 0, "pb\x03pj\x01ppb\xf6r", 11);
	assert_int_equal(select_units(&sel, "block,func,insn"), 0);
	for (size_t i = 0; i < 6; i++) {
		struct plan *plan = abc_plan_of(&t, &sel, methods[i % 3],
						i < 3);

		for (size_t k = 0; k < 8; k++)
			hit(plan, at[k], ran[k],
			    at[k] == 1 ? 4 :
			    at[k] == 8 ? 7 :
					 0);
		for (size_t k = 0; k < 8; k++)
			assert_int_equal(insn_known(plan, 0, at[k]), ran[k]);
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 3);
		if (i < 3)
			nsites[i] = plan->nsites;
		abc_close(plan);
	}
	/*
	 * All five blocks: 8 to 0 is how often 7 ran less 10.  Five blocks, an
	 * end and seven edges have 7 - (6 - 1) + 1 cycles.
	 */
	assert_int_equal(nsites[2], 5);
	assert_true(nsites[0] <= 3 && nsites[1] <= 3);
	select_free(&sel);
}

static void
test_selection(void **state)
{
	struct selection sel = { 0 };
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "one", 0, 1)->file = 0;
	abc_func(&t, "two", 0x100, 1)->file = 1;
	abc_func(&t, "none", 0x200, 1);
	abc_code(&t, 0, "r", 1);
	abc_code(&t, 0x100, "r", 1);
	abc_code(&t, 0x200, "r", 1);
	abc_row(&t, 0, 1, true);
	abc_end(&t, 1);
	abc_row(&t, 0x100, 2, true);
	abc_end(&t, 0x101);

	select_glob(&sel.funcs, "o*");
	plan = abc_plan(&t, &sel);
	assert_int_equal(units_number(plan), 2);
	assert_true(has(plan, UNIT_FUNC, 0, 0));
	assert_true(has(plan, UNIT_LINE, 0, 1));
	abc_close(plan);
	select_free(&sel);

	/* A function counts as of the file it is declared in. */
	select_glob(&sel.files, "b.c");
	assert_int_equal(select_units(&sel, "func"), 0);
	plan = abc_plan(&t, &sel);
	assert_int_equal(units_number(plan), 1);
	assert_true(has(plan, UNIT_FUNC, 1, 0));
	abc_close(plan);
	select_free(&sel);

	assert_int_equal(select_line(&sel, "a.c:2-9"), 0);
	assert_int_equal(select_units(&sel, "line"), 0);
	plan = abc_plan(&t, &sel);
	assert_int_equal(units_number(plan), 1);
	assert_true(has(plan, UNIT_LINE, 0, 2));
	assert_int_equal(plan->nsites, 1);
	assert_non_null(plan_site(plan, BASE + 0x100));
	abc_close(plan);
	select_free(&sel);
}

static void
test_line_of_two_functions(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "one", 0, 2);
	abc_code(&t, 0, "pr", 2);
	abc_func(&t, "two", 0x100, 2);
	abc_code(&t, 0x100, "pr", 2);
	abc_row(&t, 0, 7, true);
	abc_end(&t, 2);
	abc_row(&t, 0x100, 7, true);
	abc_end(&t, 0x102);
	plan = abc_plan(&t, NULL);
	hit(plan, 0, 3, 0);
	hit(plan, 0x100, 4, 0);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 7), 7);
	assert_int_equal(units_number(plan), 3);
	abc_close(plan);
}

static void
test_rows(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 8);
	abc_code(&t, 0, "ppppPxpr", 8);
	abc_row(&t, 0, 1, true);
	abc_row(&t, 1, 9, false);	/* not a statement: still line 1 */
	abc_row(&t, 2, 0, true);	/* no line */
	abc_row(&t, 3, 1, true);	/* line 1 is entered again */
	abc_row(&t, 4, 2, true);	/* empty */
	abc_row(&t, 4, 3, true);	/* empty */
	abc_row(&t, 4, 2, true);
	abc_row(&t, 5, 4, true);	/* inside the instruction P */
	abc_row(&t, 6, 5, true);
	abc_end(&t, 8);
	plan = abc_plan(&t, NULL);
	for (size_t i = 0; i < 8; i++)
		hit(plan, i, 10, 0);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 20);
	assert_false(has(plan, UNIT_LINE, 0, 9));
	assert_false(has(plan, UNIT_LINE, 0, 0));
	/* 2 owns the code at 4; its empty row there is no other line. */
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 2), 10);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 3), 10);
	assert_string_equal(why_of(plan, UNIT_LINE, 0, 4),
			    "not at the start of an instruction");
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 5), 10);
	assert_int_equal(plan->nskips, 1);
	assert_int_equal(plan->skips[0].addr, BASE + 5);
	assert_null(plan_site(plan, BASE + 5));
	abc_close(plan);
}

static void
test_sequences(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 6);
	abc_code(&t, 0, "ppppbx", 6);
	t.text[5] = (uint8_t)-3;	/* back to 3 */
	/* Nothing is known of 2 and 3 after this sequence ends. */
	abc_row(&t, 0, 1, true);
	abc_end(&t, 2);
	abc_row(&t, 4, 1, true);
	abc_end(&t, 6);
	plan = abc_plan(&t, NULL);
	hit(plan, 0, 1, 0);
	hit(plan, 3, 5, 0);
	hit(plan, 4, 5, 4);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 1 + 5);
	abc_close(plan);
}

static void
test_undecodable(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 8);
	abc_code(&t, 0, "pp??pp", 6);
	abc_func(&t, "data", 0x100, 8);
	abc_func(&t, "outside", TEXT + 0x10, 8);
	abc_row(&t, 0, 1, true);
	abc_row(&t, 2, 2, true);
	abc_row(&t, 4, 3, true);
	abc_end(&t, 8);
	abc_row(&t, TEXT + 0x10, 4, true);
	abc_end(&t, TEXT + 0x18);
	plan = abc_plan(&t, NULL);
	assert_string_equal(why_of(plan, UNIT_LINE, 0, 2),
			    "no valid instruction");
	assert_string_equal(why_of(plan, UNIT_LINE, 0, 3),
			    "no valid instruction");
	assert_string_equal(why_of(plan, UNIT_FUNC, 1, 0),
			    "no valid instruction");
	assert_non_null(why_of(plan, UNIT_FUNC, 2, 0));
	assert_false(has(plan, UNIT_LINE, 0, 4));
	hit(plan, 0, 6, 0);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 6);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 6);
	assert_int_equal(plan->nsites, 1);
	abc_close(plan);
}

static void
test_overlap(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "outer", 0, 8);
	abc_func(&t, "middle", 3, 1);	/* of the instruction P at 2 */
	abc_func(&t, "inner", 5, 2);
	abc_code(&t, 0, "ppPxpppr", 8);
	abc_row(&t, 0, 1, true);
	abc_row(&t, 5, 2, true);
	abc_end(&t, 8);
	plan = abc_plan(&t, NULL);
	assert_string_equal(why_of(plan, UNIT_FUNC, 1, 0),
			    "not at the start of an instruction");
	assert_null(plan_site(plan, BASE + 3));
	/* outer ran 3 times and fell into inner, which was called 4 times. */
	hit(plan, 0, 3, 0);
	hit(plan, 5, 7, 0);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 3);
	assert_int_equal(count_of(plan, UNIT_FUNC, 2, 0), 7);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 3);
	abc_close(plan);
}

static void
test_part(void **state)
{
	struct abc_image t;
	struct range ranges[] = { { BASE, BASE + 4 }, { BASE + 8, BASE + 11 } };
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 4);
	t.funcs[0].ranges = ranges;
	t.funcs[0].nranges = 2;
	/* The part that was split off is there as a symbol, too. */
	abc_func(&t, "f.cold", 8, 3);
	abc_code(&t, 0, "pb\x05r", 4);		/* branch to 8 */
	abc_code(&t, 8, "pj\xf8", 3);		/* back to 3 */
	abc_row(&t, 0, 1, true);
	abc_end(&t, 4);
	abc_row(&t, 8, 1, true);
	abc_end(&t, 11);
	plan = abc_plan(&t, NULL);
	hit(plan, 0, 6, 0);
	hit(plan, 1, 6, 2);
	hit(plan, 3, 6, 0);
	hit(plan, 8, 2, 0);
	hit(plan, 9, 2, 0);
	/* One function: going to its cold part does not leave the line. */
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 6);
	abc_close(plan);
}

static void
test_nameless(void **state)
{
	struct abc_image t;
	struct selection sel = { 0 };
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 4, 2);
	abc_code(&t, 0, "ppprpr", 6);
	abc_row(&t, 0, 1, true);
	abc_row(&t, 2, 2, true);
	abc_row(&t, 4, 3, true);
	abc_end(&t, 16);		/* beyond f nothing begins */
	plan = abc_plan(&t, NULL);
	hit(plan, 0, 3, 0);
	hit(plan, 2, 3, 0);
	hit(plan, 4, 8, 0);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 1), 3);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 2), 3);
	assert_int_equal(count_of(plan, UNIT_LINE, 0, 3), 8);
	assert_int_equal(plan->nskips, 0);
	abc_close(plan);
	/* It is in no function that a name could choose. */
	select_glob(&sel.funcs, "*");
	plan = abc_plan(&t, &sel);
	assert_false(has(plan, UNIT_LINE, 0, 1));
	assert_true(has(plan, UNIT_LINE, 0, 3));
	abc_close(plan);
	select_free(&sel);
}

static void
test_inlines(void **state)
{
	struct abc_image t;
	struct selection sel = { 0 };
	struct range ranges[] = { { BASE + 1, BASE + 4 },
				  { BASE + 5, BASE + 6 } };
	struct plan *plan;

	abc_begin(&t);
	assert_int_equal(select_units(&sel, "inline"), 0);
	abc_func(&t, "f", 0, 8);
	/* The first copy is a loop: the branch at 2 goes back to 1. */
	abc_code(&t, 0, "ppb\xfdpppr", 8);
	t.image.ninlines = 3;
	t.inlines[0] = (struct inlined){
		.addr = BASE + 1,
		.name = "in",
		.file = 0,
		.line = 3,
		.ranges = &ranges[0],
		.nranges = 1,
	};
	t.inlines[1] = t.inlines[0];
	t.inlines[1].addr = BASE + 5;
	t.inlines[1].ranges = &ranges[1];
	t.inlines[2] = (struct inlined){
		.addr = BASE + 0x700,
		.name = "gone",
		.file = 0,
		.line = 9,
	};
	plan = abc_plan(&t, &sel);
	assert_int_equal(units_number(plan), 2);
	hit(plan, 0, 2, 0);
	hit(plan, 1, 9, 0);
	hit(plan, 2, 9, 7);
	hit(plan, 4, 2, 0);
	hit(plan, 5, 2, 0);
	assert_int_equal(count_of(plan, UNIT_INLINE, 0, 3), 2 + 2);
	assert_non_null(why_of(plan, UNIT_INLINE, 2, 9));
	abc_close(plan);
	select_free(&sel);
}

static void
test_sites(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	for (size_t i = 0; i < 30; i++)
		abc_func(&t, "f", 7 * i, 1);
	memset(t.text, 'r', TEXT);
	plan = abc_plan(&t, NULL);
	assert_int_equal(plan->nsites, 30);
	for (size_t at = 0; at < TEXT; at++) {
		struct site *site = plan_site(plan, BASE + at);

		if (at % 7 == 0 && at < 210)
			assert_int_equal(site->addr, BASE + at);
		else
			assert_null(site);
	}
	assert_null(plan_site(plan, 0));
	assert_null(plan_site(plan, UINT64_MAX));
	abc_close(plan);

	abc_begin(&t);
	plan = abc_plan(&t, NULL);
	assert_int_equal(units_number(plan), 0);
	assert_null(plan_site(plan, BASE));
	abc_close(plan);
}

/*
 * A function is looked at when it is entered: until then it has a site at its
 * entry, which is given up if nothing is counted there.
 */
static void
test_lazy(void **state)
{
	struct selection sel = { 0 };
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	/* 0 p, 1 b to 4, 3 p, 4 r: the entry need not be counted. */
	abc_func(&t, "f", 0, 5);
	abc_code(&t, 0, "pb\x01pr", 5);
	abc_func(&t, "never", 0x100, 2);
	abc_code(&t, 0x100, "pr", 2);
	assert_int_equal(select_units(&sel, "block,edge"), 0);
	plan = abc_plan(&t, &sel);
	assert_int_equal(plan->nsites, 2);
	assert_int_equal(plan->fplans[0].state, FPLAN_WAITING);
	assert_true(plan_site(plan, BASE)->waiting);
	assert_int_equal(plan_func(plan, BASE + 4), 0);
	assert_int_equal(plan_func(plan, BASE + 5), FPLAN_NONE);
	assert_int_equal(plan_func(plan, BASE + 0x101), 1);
	plan_ready(plan, 0);
	assert_int_equal(plan->fplans[0].state, FPLAN_READY);
	assert_int_equal(plan->nwoken, 1);
	assert_int_equal(plan->woken[0], 0);
	assert_false(plan_site(plan, BASE)->waiting);
	assert_true(plan_site(plan, BASE)->idle);
	assert_true(plan_site(plan, BASE + 0x100)->waiting);
	hit(plan, 1, 7, 3);
	hit(plan, 3, 4, 0);
	hit(plan, 4, 7, 0);
	assert_int_equal(insn_known(plan, 0, 0), 7);
	assert_int_equal(insn_known(plan, 0, 3), 4);
	/* Never entered: nothing of it ran. */
	assert_int_equal(insn_known(plan, 1, 0x101), 0);
	assert_int_equal(plan->fplans[1].state, FPLAN_WAITING);
	/* It may still be, after a look at the counts. */
	hit(plan, 0x100, 2, 0);
	hit(plan, 0x101, 2, 0);
	assert_int_equal(insn_known(plan, 1, 0x101), 2);
	abc_close(plan);

	plan = abc_plan_of(&t, &sel, PLACE_OPTIMAL, true);
	assert_int_equal(plan->fplans[1].state, FPLAN_READY);
	assert_int_equal(plan->nwoken, 0);
	assert_null(plan_site(plan, BASE));
	abc_close(plan);
	select_free(&sel);
}

/* What is likely to run is looked at at once; other addresses change nothing. */
static void
test_likely(void **state)
{
	static const uint64_t likely[] = { BASE - 1, BASE, BASE + 0x101 };
	struct selection sel = { 0 };
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 5);
	abc_code(&t, 0, "pb\x01pr", 5);
	abc_func(&t, "other", 0x100, 2);
	abc_code(&t, 0x100, "pr", 2);
	assert_int_equal(select_units(&sel, "block,edge"), 0);
	plan = plan_open(&t.image,
			 &(struct plan_options){
				 .sel = &sel,
				 .likely = likely,
				 .nlikely = 3,
			 },
			 NULL, NULL);
	assert_int_equal(plan->fplans[0].state, FPLAN_READY);
	assert_int_equal(plan->fplans[1].state, FPLAN_WAITING);
	assert_int_equal(plan->nwoken, 0);
	assert_null(plan_site(plan, BASE));
	assert_true(plan_site(plan, BASE + 0x100)->waiting);
	abc_close(plan);
	select_free(&sel);
}

/* Processes' counts are kept apart, and summed up. */
static void
test_meters(void **state)
{
	struct selection sel = { 0 };
	struct abc_image t;
	struct plan *plan;
	struct site *site;

	abc_begin(&t);
	abc_func(&t, "f", 0, 3);
	abc_code(&t, 0, "c\1r", 3);
	abc_func(&t, "g", 0x100, 1);
	abc_code(&t, 0x100, "r", 1);
	select_glob(&sel.funcs, "f");
	assert_int_equal(select_units(&sel, "insn"), 0);
	plan = abc_plan_of(&t, &sel, PLACE_OPTIMAL, true);
	assert_int_equal(plan->nsites, 1);
	site = plan->sites;
	counter_set_site(plan_counter_set(plan, 0), 0, plan->nsites)->hits = 5;
	counter_set_site(plan_counter_set(plan, 2), 0, plan->nsites)->hits = 8;
	left(plan, 2, true, 1);
	counter_set_abnormal(plan_counter_set(plan, 2), BASE + 2, true)->left =
		3;
	assert_int_equal(plan->ncounter_sets, 3);
	assert_int_equal(site->addr, BASE);
	assert_int_equal(insn_known(plan, 0, 0), 13);
	assert_int_equal(insn_known(plan, 0, 2), 9);
	plan_propagate(plan, plan_counter_set(plan, 2));
	assert_int_equal(fplan_insn(&plan->fplans[0], 0).n, 8);
	assert_int_equal(fplan_insn(&plan->fplans[0], 1).n, 5);
	plan_propagate(plan, plan_counter_set(plan, 1));
	assert_int_equal(fplan_insn(&plan->fplans[0], 1).n, 0);
	abc_close(plan);
	select_free(&sel);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_func),
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_lost_and_negative),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_line_of_two_functions),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_sequences),
		cmocka_unit_test(test_undecodable),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_inlines),
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_lazy),
		cmocka_unit_test(test_likely),
		cmocka_unit_test(test_meters),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
