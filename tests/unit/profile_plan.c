/*
 * Plans saved as profiles and made again of them: random programs are run,
 * partly to their end, and what comes back is what was counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "report/profile/profile_plan.h"
#include "probe/counts.h"
#include "probe/idle.h"
#include "tests/lib/profiles.h"
#include "tests/lib/report_toy.h"

/* After the others: it makes fail a macro. */
#include <cmocka.h>

enum {
	ROUNDS = 1500,
	FUNCS = 6,
	FUNC_SIZE = 32,
	INSNS_MAX = 13,
	RUNS = 4,
	COUNTER_SETS = 3,
};

static const unsigned everything = 1U << UNIT_FUNC | 1U << UNIT_LINE |
				   1U << UNIT_BLOCK | 1U << UNIT_EDGE |
				   1U << UNIT_INSN | 1U << UNIT_CALL;

/* Programs are made of numbers from the next on. */
static uint64_t seed_before;

/* ---- random programs */

static uint64_t
func_entry(unsigned func)
{
	return CPU_BASE + FUNC_SIZE * func;
}

/* One instruction's letter: the last returns. */
static char
letter_choose(unsigned func, unsigned i, unsigned n)
{
	char letter = i + 1 == n ? 'r' : "ppnbbbbjcciR"[random_below(12)];

	return strchr("ci", letter) && func + 1 == FUNCS ? 'p' : letter;
}

/* Branches go anywhere in the function, jumps forward; calls to later ones. */
static void
func_make(struct toy *t, unsigned func)
{
	unsigned n = 1 + random_below(INSNS_MAX);
	uint8_t at[INSNS_MAX + 1] = { 0 }, code[FUNC_SIZE] = { 0 };
	char letters[INSNS_MAX];
	uint64_t lo;

	for (unsigned i = 0; i < n; i++) {
		letters[i] = letter_choose(func, i, n);
		at[i + 1] = at[i] + (strchr("bjcR", letters[i]) ? 2 : 1);
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned to = letters[i] == 'b' ?
				      random_below(n) :
				      i + 1 + random_below(n - i - (i + 1 < n));

		code[at[i]] = (uint8_t)letters[i];
		if (letters[i] == 'b' || letters[i] == 'j')
			code[at[i] + 1] = (uint8_t)(at[to] - at[i + 1]);
		if (letters[i] == 'c')
			code[at[i] + 1] =
				(uint8_t)(2 * (func + 1 +
					       random_below(FUNCS - func - 1)));
	}
	toy_skip(t, func_entry(func));
	lo = toy_code(t, (const char *)code, at[n]);
	toy_row(t, lo, lo + at[n], "x.c", 10 * func + 1);
	for (unsigned i = 1; i < n; i++)
		if (i % 3 == 0)
			toy_row(t, lo + at[i], lo + at[n], "x.c",
				10 * func + 1 + i / 3);
	toy_func_at(t, "f", "x.c", 10 * func + 1, lo);
}

static struct toy *
program_make(uint64_t seed)
{
	struct toy *t = toy_make("/bin/toy");

	random_state = seed;
	for (unsigned i = 0; i < FUNCS; i++)
		func_make(t, i);
	t->sel.units = everything;
	t->method = random_below(3);
	return t;
}

/* ---- running */

static void
site_hit(struct plan *plan, struct counter_set *counter_set,
	 const struct site *site, const struct insn *insn, bool taken)
{
	uint32_t index = (uint32_t)(site - plan->sites);
	struct counter *counter = counter_set_site(counter_set, index,
						   plan->nsites);

	counter->hits++;
	counter->taken += site->branch && taken;
	if (site->targets)
		counter_set_arrival(counter_set, index, plan, insn->target,
				    true)
			->n++;
}

/*
 * Run a function, as the monitor counts; false if the budget was used up,
 * and control is still in it.
 */
static bool
func_run(struct toy *t, unsigned func, unsigned *budget,
	 struct counter_set *counter_set)
{
	struct plan *plan = toy_plan(t, false);
	uint64_t addr = func_entry(func);
	struct insn insn;

	for (;; addr += insn.len) {
		struct site *site = plan_site(plan, addr);
		bool taken = random_chance(60);

		if (!(*budget)--) {
			*budget = 0;
			counter_set_abnormal(counter_set, addr, false)->left++;
			return false;
		}
		if (site && site->waiting)
			plan_ready(plan, site->fplan);
		site = plan_site(plan, addr);
		must(!cpu_decode(t->text + (addr - CPU_BASE), 2, addr, &insn));
		if (insn.kind == INSN_CALL_INDIRECT)
			insn.target = func_entry(
				func + 1 + random_below(FUNCS - func - 1));
		if (site && !site->idle)
			site_hit(plan, counter_set, site, &insn, taken);
		if (insn.kind == INSN_RETURN)
			return true;
		if ((insn.kind == INSN_CALL ||
		     insn.kind == INSN_CALL_INDIRECT) &&
		    !func_run(t,
			      (unsigned)((insn.target - CPU_BASE) / FUNC_SIZE),
			      budget, counter_set)) {
			counter_set_abnormal(counter_set, addr + insn.len, true)
				->left++;
			return false;
		}
		if ((insn.kind == INSN_BRANCH && taken) ||
		    insn.kind == INSN_JUMP)
			addr = insn.target - insn.len;
	}
}

/* In some programs not all is known of how control left or came. */
static void
doubts_make(struct plan *plan)
{
	unsigned fplan = random_below(FUNCS), kind = random_below(8);

	plan->calls_underivable |= kind == 1 || kind == 2 || kind == 3;
	plan->underivable = kind == 2;
	plan->fplans[fplan].interrupted |= kind == 3;
	plan->fplans[fplan].mid_entered |= kind == 4 &&
					   plan->fplans[fplan].state ==
						   FPLAN_READY;
	plan->fplans[fplan].missed |= kind == 1;
	if (plan->fplans[fplan].site != SITE_NONE)
		plan->sites[plan->fplans[fplan].site].lost |= kind == 5;
}

static struct toy *
program_run(uint64_t seed)
{
	struct toy *t = program_make(seed);
	struct plan *plan = toy_plan(t, false);

	plan->calls_underivable = random_chance(30);
	for (unsigned i = 0; i < RUNS; i++) {
		unsigned budget = random_chance(50) ? 2000 : random_below(60);

		func_run(t, random_below(3), &budget,
			 plan_counter_set(plan, random_below(COUNTER_SETS)));
	}
	doubts_make(plan);
	return t;
}

/* ---- comparing */

static void
count_same(struct count a, struct count b)
{
	/* What never ran in a part is known to be 0 in any case. */
	if (!a.n && !b.n && a.state && b.state)
		return;
	assert_int_equal(a.state, b.state);
	assert_int_equal(a.n, b.n);
	assert_int_equal(a.reason, b.reason);
}

static void
fplan_same(const struct func_plan *a, const struct func_plan *b)
{
	size_t n = 0;

	count_same(a->calls, b->calls);
	assert_int_equal(!a->counts, !b->counts);
	if (!a->counts)
		return;
	assert_int_equal(flow_arcs(a->flow), flow_arcs(b->flow));
	for (uint32_t i = 0; i < flow_arcs(a->flow); i++)
		if (i != a->flow->back)
			count_same(a->counts[i], b->counts[i]);
	for (uint32_t i = 0; i < a->cfg->ninsns; i++)
		count_same(fplan_insn(a, i), fplan_insn(b, i));
	for (size_t i = 0; i < a->nabnormal_insns; i++) {
		if (!a->abnormal_insns[i].left && !a->abnormal_insns[i].came)
			continue;
		assert_true(n < b->nabnormal_insns);
		assert_int_equal(a->abnormal_insns[i].insn,
				 b->abnormal_insns[n].insn);
		assert_int_equal(a->abnormal_insns[i].during,
				 b->abnormal_insns[n].during);
		assert_int_equal(a->abnormal_insns[i].left,
				 b->abnormal_insns[n].left);
		n++;
	}
	assert_int_equal(n, b->nabnormal_insns);
}

static void
units_same(struct plan *a, struct plan *b)
{
	size_t n, m;
	struct unit *x = plan_units(a, &n), *y = plan_units(b, &m);

	assert_int_equal(n, m);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(x[i].kind, y[i].kind);
		assert_int_equal(x[i].line, y[i].line);
		assert_int_equal(x[i].func, y[i].func);
		assert_int_equal(x[i].n, y[i].n);
		assert_ptr_equal(x[i].why, y[i].why);
	}
	free(x);
	free(y);
}

/*
 * Arrivals of b, which has one counter set, are those of a's counter set or of
 * all.
 */
static void
arrivals_same(struct plan *a, const struct counter_set *counter_set,
	      struct plan *b)
{
	struct counter_set sum = { 0 };
	size_t n = 0;

	for (size_t m = 0; m < a->ncounter_sets; m++)
		if (!counter_set || counter_set == a->counter_sets[m])
			counter_set_add(&sum, a->counter_sets[m], a->nsites);
	for (size_t i = 0; i < sum.narrivals; i++) {
		const struct arrival *x = &sum.arrivals[i], *y;
		const struct site *site = &a->sites[x->site];

		if (site->insn.kind != INSN_CALL_INDIRECT)
			continue;
		site = plan_site(b, site->addr);
		assert_non_null(site);
		y = counter_set_arrival(plan_counter_set(b, 0),
					(uint32_t)(site - b->sites), b, x->addr,
					false);
		assert_non_null(y);
		assert_int_equal(x->n, y->n);
		n++;
	}
	assert_int_equal(n,
			 b->ncounter_sets ? b->counter_sets[0]->narrivals : 0);
	free(sum.counters);
	free(sum.arrivals);
	free(sum.arrival_index);
	free(sum.abnormals);
}

static void
sound(const struct profile *profile)
{
	if (profile_fault(profile))
		fail_msg("%s", profile_fault(profile));
}

/* What the profile's part gives is what the plan, propagated, has. */
static void
restores(struct toy *t, const struct counter_set *counter_set, uint64_t seed,
	 const struct profile *profile, uint32_t part)
{
	struct toy *again = program_make(seed);
	struct plan *plan = t->plan, *back;

	back = again->plan = profile_restore(profile, 0, part, &again->image,
					     &again->sel);
	plan_propagate_entered(plan, counter_set);
	assert_int_equal(plan->nfplans, back->nfplans);
	/* What one part never entered, another may have. */
	for (size_t i = 0; i < plan->nfplans && !counter_set; i++)
		assert_int_equal(fplan_idle(plan, &plan->fplans[i]),
				 fplan_idle(back, &back->fplans[i]));
	profile_restore_idle(back);
	profile_restore_calls(profile, part, &back);
	plan_propagate(plan, counter_set);
	for (size_t i = 0; i < plan->nfplans; i++) {
		fplan_same(&plan->fplans[i], &back->fplans[i]);
		if (counter_set)
			continue;
		/* One that was, or may have been, entered has counts. */
		if ((!plan->fplans[i].calls.n &&
		     plan->fplans[i].calls.state != COUNT_UNKNOWN &&
		     !plan->fplans[i].missed) ||
		    plan->fplans[i].state != FPLAN_WAITING)
			assert_int_equal(plan->fplans[i].state,
					 back->fplans[i].state);
		assert_int_equal(plan->fplans[i].nsites,
				 back->fplans[i].nsites);
		assert_int_equal(plan->fplans[i].ncounters,
				 back->fplans[i].ncounters);
		assert_int_equal(plan->fplans[i].increments,
				 back->fplans[i].increments);
	}
	units_same(plan, back);
	arrivals_same(plan, counter_set, back);
	toy_free(again);
}

/* The same, over a file. */
static struct profile *
through_file(struct profile *profile)
{
	size_t size;
	uint8_t *bytes = profile_encode(profile, &size);
	struct profile *copy = profile_decode("file", bytes, size);

	assert_non_null(copy);
	free(bytes);
	profile_free(profile);
	return copy;
}

static void
test_all(void **state)
{
	for (int i = 1; i <= ROUNDS; i++) {
		uint64_t seed = seed_before + (uint64_t)i;
		struct toy *t = program_run(seed);
		struct profile *profile = mem_alloc(sizeof(*profile));

		profile_save(profile, &t->plan, 1, NULL);
		sound(profile);
		assert_int_equal(profile->nobjects, 1);
		assert_int_equal(profile->objects[0].units, everything);
		profile = through_file(profile);
		restores(t, NULL, seed, profile, PART_NONE);
		profile_free(profile);
		toy_free(t);
	}
}

static struct profile *
parts_save(struct toy *t)
{
	static const size_t counter_sets[COUNTER_SETS] = { 0, 1, 2 };
	struct profile *profile = mem_alloc(sizeof(*profile));

	*vec_push(profile->runs, profile->nruns) = (struct profile_run){
		.command = mem_strdup(""),
		.outcome = mem_strdup(""),
		.version = mem_strdup(""),
	};
	for (unsigned i = 0; i < COUNTER_SETS; i++)
		*vec_push(profile->parts,
			  profile->nparts) = (struct profile_part){
			.pid = i + 1,
			.parent = PART_NONE,
			.program = mem_strdup("p"),
		};
	profile_save(profile, &t->plan, 1, counter_sets);
	sound(profile);
	return profile;
}

/* Parts are each what its counter set has, and together what all have. */
static void
test_parts(void **state)
{
	for (int k = 1; k <= ROUNDS; k++) {
		uint64_t seed = seed_before + (uint64_t)k;
		struct toy *t = program_run(seed);
		struct counter_set none = { 0 };
		struct profile *profile = through_file(parts_save(t));

		for (uint32_t i = 0; i < COUNTER_SETS; i++)
			restores(t,
				 i < t->plan->ncounter_sets ?
					 t->plan->counter_sets[i] :
					 &none,
				 seed, profile, i);
		profile_join_parts(profile);
		sound(profile);
		restores(t, NULL, seed, profile, PART_NONE);
		profile_free(profile);
		toy_free(t);
	}
}

/* A graph that is not the one that was counted: nothing is known. */
static void
test_other_graph(void **state)
{
	struct toy *t = program_run(7), *again = program_make(7);
	struct profile *profile = mem_alloc(sizeof(*profile));
	const struct func_plan *fplan;
	struct unit *units;
	size_t n;

	profile_save(profile, &t->plan, 1, NULL);
	assert_int_equal(profile->objects[0].funcs[0].state, PROFILE_COUNTED);
	profile->objects[0].funcs[0].blocks[0].ninsns++;
	again->plan = profile_restore(profile, 0, PART_NONE, &again->image,
				      &again->sel);
	fplan = &again->plan->fplans[0];
	assert_int_equal(fplan->calls.state, COUNT_UNKNOWN);
	assert_int_equal(fplan->calls.reason, REASON_GRAPH);
	for (uint32_t i = 0; i < flow_arcs(fplan->flow); i++)
		assert_int_equal(fplan->counts[i].reason, REASON_GRAPH);
	units = plan_units(again->plan, &n);
	assert_string_equal(units[0].why, "its blocks are not those that were "
					  "counted");
	free(units);
	profile_free(profile);
	toy_free(t);
	toy_free(again);
}

/* Functions that the profile does not have are not shown. */
static void
test_absent(void **state)
{
	struct toy *t = program_run(7), *again = program_make(7);
	struct profile *profile = mem_alloc(sizeof(*profile));
	struct unit *units;
	size_t n, funcs = 0;

	profile_save(profile, &t->plan, 1, NULL);
	for (size_t i = 1; i < profile->objects[0].nfuncs; i++) {
		struct profile_func *func = &profile->objects[0].funcs[i];

		func->addr += 1;
	}
	again->plan = profile_restore(profile, 0, PART_NONE, &again->image,
				      &again->sel);
	units = plan_units(again->plan, &n);
	for (size_t i = 0; i < n; i++)
		funcs += units[i].kind == UNIT_FUNC;
	assert_int_equal(funcs, 1);
	free(units);
	profile_free(profile);
	toy_free(t);
	toy_free(again);
}

/* Exact weights, and none where something is not known. */
static void
test_weights(void **state)
{
	struct toy *t = program_run(7);
	struct profile *profile = mem_alloc(sizeof(*profile));
	struct earlier earlier = { .profile = profile };
	const struct func_plan *fplan = &t->plan->fplans[0];
	struct profile_func *func;
	struct weights *weights;

	profile_save(profile, &t->plan, 1, NULL);
	weights = profile_weigh(&earlier, t->plan, fplan);
	assert_non_null(weights);
	for (uint32_t e = 0; e < fplan->flow->nedges; e++)
		if (e != fplan->flow->back)
			assert_true(weights->edges[e] ==
				    (double)fplan->counts[e].n);
	weights_free(weights);
	func = &profile->objects[0].funcs[0];
	func->edges[func->nedges - 1].count = (struct count){
		.reason = REASON_LOST
	};
	assert_null(profile_weigh(&earlier, t->plan, fplan));
	assert_false(profile_rebuilt(profile, t->plan->image));
	profile->objects[0].text_crc++;
	assert_true(profile_rebuilt(profile, t->plan->image));
	profile_free(profile);
	toy_free(t);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_other_graph),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_weights),
	};

	seed_before = random_open() * ROUNDS;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
