/*
 * The regions of a thread counter page: no more of them is drained or reset
 * than is there.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/fragment.h"
#include "monitor/process/regions.h"

#include <cmocka.h>

enum { WORDS = 16 };

static uint64_t page[WORDS];

static void
page_fill(void)
{
	for (unsigned i = 0; i < WORDS; i++)
		page[i] = 100 + i;
}

struct told {
	uint64_t counters[WORDS];
	size_t n;
};

static void
told_add(void *ctx, const uint64_t *counters, size_t n)
{
	struct told *told = ctx;

	memcpy(told->counters, counters, n * sizeof(*counters));
	told->n = n;
}

/* Words 8 to 10 are counters; five are asked for. */
static void
test_drain(void **state)
{
	const struct region region = { REGION_COUNTERS, 64, 24 };
	struct told told = { .n = WORDS };

	page_fill();
	assert_int_equal(region_fits(&region, 2), 2);
	assert_int_equal(region_fits(&region, 5), 3);
	region_drain(&region, (uint8_t *)page, 5, told_add, &told);
	assert_int_equal(told.n, 3);
	for (unsigned i = 0; i < WORDS; i++) {
		if (i < 3)
			assert_int_equal(told.counters[i], 108 + i);
		assert_int_equal(page[i], i >= 8 && i < 11 ? 0 : 100 + i);
	}
}

/* A module that has no region yet has no counters. */
static void
test_none(void **state)
{
	const struct region region = { 0 };
	struct told told = { .n = WORDS };

	page_fill();
	region_drain(&region, (uint8_t *)page, 1, told_add, &told);
	assert_int_equal(told.n, 0);
	assert_int_equal(page[0], 100);
}

enum { ADDITIONS = 1000000 };

static void *
add(void *arg)
{
	for (int i = 0; i < ADDITIONS; i++)
		__atomic_add_fetch(&page[9], 1, __ATOMIC_RELAXED);
	__atomic_store_n(&page[15], 1, __ATOMIC_RELEASE);
	return NULL;
}

static void
told_sum(void *ctx, const uint64_t *counters, size_t n)
{
	uint64_t *sum = ctx;

	assert_int_equal(n, 3);
	assert_int_equal(counters[0] + counters[2], 0);
	*sum += counters[1];
}

/* Nothing is lost while a task goes on adding. */
static void
test_shared(void **state)
{
	const struct region region = { REGION_SHARED, 64, 24 };
	uint64_t sum = 0;
	pthread_t thread;
	bool done;

	memset(page, 0, sizeof(page));
	assert_int_equal(pthread_create(&thread, NULL, add, NULL), 0);
	do {
		done = __atomic_load_n(&page[15], __ATOMIC_ACQUIRE);
		region_drain(&region, (uint8_t *)page, 3, told_sum, &sum);
	} while (!done);
	pthread_join(thread, NULL);
	assert_int_equal(sum, ADDITIONS);
	assert_int_equal(page[9], 0);
}

/* A task that takes a page finds empty scratch slots, in generation 1. */
static void
test_begin(void **state)
{
	page_fill();
	region_reset(&region_scratch, (uint8_t *)page, SCRATCH_SLOTS);
	region_reset(&region_generation, (uint8_t *)page, 1);
	for (unsigned i = 0; i < SCRATCH_SLOTS; i++)
		assert_int_equal(page[i], 0);
	assert_int_equal(*region_words(&region_generation, (uint8_t *)page), 1);
	for (unsigned i = SCRATCH_SLOTS + 1; i < WORDS; i++)
		assert_int_equal(page[i], 100 + i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drain),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
