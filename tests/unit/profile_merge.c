/*
 * Profiles merged: the order does not matter, and counts are what adding
 * says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/lib/profiles.h"
#include "util/fail.h"

/* After the others: it makes fail a macro. */
#include <cmocka.h>

enum { ROUNDS = 400 };

/* a + b, which stay as they are. */
static struct profile *
sum(const struct profile *a, const struct profile *b)
{
	struct profile *into = profile_copy(a), *from = profile_copy(b);

	assert_int_equal(profile_merge(into, from), 0);
	assert_int_equal(from->nruns + from->nparts + from->nobjects, 0);
	profile_free(from);
	if (profile_fault(into))
		fail_msg("%s", profile_fault(into));
	return into;
}

/* The texts that are compared have no times. */
static void
times_same(const struct profile *a, const struct profile *b)
{
	for (size_t i = 0; i < a->nobjects; i++)
		for (size_t k = 0; k < a->objects[i].nfuncs; k++) {
			const struct profile_func *p = &a->objects[i].funcs[k];
			const struct profile_func *q = &b->objects[i].funcs[k];

			assert_int_equal(p->times != NULL, q->times != NULL);
			assert_string_equal(p->untimed ? p->untimed : "",
					    q->untimed ? q->untimed : "");
			if (!p->times)
				continue;
			assert_int_equal(p->times->total, q->times->total);
			assert_int_equal(p->times->self, q->times->self);
			assert_int_equal(p->times->sum, q->times->sum);
			assert_int_equal(p->times->min, q->times->min);
			assert_int_equal(p->times->max, q->times->max);
			assert_int_equal(p->times->ended, q->times->ended);
		}
}

/* Both are used up. */
static void
same(struct profile *a, struct profile *b)
{
	char *text_a = profile_dump(a), *text_b = profile_dump(b);

	assert_string_equal(text_a, text_b);
	times_same(a, b);
	free(text_a);
	free(text_b);
	profile_free(a);
	profile_free(b);
}

static void
test_any_order(void **state)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct profile *a = world_profile(), *b = world_profile();
		struct profile *c = world_profile();
		struct profile *ab = sum(a, b), *bc = sum(b, c);

		same(sum(a, b), sum(b, a));
		same(sum(ab, c), sum(a, bc));
		profile_free(a);
		profile_free(b);
		profile_free(c);
		profile_free(ab);
		profile_free(bc);
	}
}

/* Parts may be added up before or after. */
static void
test_parts(void **state)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct profile *a = world_profile(), *b = world_profile();
		struct profile *ab = sum(a, b);

		profile_join_parts(a);
		profile_join_parts(b);
		profile_join_parts(ab);
		assert_null(profile_fault(ab));
		/* Once more, so that what had no parts is in order, too. */
		same(sum(ab, &(struct profile){ 0 }), sum(a, b));
		profile_free(a);
		profile_free(b);
		profile_free(ab);
	}
}

/* ---- one function in two files */

/* A loop: ROOT -> 0 -> 1, 1 -> 0, 1 -> EXIT; `in` times, `n` iterations. */
static struct profile *
loop(uint64_t id, uint64_t in, uint64_t n)
{
	static const struct profile_edge edges[] = {
		{ FLOW_ROOT, FLOW_BLOCK, BY_NOTHING, { 0 } },
		{ FLOW_BLOCK, FLOW_BLOCK + 1, BY_LAST, { 0 } },
		{ FLOW_BLOCK + 1, FLOW_BLOCK, BY_TAKEN, { 0 } },
		{ FLOW_BLOCK + 1, FLOW_EXIT, BY_FALL, { 0 } },
	};
	uint64_t counts[] = { in, n, n - in, in };
	struct profile *profile = mem_alloc(sizeof(*profile));
	struct profile_object *object = vec_push(profile->objects,
						 profile->nobjects);
	struct profile_func *func;

	*vec_push(profile->runs, profile->nruns) = (struct profile_run){
		.id = id,
		.start = id,
		.command = mem_strdup("./loop"),
		.outcome = mem_strdup(""),
		.version = mem_strdup(""),
	};
	*object = (struct profile_object){ .path = mem_strdup("/loop") };
	func = vec_push(object->funcs, object->nfuncs);
	*func = (struct profile_func){
		.addr = 0x100,
		.part = PART_NONE,
		.state = PROFILE_COUNTED,
		.name = mem_strdup("loop"),
	};
	for (uint64_t i = 0; i < 2; i++)
		*vec_push(func->blocks, func->nblocks) = (struct profile_block){
			.addr = 0x100 + 8 * i,
			.size = 8,
			.ninsns = 2,
			.count = { n, COUNT_EXACT, 0 },
		};
	for (size_t i = 0; i < 4; i++) {
		struct profile_edge *edge = vec_push(func->edges, func->nedges);

		*edge = edges[i];
		edge->count = (struct count){ counts[i], COUNT_DERIVED, 0 };
	}
	return profile;
}

static struct profile_func *
the_func(struct profile *profile)
{
	assert_int_equal(profile->nobjects, 1);
	assert_int_equal(profile->objects->nfuncs, 1);
	return profile->objects->funcs;
}

/* Only its calls were counted. */
static struct profile *
calls_only(uint64_t id, uint64_t in)
{
	struct profile *profile = loop(id, in, in);
	struct profile_func *func = the_func(profile);

	func->nblocks = 0;
	func->nedges = 1;
	func->edges[0].to = FLOW_EXIT;
	return profile;
}

static struct profile_func *
merged(struct profile **a, struct profile *b)
{
	struct profile *ab = sum(*a, b);

	profile_free(*a);
	profile_free(b);
	*a = ab;
	return the_func(ab);
}

static void
count_is(const struct count *count, uint64_t n, enum count_state state,
	 unsigned reason)
{
	assert_int_equal(count->n, n);
	assert_int_equal(count->state, state);
	assert_int_equal(count->reason, reason);
}

static void
test_added(void **state)
{
	struct profile *a = loop(1, 3, 30), *b = loop(2, 4, 500);
	struct profile_func *func;

	the_func(b)->blocks[0].count.state = COUNT_DERIVED;
	func = merged(&a, b);
	count_is(&func->blocks[0].count, 530, COUNT_DERIVED, 0);
	count_is(&func->blocks[1].count, 530, COUNT_EXACT, 0);
	count_is(&func->edges[0].count, 7, COUNT_DERIVED, 0);
	count_is(&func->edges[2].count, 27 + 496, COUNT_DERIVED, 0);
	assert_int_equal(a->nruns, 2);
	profile_free(a);
}

static void
test_overflow(void **state)
{
	struct profile *a = loop(1, 3, UINT64_MAX - 10);
	struct profile_func *func = merged(&a, loop(2, 1, 10));

	count_is(&func->blocks[0].count, UINT64_MAX, COUNT_EXACT, 0);
	func = merged(&a, loop(3, 1, 1));
	count_is(&func->blocks[0].count, 0, COUNT_UNKNOWN, REASON_OVERFLOW);
	count_is(&func->edges[0].count, 5, COUNT_DERIVED, 0);
	func = merged(&a, loop(4, 1, 1));
	count_is(&func->blocks[0].count, 0, COUNT_UNKNOWN, REASON_OVERFLOW);
	profile_free(a);
}

static void
test_partial(void **state)
{
	struct profile *a = calls_only(1, 3);
	struct profile_func *func = merged(&a, calls_only(2, 5));

	count_is(&func->edges[0].count, 8, COUNT_DERIVED, 0);
	func = merged(&a, loop(3, 2, 20));
	assert_int_equal(func->nblocks, 2);
	count_is(&func->edges[0].count, 10, COUNT_DERIVED, 0);
	count_is(&func->blocks[0].count, 0, COUNT_UNKNOWN, REASON_PARTIAL);
	count_is(&func->edges[3].count, 0, COUNT_UNKNOWN, REASON_PARTIAL);
	profile_free(a);
}

static void
test_unknown_count(void **state)
{
	struct profile *a = loop(1, 3, 30), *b = loop(2, 3, 30);
	struct profile_func *func = the_func(b);

	func->blocks[1].count = (struct count){ .reason = REASON_LOST };
	func = merged(&a, b);
	count_is(&func->blocks[1].count, 0, COUNT_UNKNOWN, REASON_LOST);
	count_is(&func->blocks[0].count, 60, COUNT_EXACT, 0);
	profile_free(a);
}

/* What is in doubt in one is: by the stronger, but for calls common to all. */
static void
test_doubt(void **state)
{
	struct profile *a = loop(1, 3, 30), *b = loop(2, 3, 30);
	struct profile *c = loop(3, 3, 30);
	struct profile_func *func = the_func(b);

	func->doubt = REASON_STACK;
	*vec_push(func->passed, func->npassed) = 0x102;
	*vec_push(func->passed, func->npassed) = 0x10a;
	func = the_func(c);
	func->doubt = REASON_SIGNAL;
	*vec_push(func->passed, func->npassed) = 0x10a;
	func = merged(&a, b);
	assert_int_equal(func->doubt, REASON_STACK);
	assert_int_equal(func->npassed, 2);
	count_is(&func->blocks[1].count, 60, COUNT_EXACT, 0);
	func = merged(&a, c);
	assert_int_equal(func->doubt, REASON_SIGNAL);
	assert_int_equal(func->npassed, 1);
	assert_int_equal(func->passed[0], 0x10a);
	profile_free(a);
}

static void
test_unknown_func(void **state)
{
	struct profile *a = loop(1, 3, 30), *b = loop(2, 3, 30);
	struct profile_func *func = the_func(b);

	func->state = PROFILE_UNKNOWN;
	func->why = mem_strdup("its bytes differ from the file's");
	func = merged(&a, b);
	assert_int_equal(func->state, PROFILE_UNKNOWN);
	assert_string_equal(func->why, "its bytes differ from the file's");
	assert_int_equal(func->nblocks, 0);
	assert_string_equal(func->name, "loop");
	profile_free(a);
}

static void
test_differ(void **state)
{
	struct profile *a = loop(1, 3, 30), *b = loop(2, 3, 30);
	struct profile_func *func = the_func(b);

	func->blocks[1].size = 9;
	func = merged(&a, b);
	assert_int_equal(func->state, PROFILE_UNKNOWN);
	assert_string_equal(func->why,
			    "its blocks differ between the files merged");
	profile_free(a);
}

/* What was never entered adds nothing, whatever is known of it. */
static void
test_never(void **state)
{
	struct profile *a = loop(1, 0, 0), *b = loop(2, 3, 30);
	struct profile_func *func = the_func(a);

	func->state = PROFILE_NEVER;
	for (size_t i = 0; i < func->nedges; i++)
		func->edges[i].count.state = COUNT_EXACT;
	func->blocks[1].size = 9;
	func = merged(&a, b);
	assert_int_equal(func->state, PROFILE_COUNTED);
	assert_int_equal(func->blocks[1].size, 8);
	count_is(&func->blocks[1].count, 30, COUNT_EXACT, 0);
	profile_free(a);
}

static void
test_same_run(void **state)
{
	struct profile *a = loop(7, 3, 30), *b = loop(7, 3, 30);
	char *before = profile_dump(a), *after;

	assert_int_equal(profile_merge(a, b), -1);
	assert_string_equal(fail_message(), "a run of ./loop is in two files");
	after = profile_dump(a);
	assert_string_equal(before, after);
	assert_int_equal(b->nobjects, 1);
	free(before);
	free(after);
	profile_free(a);
	profile_free(b);
}

/* Of one build-id: the same object, wherever it lay. */
static void
test_objects(void **state)
{
	struct profile *a = loop(1, 3, 30), *b = loop(2, 3, 30);
	struct profile *c = loop(3, 3, 30);

	a->objects->build_id_len = b->objects->build_id_len = 20;
	c->objects->build_id_len = 20;
	c->objects->build_id[0] = 1;
	free(b->objects->path);
	b->objects->path = mem_strdup("/copy");
	count_is(&merged(&a, b)->blocks[0].count, 60, COUNT_EXACT, 0);
	assert_string_equal(a->objects->path, "/copy");
	assert_int_equal(profile_merge(a, c), 0);
	assert_int_equal(a->nobjects, 2);
	assert_int_equal(a->objects[1].build_id[0], 1);
	profile_free(a);
	profile_free(c);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_added),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_unknown_count),
		cmocka_unit_test(test_doubt),
		cmocka_unit_test(test_unknown_func),
		cmocka_unit_test(test_differ),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_same_run),
		cmocka_unit_test(test_objects),
	};

	random_open();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
