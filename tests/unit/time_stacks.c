/*
 * The calls of a task by their records.  Times are small numbers, so that each
 * expected one can be seen from the records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "probe/time_stacks.h"

#include <cmocka.h>

enum { MAIN, F, G, FUNCS };

static struct times times[FUNCS];

static struct times *
times_at(void *ctx, uint32_t func)
{
	return &times[func];
}

struct step {
	enum record_kind kind;
	uint32_t func, sp;
	uint64_t now;
};

static struct time_stacks *
steps_do(const struct step *steps, size_t n)
{
	struct time_stacks *stacks = time_stacks_open(times_at, NULL, NULL,
						      NULL);

	for (size_t i = 0; i < FUNCS; i++)
		times_clear(&times[i]);
	for (size_t i = 0; i < n; i++)
		time_stacks_record(stacks, steps[i].kind, steps[i].func,
				   steps[i].sp, steps[i].now);
	return stacks;
}

#define STEPS(steps) steps_do(steps, sizeof(steps) / sizeof((steps)[0]))

static void
times_are(uint32_t func, uint64_t calls, uint64_t self, uint64_t total)
{
	assert_int_equal(times[func].calls, calls);
	assert_int_equal(times[func].self, self);
	assert_int_equal(times[func].total, total);
	assert_false(times[func].lost);
}

static void
stacks_done(struct time_stacks *stacks)
{
	time_stacks_close(stacks);
	for (size_t i = 0; i < FUNCS; i++)
		times_clear(&times[i]);
}

/* main calls f twice, and f calls g. */
static void
test_calls(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, MAIN, 1000, 10 },
		{ RECORD_ENTER, F, 900, 11 },
		{ RECORD_ENTER, G, 800, 13 },
		{ RECORD_LEAVE, G, 800, 18 },
		{ RECORD_LEAVE, F, 900, 20 },
		{ RECORD_ENTER, F, 900, 25 },
		{ RECORD_LEAVE, F, 900, 26 },
		{ RECORD_LEAVE, MAIN, 1000, 30 },
	};
	struct time_stacks *stacks = STEPS(steps);

	times_are(MAIN, 1, 1 + 5 + 4, 20);
	times_are(F, 2, 2 + 2 + 1, 9 + 1);
	times_are(G, 1, 5, 5);
	assert_int_equal(times[F].min, 1);
	assert_int_equal(times[F].max, 9);
	assert_int_equal(times[F].sum, 10);
	assert_int_equal(times[F].ended, 2);
	assert_int_equal(times[F].bins[time_bin(9)], 1);
	assert_int_equal(times[F].bins[time_bin(1)], 1);
	stacks_done(stacks);
}

/* Within itself a function's time counts once in its total. */
static void
test_recursion(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, F, 1000, 0 }, { RECORD_ENTER, G, 900, 2 },
		{ RECORD_ENTER, F, 800, 3 },  { RECORD_LEAVE, F, 800, 7 },
		{ RECORD_LEAVE, G, 900, 8 },  { RECORD_LEAVE, F, 1000, 10 },
	};
	struct time_stacks *stacks = STEPS(steps);

	times_are(F, 2, 2 + 4 + 2, 10);
	times_are(G, 1, 2, 6);
	assert_int_equal(times[F].sum, 10 + 4);
	stacks_done(stacks);
}

/* f jumps to g in place of returning; g returns to main. */
static void
test_tail_call(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, MAIN, 1000, 0 },
		{ RECORD_ENTER, F, 900, 1 },
		{ RECORD_LEAVE, F, 900, 4 },
		{ RECORD_ENTER, G, 900, 4 },
		{ RECORD_LEAVE, G, 900, 9 },
		{ RECORD_LEAVE, MAIN, 1000, 10 },
	};
	struct time_stacks *stacks = STEPS(steps);

	times_are(MAIN, 1, 2, 10);
	times_are(F, 1, 3, 3);
	times_are(G, 1, 5, 5);
	stacks_done(stacks);
}

/*
 * Control goes back to f's entry within f; then longjmp leaves f, which is
 * called again with the same stack pointer.
 */
static void
test_back(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, F, 1000, 0 }, { RECORD_BACK, F, 1000, 3 },
		{ RECORD_ENTER, F, 1000, 3 }, { RECORD_ENTER, F, 1000, 5 },
		{ RECORD_LEAVE, F, 1000, 9 },
	};
	struct time_stacks *stacks = STEPS(steps);

	times_are(F, 2, 9, 9);
	assert_int_equal(times[F].min, 4);
	assert_int_equal(times[F].max, 5);
	stacks_done(stacks);
}

/* The same below f's frame; a signal handler g runs before the entry does. */
static void
test_back_below(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, F, 1000, 0 }, { RECORD_BACK, F, 900, 2 },
		{ RECORD_ENTER, G, 700, 3 },  { RECORD_BACK, G, 700, 4 },
		{ RECORD_ENTER, G, 700, 4 },  { RECORD_LEAVE, G, 700, 5 },
		{ RECORD_ENTER, F, 900, 6 },  { RECORD_ENTER, F, 900, 7 },
		{ RECORD_LEAVE, F, 900, 8 },  { RECORD_LEAVE, F, 1000, 10 },
	};
	struct time_stacks *stacks = STEPS(steps);

	times_are(F, 2, 10 - 2, 10);
	times_are(G, 1, 2, 2);
	stacks_done(stacks);
}

/* The handler leaves f by longjmp, and main calls f and g. */
static void
test_back_left(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, MAIN, 1000, 0 },
		{ RECORD_ENTER, F, 900, 1 },
		{ RECORD_BACK, F, 900, 2 },
		{ RECORD_ENTER, G, 950, 3 },
		{ RECORD_LEAVE, G, 950, 4 },
		{ RECORD_ENTER, F, 900, 5 },
		{ RECORD_LEAVE, F, 900, 7 },
		{ RECORD_LEAVE, MAIN, 1000, 8 },
	};
	struct time_stacks *stacks = STEPS(steps);

	times_are(MAIN, 1, 1 + 1 + 1, 8);
	times_are(F, 2, 2 + 2, 4);
	times_are(G, 1, 1, 1);
	stacks_done(stacks);
}

/* f was called before records began. */
static void
test_back_first(void **state)
{
	static const struct step steps[] = {
		{ RECORD_BACK, F, 1000, 1 },
		{ RECORD_ENTER, F, 1000, 2 },
		{ RECORD_LEAVE, F, 1000, 5 },
	};
	struct time_stacks *stacks = STEPS(steps);

	times_are(F, 0, 0, 0);
	stacks_done(stacks);
}

/* g throws; main handles that, then calls f. */
static void
test_land(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, MAIN, 1000, 0 },  { RECORD_ENTER, F, 900, 1 },
		{ RECORD_ENTER, G, 800, 2 },	  { RECORD_LAND, MAIN, 950, 6 },
		{ RECORD_ENTER, F, 900, 7 },	  { RECORD_LEAVE, F, 900, 9 },
		{ RECORD_LEAVE, MAIN, 1000, 10 },
	};
	struct time_stacks *stacks = STEPS(steps);

	times_are(MAIN, 1, 1 + 1 + 1, 10);
	times_are(F, 2, 1 + 2, 5 + 2);
	times_are(G, 1, 4, 4);
	stacks_done(stacks);
}

/* f jumps to another part of itself with its frame on the stack. */
static void
test_part(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, F, 1000, 0 }, { RECORD_LEAVE, F, 950, 2 },
		{ RECORD_ENTER, G, 950, 2 },  { RECORD_LEAVE, G, 950, 5 },
		{ RECORD_LEAVE, F, 1000, 6 },
	};
	struct time_stacks *stacks = STEPS(steps);

	times_are(F, 1, 3, 6);
	times_are(G, 1, 3, 3);
	stacks_done(stacks);
}

/* f runs on a stack of its own, far below, and main goes on meanwhile. */
static void
test_stacks(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, MAIN, 1U << 30, 0 },
		{ RECORD_ENTER, F, 1U << 20, 1 },
		{ RECORD_ENTER, G, (1U << 30) - 100, 3 },
		{ RECORD_LEAVE, G, (1U << 30) - 100, 4 },
		{ RECORD_LEAVE, F, 1U << 20, 7 },
		{ RECORD_LEAVE, MAIN, 1U << 30, 10 },
	};
	struct time_stacks *stacks = STEPS(steps);

	/* Control came back to the main stack where g was called. */
	times_are(MAIN, 1, 1 + 3, 10);
	times_are(F, 1, 2, 6);
	times_are(G, 1, 1, 1);
	stacks_done(stacks);
}

/* A frame that seemed to be gone was not. */
static void
test_lost(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, MAIN, 1000, 0 }, { RECORD_ENTER, F, 800, 1 },
		{ RECORD_ENTER, G, 900, 3 },	 { RECORD_LEAVE, G, 900, 4 },
		{ RECORD_LEAVE, F, 800, 7 },
	};
	struct time_stacks *stacks = STEPS(steps);

	assert_true(times[F].lost);
	/* Some of f's time was taken for main's. */
	assert_true(times[MAIN].lost);
	assert_false(times[G].lost);
	stacks_done(stacks);
}

/* A function may have its stack moved and begin anew, as Go's do. */
static void
test_moved(void **state)
{
	static const struct step top[] = {
		{ RECORD_ENTER, MAIN, 1000, 0 },
		{ RECORD_ENTER, F, 900, 1 },
		{ RECORD_BACK, F, 900000, 2 },
		{ RECORD_ENTER, F, 900000, 2 },
	};
	static const struct step below[] = {
		{ RECORD_ENTER, F, 1000, 0 },	{ RECORD_ENTER, G, 900, 1 },
		{ RECORD_LEAVE, G, 900, 2 },	{ RECORD_ENTER, G, 900000, 3 },
		{ RECORD_LEAVE, G, 900000, 4 }, { RECORD_LEAVE, F, 900100, 5 },
	};
	struct time_stacks *stacks = STEPS(top);

	assert_true(times[F].lost);
	assert_false(times[MAIN].lost);
	stacks_done(stacks);
	stacks = STEPS(below);
	assert_true(times[F].lost);
	assert_false(times[G].lost);
	stacks_done(stacks);
}

/* Only so many frames are remembered, on all stacks together. */
static void
test_deep(void **state)
{
	struct time_stacks *stacks = STEPS(
		((struct step[]){ { RECORD_ENTER, MAIN, 0xf0000000, 0 } }));

	for (uint32_t i = 1; i < 1 << 20; i++)
		time_stacks_record(stacks, RECORD_ENTER, F, 0xf0000000 - i, i);
	assert_false(times[F].lost);
	for (uint32_t i = 0; i < 1 << 20; i++)
		time_stacks_record(stacks, RECORD_ENTER, G, 0x70000000 - i,
				   (1 << 20) + i);
	assert_true(times[G].lost);
	assert_false(times[F].lost);
	stacks_done(stacks);
}

static void
test_settle(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, MAIN, 1000, 0 },
		{ RECORD_ENTER, F, 900, 1 },
	};
	struct time_stacks *stacks = STEPS(steps), *child;

	time_stacks_settle(stacks, 5);
	times_are(MAIN, 1, 1, 5);
	times_are(F, 1, 4, 4);
	time_stacks_settle(stacks, 5);
	times_are(F, 1, 4, 4);
	child = time_stacks_open(times_at, NULL, NULL, NULL);
	time_stacks_inherit(child, stacks, 100);
	time_stacks_end(child, 103);
	times_are(MAIN, 1, 1, 5 + 3);
	times_are(F, 1, 4 + 3, 4 + 3);
	/* These calls are the maker's. */
	assert_int_equal(times[F].ended, 0);
	time_stacks_close(child);
	time_stacks_record(stacks, RECORD_LEAVE, F, 900, 8);
	time_stacks_end(stacks, 10);
	times_are(MAIN, 1, 1 + 2, 5 + 3 + 5);
	times_are(F, 1, 4 + 3 + 3, 4 + 3 + 3);
	assert_int_equal(times[F].max, 7);
	stacks_done(stacks);
}

static void
test_reset(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, MAIN, 1000, 0 },
		{ RECORD_ENTER, F, 900, 1 },
	};
	struct time_stacks *stacks = STEPS(steps);

	times_clear(&times[MAIN]);
	times_clear(&times[F]);
	time_stacks_reset(stacks, 5);
	time_stacks_record(stacks, RECORD_LEAVE, F, 900, 8);
	time_stacks_end(stacks, 9);
	times_are(MAIN, 0, 1, 4);
	times_are(F, 0, 3, 3);
	assert_int_equal(times[F].max, 3);
	stacks_done(stacks);
}

/*
 * What no record shows belongs to the frame that it is in, and to those outside:
 * 5 to F, 7 to MAIN, and nothing below or above the stack.
 */
static void
test_more(void **state)
{
	static const struct step steps[] = {
		{ RECORD_ENTER, MAIN, 1000, 0 },
		{ RECORD_ENTER, F, 900, 10 },
	};
	struct time_stacks *stacks = STEPS(steps);

	assert_int_equal(time_stacks_more(stacks, 900, 5), 0);
	assert_int_equal(time_stacks_more(stacks, 901, 7), 0);
	assert_int_equal(time_stacks_more(stacks, 1001, 100), 0);
	assert_int_equal(time_stacks_more(stacks, 100000, 100), 0);
	/* As for a snapshot, after which it is taken back. */
	assert_int_equal(time_stacks_more(stacks, 800, 50), 0);
	time_stacks_settle(stacks, 15);
	times_are(F, 1, 5 + 5 + 50, 5 + 5 + 50);
	times_are(MAIN, 1, 10 + 7, 15 + 5 + 7 + 50);
	assert_int_equal(time_stacks_more(stacks, 800, (uint64_t)-50), 0);
	time_stacks_record(stacks, RECORD_LEAVE, F, 900, 20);
	time_stacks_record(stacks, RECORD_LEAVE, MAIN, 1000, 30);
	times_are(F, 1, 15, 15);
	times_are(MAIN, 1, 27, 42);
	assert_int_equal(times[F].max, 15);
	assert_int_equal(times[MAIN].max, 42);
	stacks_done(stacks);
}

/* Frames of another stack may be outside the one that had more, or not. */
static void
test_more_stacks(void **state)
{
	struct time_stacks *stacks = STEPS(((struct step[]){
		{ RECORD_ENTER, MAIN, 90000000, 0 },
		{ RECORD_ENTER, F, 1000, 10 },
	}));

	time_stacks_sparse(stacks);
	assert_int_equal(time_stacks_more(stacks, 1000, 5), -1);
	assert_int_equal(time_stacks_more(stacks, 90000000, 5), -1);
	assert_int_equal(time_stacks_more(stacks, 50000000, 5), -1);
	time_stacks_record(stacks, RECORD_LEAVE, F, 1000, 20);
	assert_int_equal(time_stacks_more(stacks, 50000000, 5), -1);
	assert_int_equal(time_stacks_more(stacks, 90000000, 5), 0);
	assert_int_equal(time_stacks_more(stacks, 91000000, 5), 0);
	stacks_done(stacks);
}

/* A handler on a stack of its own jumps out of it; a function far out. */
static void
test_gone(void **state)
{
	struct time_stacks *stacks = STEPS(((struct step[]){
		{ RECORD_ENTER, MAIN, 90000000, 0 },
		{ RECORD_ENTER, F, 1000, 10 },
	}));

	time_stacks_sparse(stacks);
	time_stacks_gone(stacks, 900, 12);
	time_stacks_gone(stacks, 89999000, 14);
	time_stacks_record(stacks, RECORD_LAND, 0, 89999000, 14);
	time_stacks_record(stacks, RECORD_LEAVE, MAIN, 90000000, 30);
	times_are(F, 1, 4, 4);
	times_are(MAIN, 1, 10 + 16, 30);
	stacks_done(stacks);
}

/* Where few functions are measured, their frames are far apart. */
static void
test_sparse(void **state)
{
	struct time_stacks *stacks = STEPS(((struct step[]){
		{ RECORD_ENTER, MAIN, 2000000, 0 },
	}));

	time_stacks_sparse(stacks);
	assert_int_equal(time_stacks_more(stacks, 1000000, 3), 0);
	time_stacks_record(stacks, RECORD_ENTER, F, 1000000, 10);
	time_stacks_record(stacks, RECORD_LAND, MAIN, 1999000, 20);
	time_stacks_record(stacks, RECORD_LEAVE, MAIN, 2000000, 30);
	times_are(F, 1, 10, 10);
	times_are(MAIN, 1, 20 + 3, 30 + 3);
	stacks_done(stacks);
}

/* Of 4 calls of 1, 2, 3 and 100, half take 2 at most. */
static void
test_percentiles(void **state)
{
	static const uint64_t took[] = { 3, 1, 100, 2 };
	struct times of = { 0 };

	assert_int_equal(times_percentile(&of, 50), 0);
	for (size_t i = 0; i < sizeof(took) / sizeof(*took); i++)
		times_ended(&of, took[i]);
	assert_int_equal(times_percentile(&of, 50), 2);
	assert_int_equal(times_percentile(&of, 75), 3);
	assert_int_equal(times_percentile(&of, 99), 100);
	times_clear(&of);
}

/* Each time is in a bin that ends at it or behind it, a quarter at most. */
static void
test_bins(void **state)
{
	for (uint64_t time = 0; time < UINT64_C(1) << 47;
	     time = time * 9 / 8 + 1) {
		unsigned bin = time_bin(time);

		assert_true(time <= time_bin_end(bin));
		assert_true(!bin || time > time_bin_end(bin - 1));
		assert_true(time_bin_end(bin) <= time + time / 4);
	}
	assert_int_equal(time_bin(UINT64_MAX), TIME_BINS - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_tail_call),
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_back_below),
		cmocka_unit_test(test_back_left),
		cmocka_unit_test(test_back_first),
		cmocka_unit_test(test_land),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_more),
		cmocka_unit_test(test_more_stacks),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_bins),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
