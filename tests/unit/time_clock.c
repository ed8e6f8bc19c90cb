/*
 * A task's clock leaves out stops and what records take.  Stamps are small
 * numbers, so that each time can be seen from them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/client/time_clock.h"

#include <cmocka.h>

static void
test_records(void **state)
{
	struct time_costs costs = { .record = 3 };
	struct time_clock clock = { .costs = &costs };

	time_clock_go(&clock, 1000);
	assert_int_equal(time_clock_record(&clock, 1010), 10);
	/* One right behind the other. */
	assert_int_equal(time_clock_record(&clock, 1013), 10);
	assert_int_equal(time_clock_record(&clock, 1026), 20);
	/* One that took less than others stands still. */
	assert_int_equal(time_clock_record(&clock, 1028), 20);
	assert_int_equal(time_clock_record(&clock, 1041), 30);
}

static void
test_stops(void **state)
{
	struct time_costs costs = { 0 };
	struct time_clock clock = { .costs = &costs };

	time_clock_go(&clock, 1000);
	time_clock_record(&clock, 1010);
	time_clock_stop(&clock, 1020, 0);
	assert_int_equal(clock.last, 20);
	/* Nothing is known of what the kernel takes. */
	time_clock_go(&clock, 1500);
	assert_int_equal(time_clock_record(&clock, 1505), 25);
	assert_int_equal(costs.out, 5);
	/* From now on it takes twice that for each stop. */
	time_clock_stop(&clock, 1600, 0);
	time_clock_go(&clock, 1700);
	assert_int_equal(time_clock_record(&clock, 1740), 25 + 95 + 40 - 10);
}

/* Where there was no room the record's stamps tell all. */
static void
test_full(void **state)
{
	struct time_costs costs = { 0 };
	struct time_clock clock = { .costs = &costs };

	time_clock_go(&clock, 1000);
	time_clock_record(&clock, 1010);
	time_clock_stop(&clock, 1050, 1030);
	assert_int_equal(clock.last, 30);
	assert_int_equal(costs.in, 20);
	time_clock_go(&clock, 2000);
	assert_int_equal(time_clock_record(&clock, 2070), 30);
	assert_int_equal(costs.out, 70);
	assert_int_equal(time_clock_record(&clock, 2075), 35);
}

/* What the probe, or the program, has left there is no stamp of this stop's. */
static void
test_full_nonsense(void **state)
{
	static const uint64_t stamps[] = { 1, 999, 1050, 1 << 20, UINT64_MAX };

	for (size_t i = 0; i < sizeof(stamps) / sizeof(stamps[0]); i++) {
		struct time_costs costs = { 0 };
		struct time_clock clock = { .costs = &costs };

		time_clock_go(&clock, 1000);
		time_clock_record(&clock, 1010);
		time_clock_stop(&clock, 1050, stamps[i]);
		assert_int_equal(clock.last, 50);
		time_clock_go(&clock, 2000);
		assert_int_equal(time_clock_record(&clock, 2010), 60);
	}
}

/* A stop between a record's stamp and its end. */
static void
test_late_record(void **state)
{
	struct time_costs costs = { 0 };
	struct time_clock clock = { .costs = &costs };

	time_clock_go(&clock, 1000);
	time_clock_record(&clock, 1010);
	time_clock_stop(&clock, 1020, 0);
	time_clock_go(&clock, 1500);
	assert_int_equal(time_clock_record(&clock, 1019), 20);
	assert_int_equal(costs.out, 0);
	assert_int_equal(time_clock_record(&clock, 1504), 24);
}

/* Steps that the task does for pmon, of which nothing is told. */
static void
test_detour(void **state)
{
	struct time_costs costs = { 0 };
	struct time_clock clock = { .costs = &costs };

	time_clock_go(&clock, 1000);
	time_clock_record(&clock, 1010);
	time_clock_stop(&clock, 1020, 0);
	time_clock_go(&clock, 1100);
	time_clock_go(&clock, 1200);
	time_clock_go(&clock, 1300);
	assert_int_equal(time_clock_record(&clock, 1305), 25);
}

/* A stop that seems to take long was the program's time. */
static void
test_long(void **state)
{
	struct time_costs costs = { .both = 5000000 };
	struct time_clock clock = { .costs = &costs };

	time_clock_go(&clock, 1000);
	time_clock_record(&clock, 1010);
	time_clock_stop(&clock, 1020, 0);
	time_clock_go(&clock, 2000);
	assert_int_equal(time_clock_record(&clock, 9002000),
			 20 + 9000000 - 200000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_full_nonsense),
		cmocka_unit_test(test_late_record),
		cmocka_unit_test(test_detour),
		cmocka_unit_test(test_long),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
