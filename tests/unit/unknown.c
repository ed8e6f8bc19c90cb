/*
 * What is not known, and why: lost sites, stacks that could not be walked,
 * counts that contradict one another, entries that are none; and that all
 * that can be known in spite of it is, and is right.
 */
#include "probe/counts.h"
#include "tests/lib/letters.h"

enum { F, G };			/* function plans */

static const char contradiction[] =
	"counts contradict one another: control came or went unseen; "
	"--units=func alone may still count calls";
static const char lost[] = "a breakpoint could not be planted";
static const char stack[] = "a stack could not be walked to its end";
static const char signal[] = "a signal interrupted the function, and the "
			     "handler may not have returned";
static const char mid_entered[] =
	"other code jumps into the middle of the function";
static const char attached[] =
	"a stack could not be walked to its end when counting began";

/* if: 0 p, 1 b to 5, 3 p, 4 p, 5 p, 6 r; line 1, 2 from 3, 3 from 5. */
static void
if_begin(struct abc_image *t)
{
	abc_begin(t);
	abc_func(t, "f", 0, 7);
	abc_code(t, 0, "pb\2pppr", 7);
	abc_row(t, 0, 1, true);
	abc_row(t, 3, 2, true);
	abc_row(t, 5, 3, true);
	abc_end(t, 7);
}

static void
if_run(struct plan *plan)
{
	hit(plan, 0, 9, 0);
	hit(plan, 1, 9, 5);
	hit(plan, 3, 4, 0);
	hit(plan, 4, 4, 0);
	hit(plan, 5, 9, 0);
	hit(plan, 6, 9, 0);
}

/* A lost site takes with it what only it tells. */
static void
test_lost(void **state)
{
	static const uint64_t at[] = { 0, 3, 5 }, ran[] = { 9, 4, 9 };
	struct abc_image t;
	struct plan *plan;

	if_begin(&t);
	for (int i = 0; i < 3; i++) {
		plan = abc_plan_of(&t, units("line,block"), PLACE_EVERY, true);
		plan_site(plan, BASE + at[i])->lost = true;
		if_run(plan);
		/* 3 cannot be told from 0 and 5; these can from one another. */
		for (int k = 0; k < 3; k++)
			if (k == 1 && i == 1)
				assert_string_equal(insn_why(plan, F, 3), lost);
			else
				assert_int_equal(insn_known(plan, F, at[k]),
						 ran[k]);
		if (i == 1)
			assert_string_equal(why_of(plan, UNIT_LINE, 0, 2),
					    lost);
		else
			assert_int_equal(count_of(plan, UNIT_LINE, 0, 2), 4);
		abc_close(plan);
	}
}

/* What could not be planted where it waits may well have been entered. */
static void
test_lost_waiting(void **state)
{
	struct abc_image t;
	struct plan *plan;

	if_begin(&t);
	plan = abc_plan(&t, units("func,line,insn"));
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 0);
	plan_site(plan, BASE)->lost = true;
	assert_string_equal(why_of(plan, UNIT_FUNC, 0, 0), lost);
	assert_string_equal(why_of(plan, UNIT_LINE, 0, 2), lost);
	assert_string_equal(insn_why(plan, F, 4), lost);
	abc_close(plan);
	plan = abc_plan(&t, units("func"));
	plan_site(plan, BASE)->lost = true;
	assert_string_equal(why_of(plan, UNIT_FUNC, 0, 0), lost);
	abc_close(plan);
}

/* f: 0 p, 1 c g, 3 p, 4 b to 7, 6 p, 7 r; g: r. */
static void
call_begin(struct abc_image *t)
{
	abc_begin(t);
	abc_func(t, "f", 0, 8);
	abc_code(t, 0, "pc\1pb\1pr", 8);
	abc_func(t, "g", 0x100, 4);
	abc_code(t, 0x100, "b\1pr", 4);
}

/* Called 9 times, of which g did not come back twice. */
static void
call_run(struct plan *plan)
{
	hit(plan, 0, 9, 0);
	hit(plan, 1, 9, 0);
	hit(plan, 3, 7, 0);
	hit(plan, 4, 7, 2);
	hit(plan, 6, 5, 0);
	hit(plan, 7, 7, 0);
	hit(plan, 0x100, 9, 8);
	hit(plan, 0x102, 1, 0);
	hit(plan, 0x103, 7, 0);
	left(plan, 0x103, false, 2);
}

static void
test_calls_underivable(void **state)
{
	struct abc_image t;
	struct plan *plan;

	call_begin(&t);
	for (int every = 0; every < 2; every++) {
		plan = abc_plan_of(&t, units("insn,func"),
				   every ? PLACE_EVERY : PLACE_OPTIMAL, false);
		call_run(plan);
		plan->calls_underivable = true;
		/* What is behind the call, and what is derived from that. */
		if (every) {
			assert_int_equal(insn_known(plan, F, 0), 9);
			assert_int_equal(insn_known(plan, F, 3), 7);
			assert_int_equal(insn_known(plan, F, 6), 5);
			assert_int_equal(insn_known(plan, F, 7), 7);
		} else {
			/* It went on to 6 and 7 as often. */
			assert_int_equal(insn_known(plan, F, 3), 7);
			assert_int_equal(insn_known(plan, F, 4), 7);
		}
		/* No call in this one. */
		assert_int_equal(insn_known(plan, G, 0x103), 7);
		assert_int_equal(insn_known(plan, G, 0x102), 1);
		assert_int_equal(count_of(plan, UNIT_FUNC, 1, 0), 9);
		plan->calls_underivable = false;
		left(plan, 3, true, 2);
		assert_int_equal(insn_known(plan, F, 1), 9);
		assert_int_equal(insn_known(plan, F, 3), 7);
		assert_int_equal(insn_known(plan, F, 6), 5);
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 9);
		abc_close(plan);
	}
	/*
	 * Where a signal came, the handler may have been left for ever if not
	 * all stacks are known; if they are, that is known.
	 */
	for (int calls_underivable = 0; calls_underivable < 2;
	     calls_underivable++) {
		plan = abc_plan(&t, units("insn,func"));
		call_run(plan);
		plan->calls_underivable = calls_underivable;
		plan->fplans[G].interrupted = true;
		if (calls_underivable)
			assert_string_equal(insn_why(plan, G, 0x103), signal);
		else
			assert_int_equal(insn_known(plan, G, 0x103), 7);
		abc_close(plan);
	}
	/* Calls alone are known whatever was left. */
	plan = abc_plan(&t, units("func"));
	call_run(plan);
	plan->calls_underivable = true;
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 9);
	abc_close(plan);
}

/* The edges into 6: from 1, and from the call at 4 that never comes back. */
static void
edges_into_6(struct plan *plan, bool known)
{
	const struct func_plan *fplan = &plan->fplans[F];
	const struct flow *flow = fplan->flow;

	plan_propagate(plan, NULL);
	for (uint32_t e = 0; e < flow->nedges; e++) {
		uint32_t to = flow->edges[e].to;

		if (to < FLOW_BLOCK ||
		    fplan->cfg->insns[fplan->cfg->blocks[to - FLOW_BLOCK].first]
				    .addr != BASE + 6)
			continue;
		assert_int_equal(fplan->counts[e].state != COUNT_UNKNOWN,
				 known);
		if (known)
			assert_int_equal(fplan->counts[e].n,
					 flow->edges[e].by == BY_TAKEN ? 7 : 0);
	}
}

/*
 * 0 p, 1 b to 6, 3 p, 4 c g, 6 p, 7 c g, 9 p, 10 c g, 12 r: the call at 4 does
 * not come back, but control comes to what is behind it from 1.  Where a stack
 * is not known this follows from what leaves 1; if it is not counted how often
 * control goes on to 3 neither way to 6 is known.
 */
static void
test_lost_every(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 13);
	abc_code(&t, 0, "pb\3pc\1pc\1pc\1r", 13);
	abc_func(&t, "g", 0x100, 1);
	abc_code(&t, 0x100, "r", 1);
	for (int i = 0; i < 3; i++) {
		plan = abc_plan_of(&t, units("block,insn"), PLACE_EVERY, true);
		plan_site(plan, BASE + 9)->lost = true;
		plan_site(plan, BASE + 12)->lost = true;
		plan_site(plan, BASE + 3)->lost = i == 2;
		hit(plan, 0, 9, 0);
		hit(plan, 3, 2, 0);
		hit(plan, 6, 7, 0);
		if (i)
			plan->calls_underivable = true;
		else
			left(plan, 6, true, 2);
		assert_int_equal(insn_known(plan, F, 0), 9);
		assert_int_equal(insn_known(plan, F, 6), 7);
		assert_int_equal(insn_known(plan, F, 7), 7);
		if (i < 2)
			assert_int_equal(insn_known(plan, F, 4), 2);
		else
			assert_string_equal(insn_why(plan, F, 4), lost);
		if (i) {
			assert_string_equal(insn_why(plan, F, 9), stack);
			assert_string_equal(insn_why(plan, F, 12), stack);
		} else {
			assert_int_equal(insn_known(plan, F, 9), 7);
			assert_int_equal(insn_known(plan, F, 12), 7);
		}
		edges_into_6(plan, i < 2);
		abc_close(plan);
	}
}

/*
 * Counting began in the middle of a call that no one told of: what is behind
 * may have run before the function was looked at.
 */
static void
test_missed(void **state)
{
	struct abc_image t;
	struct plan *plan;

	call_begin(&t);
	plan = abc_plan_of(&t, units("insn,func"), PLACE_EVERY, false);
	plan->calls_underivable = true;
	plan_miss(plan);
	assert_int_equal(insn_known(plan, F, 1), 0);
	assert_string_equal(insn_why(plan, F, 3), stack);
	assert_string_equal(insn_why(plan, F, 6), stack);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 0);
	plan_ready(plan, F);
	plan_site(plan, BASE + 3)->lost = true;
	call_run(plan);
	assert_int_equal(insn_known(plan, F, 1), 9);
	assert_string_equal(insn_why(plan, F, 3), stack);
	assert_string_equal(insn_why(plan, F, 7), stack);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 9);
	assert_int_equal(insn_known(plan, G, 0x102), 1);
	abc_close(plan);
}

/* What came back before there was a counter is not told by that. */
static void
test_missed_pass(void **state)
{
	struct abc_image t;
	struct plan *plan;

	call_begin(&t);
	plan = abc_plan_of(&t, units("insn"), PLACE_EVERY, false);
	plan->calls_underivable = true;
	plan_miss(plan);
	plan_ready(plan, F);
	call_run(plan);
	assert_int_equal(insn_known(plan, F, 1), 9);
	assert_string_equal(insn_why(plan, F, 3), stack);
	abc_close(plan);
}

/*
 * 0 c g, 2 b to 0, 4 r: the branch may have run before it had a counter, and
 * where it led to was counted as if it had been called.
 */
static void
test_missed_jump(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 5);
	abc_code(&t, 0, "c\1b\xfcr", 5);
	abc_func(&t, "g", 0x100, 1);
	abc_code(&t, 0x100, "r", 1);
	plan = abc_plan(&t, units("func"));
	plan_miss(plan);
	hit(plan, 0, 5, 0);
	assert_string_equal(why_of(plan, UNIT_FUNC, 0, 0), attached);
	assert_int_equal(count_of(plan, UNIT_FUNC, 1, 0), 0);
	abc_close(plan);
}

/*
 * f, 0 p, 1 j to 0x52, the middle of g: that may have run though none of it was
 * in a call, before either was looked at.
 */
static void
test_missed_elsewhere(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 3);
	abc_code(&t, 0, "pj\x4f", 3);
	abc_func(&t, "g", 0x50, 5);
	abc_code(&t, 0x50, "ppppr", 5);
	plan = abc_plan_of(&t, units("insn"), PLACE_EVERY, false);
	plan->calls_underivable = true;
	plan_miss(plan);
	plan_ready(plan, F);
	hit(plan, 0x50, 3, 0);
	hit(plan, 0x52, 3, 0);
	assert_int_equal(insn_known(plan, G, 0x50), 3);
	assert_string_equal(insn_why(plan, G, 0x52), stack);
	abc_close(plan);
}

/* The counter behind the call is lost: then what was told must do. */
static void
test_pass_lost(void **state)
{
	struct abc_image t;
	struct plan *plan;

	call_begin(&t);
	plan = abc_plan_of(&t, units("insn"), PLACE_EVERY, true);
	plan_site(plan, BASE + 3)->lost = true;
	call_run(plan);
	counter_set_site(plan_counter_set(plan, 0),
			 (uint32_t)(plan_site(plan, BASE + 3) - plan->sites),
			 plan->nsites)
		->hits = 0;
	left(plan, 3, true, 2);
	assert_int_equal(insn_known(plan, F, 3), 7);
	plan->calls_underivable = true;
	assert_int_equal(insn_known(plan, F, 3), 7);
	assert_int_equal(insn_known(plan, F, 0), 9);
	assert_int_equal(insn_known(plan, F, 6), 5);
	abc_close(plan);
}

/* What happened to a plan, and the reason that its counts are unknown then. */
static const struct reason {
	const char *what;
	bool no_traps, calls_underivable, underivable, unseen, lost, differs;
	uint8_t calls_reason, underivable_reason;
	const char *why;
} reasons[] = {
	{ "a walk is truncated", .calls_underivable = true,
	  .calls_reason = REASON_STACK, .why = stack },
	{ "no trap, so no walk", .no_traps = true,
	  .why = "without breakpoints (--no-traps) pmon does not "
		 "walk stacks" },
	{ "a jump is not followed", .calls_underivable = true,
	  .calls_reason = REASON_LEFT,
	  .why = "control left a stack in a way "
		 "that pmon could not follow" },
	{ "a thread is lost", .calls_underivable = true, .underivable = true,
	  .calls_reason = REASON_STACK,
	  .underivable_reason = REASON_UNDERIVABLE,
	  .why = "a thread ended or was interrupted at an unknown "
		 "instruction" },
	{ "attached in the middle", .calls_underivable = true,
	  .underivable = true, .calls_reason = REASON_STACK,
	  .underivable_reason = REASON_ATTACHED,
	  .why = "a stack could not be walked to its end when counting "
		 "began" },
	{ "the host saw nothing", .unseen = true, .lost = true,
	  .why = "the program ran on without breakpoints" },
	{ "a trap is lost", .lost = true, .why = lost },
	{ "the text is another", .lost = true, .differs = true,
	  .why = "the code in memory differs from the file" },
};

static void
reason_check(struct abc_image *t, const struct reason *reason)
{
	struct plan *plan = abc_plan(t, units("insn,func"));
	const char *why;

	hit(plan, 0, 9, 0);
	assert_int_equal(insn_known(plan, F, 3), 9);
	plan->options.no_traps = reason->no_traps;
	plan->calls_underivable = reason->calls_underivable;
	plan->underivable = reason->underivable;
	plan->calls_reason = reason->calls_reason;
	plan->underivable_reason = reason->underivable_reason;
	plan->unseen = reason->unseen;
	plan->fplans[F].differs = reason->differs;
	for (size_t k = 0; k < plan->nsites; k++)
		plan->sites[k].lost = reason->lost;
	why = insn_why(plan, F, 3);
	if (!why || strcmp(why, reason->why))
		fail_msg("%s: %s", reason->what, why ? why : "known");
	abc_close(plan);
}

/* What is said is why, and not something else that might have been. */
static void
test_reasons(void **state)
{
	struct abc_image t;

	/* What is behind the call at 1 follows from nothing else. */
	abc_begin(&t);
	abc_func(&t, "f", 0, 5);
	abc_code(&t, 0, "pc\1pr", 5);
	abc_func(&t, "g", 0x100, 1);
	abc_code(&t, 0x100, "r", 1);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		reason_check(&t, &reasons[i]);
}

/* Unless it is told that control left, things do not add up. */
static void
test_contradiction(void **state)
{
	struct abc_image t;
	struct plan *plan;

	call_begin(&t);
	plan = abc_plan_of(&t, units("edge"), PLACE_EVERY, true);
	call_run(plan);
	/* 3 and 4 were never begun that often. */
	counter_set_site(plan_counter_set(plan, 0),
			 (uint32_t)(plan_site(plan, BASE + 6) - plan->sites),
			 plan->nsites)
		->hits = 8;
	assert_string_equal(insn_why(plan, F, 7), contradiction);
	assert_int_equal(insn_known(plan, G, 0x102), 1);
	abc_close(plan);
	/* Nothing else that is counted can contradict the calls. */
	plan = abc_plan_of(&t, units("func"), PLACE_EVERY, true);
	hit(plan, 0, 9, 0);
	assert_int_equal(count_of(plan, UNIT_FUNC, F, 0), 9);
	abc_close(plan);
}

/* Three entries that are none, with their reasons, and one that is. */
static void
test_faulty(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "good", 0, 4);
	abc_func(&t, "inside", 2, 1);
	abc_code(&t, 0, "pPxr", 4);
	abc_func(&t, "data", 0x100, 4);
	abc_func(&t, "away", TEXT + 8, 4);
	abc_row(&t, 0x100, 7, true);
	abc_end(&t, 0x104);
	for (int eager = 0; eager < 2; eager++) {
		plan = abc_plan_of(&t, units("func,line,edge"), PLACE_OPTIMAL,
				   eager);
		hit(plan, 0, 2, 0);
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 2);
		assert_string_equal(why_of(plan, UNIT_FUNC, 1, 0),
				    "not at the start of an instruction");
		assert_string_equal(why_of(plan, UNIT_FUNC, 2, 0),
				    "no valid instruction");
		assert_string_equal(why_of(plan, UNIT_FUNC, 3, 0),
				    "not in executable memory");
		assert_int_equal(plan->nskips, 3);
		assert_int_equal(plan->nsites, 1);
		assert_false(plan_graph(plan, 2));
		abc_close(plan);
	}
}

/*
 * Where the jump goes is not known: 0 b to 3, 2 i, 3 p, 4 b to 6, 6 r, and at
 * 7 an own part that only a row tells of.  So control may come anywhere.
 */
static void
test_unresolved(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 9);
	abc_code(&t, 0, "b\1ipb\0rpr", 9);
	abc_row(&t, 0, 1, true);
	abc_row(&t, 7, 2, true);
	abc_end(&t, 9);
	for (int every = 0; every < 2; every++) {
		plan = abc_plan_of(&t, units("insn,line,func"),
				   every ? PLACE_EVERY : PLACE_OPTIMAL, false);
		/* Of 8 jumps 3 go to 3, 1 to the entry, 4 to 7. */
		hit(plan, 0, 10, 2);
		hit(plan, 2, 8, 0);
		hit(plan, 3, 5, 0);
		hit(plan, 4, 5, 1);
		hit(plan, 6, 5, 0);
		hit(plan, 7, 4, 0);
		hit(plan, 8, 4, 0);
		assert_true(plan->fplans[F].cfg->unresolved);
		assert_int_equal(insn_known(plan, F, 0), 10);
		assert_int_equal(insn_known(plan, F, 2), 8);
		assert_int_equal(insn_known(plan, F, 3), 5);
		assert_int_equal(insn_known(plan, F, 6), 5);
		assert_int_equal(insn_known(plan, F, 8), 4);
		assert_int_equal(count_of(plan, UNIT_LINE, 0, 2), 4);
		abc_close(plan);
	}
}

/* What would have to be known of a call that is not: its coming back. */
static void
test_runs_into_entry(void **state)
{
	static struct range ranges[] = {
		{ BASE + 4, BASE + 6 },
		{ BASE + 1, BASE + 4 },
	};
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 4, 2);
	t.funcs[0].ranges = ranges;
	t.funcs[0].nranges = 2;
	abc_func(&t, "g", 0x100, 1);
	abc_code(&t, 0x100, "r", 1);
	abc_code(&t, 1, "pc\1b\xfb", 5);	/* 4 b to 1 */
	plan = abc_plan(&t, units("func"));
	hit(plan, 4, 3, 0);
	assert_string_equal(why_of(plan, UNIT_FUNC, 0, 0),
			    "control runs from a call into its entry");
	assert_int_equal(count_of(plan, UNIT_FUNC, 1, 0), 0);
	abc_close(plan);
	/* With its blocks that is known, too. */
	plan = abc_plan(&t, units("func,edge"));
	plan_ready(plan, F);
	hit(plan, 1, 2, 0);
	hit(plan, 2, 2, 0);
	hit(plan, 4, 5, 2);
	assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 3);
	abc_close(plan);
}

/* Control that came to an entry, or left it, before anything was begun. */
static void
test_at_entry(void **state)
{
	static const char *const asked[] = { "func", "func,insn" };
	struct abc_image t;
	struct plan *plan;

	if_begin(&t);
	for (int i = 0; i < 4; i++) {
		plan = abc_plan_of(&t, units(asked[i % 2]), PLACE_OPTIMAL,
				   i < 2);
		/* Killed before the first instruction: it was called. */
		left(plan, 0, false, 1);
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 1);
		if_run(plan);
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 10);
		/* One of the nine was there when counting began. */
		came(plan, 0, false, 1);
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), 9);
		if (i % 2)
			assert_int_equal(insn_known(plan, F, 0), 9);
		abc_close(plan);
	}
}

/*
 * A signal came where the function is entered, and may have taken control away
 * unseen: also if something jumps into its middle, and if it never ran.
 */
static void
test_signal_at_entry(void **state)
{
	struct abc_image t;
	struct plan *plan;

	abc_begin(&t);
	abc_func(&t, "f", 0, 4);
	abc_code(&t, 0, "pb\xfdr", 4);		/* 1 b to 0 */
	abc_row(&t, 0, 1, true);
	abc_end(&t, 4);
	for (int i = 0; i < 2; i++) {
		plan = abc_plan(&t, units(i ? "func" : "func,line"));
		plan->fplans[F].mid_entered = i;
		plan->fplans[F].interrupted = true;
		hit(plan, 0, i, 0);
		assert_int_equal(count_of(plan, UNIT_FUNC, 0, 0), i);
		plan->calls_underivable = true;
		assert_string_equal(why_of(plan, UNIT_FUNC, 0, 0), signal);
		if (!i)
			assert_string_equal(why_of(plan, UNIT_LINE, 0, 1),
					    signal);
		plan->fplans[F].mid_entered = true;
		assert_string_equal(why_of(plan, UNIT_FUNC, 0, 0), signal);
		if (!i)
			assert_string_equal(insn_why(plan, F, 3), mid_entered);
		abc_close(plan);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_lost_waiting),
		cmocka_unit_test(test_calls_underivable),
		cmocka_unit_test(test_lost_every),
		cmocka_unit_test(test_missed),
		cmocka_unit_test(test_missed_pass),
		cmocka_unit_test(test_missed_jump),
		cmocka_unit_test(test_missed_elsewhere),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_pass_lost),
		cmocka_unit_test(test_contradiction),
		cmocka_unit_test(test_faulty),
		cmocka_unit_test(test_unresolved),
		cmocka_unit_test(test_runs_into_entry),
		cmocka_unit_test(test_at_entry),
		cmocka_unit_test(test_signal_at_entry),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
