/*
 * The tables of traces: data that are cut off, or go on behind their end, leave
 * no table that is half there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "report/trace/trace_tables.h"
#include "util/mem.h"

#include <cmocka.h>

/* Is a table of the kind read from these bytes, and is it taken if so? */
static bool
taken(enum chunk_kind kind, const uint8_t *bytes, size_t n)
{
	struct trace_tables tables = { 0 };
	uint8_t *copy = mem_alloc(n + 1);
	bool good;

	for (size_t i = 0; i < n; i++)
		copy[i] = bytes[i];
	good = trace_tables_get(&tables, kind, copy, n);
	assert_int_equal(tables.run.command != NULL, good && kind == CHUNK_RUN);
	assert_int_equal(tables.run.version != NULL, good && kind == CHUNK_RUN);
	assert_int_equal(tables.clock.stamp != 0, good && kind == CHUNK_CLOCK);
	trace_tables_free(&tables);
	free(copy);
	return good;
}

/* No part of the table's data is read but all of them. */
static void
parts_test(enum chunk_kind kind, struct sink *data)
{
	for (size_t n = 0; n < data->n; n++)
		assert_false(taken(kind, data->bytes, n));
	assert_true(taken(kind, data->bytes, data->n));
	put_byte(data, 0);
	assert_false(taken(kind, data->bytes, data->n));
	free(data->bytes);
}

static void
test_run(void **state)
{
	struct trace_run run = { .command = mem_strdup("prog arg"),
				 .version = mem_strdup("0.1"),
				 .start = 5,
				 .stamp = 1000,
				 .cost = 20 };
	struct sink data = { 0 };

	trace_run_put(&data, &run);
	parts_test(CHUNK_RUN, &data);
	free(run.command);
	free(run.version);
}

static void
test_clock(void **state)
{
	struct moment clock = { .stamp = 3000, .ns = 1000 };
	struct sink data = { 0 };

	trace_clock_put(&data, &clock);
	parts_test(CHUNK_CLOCK, &data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_clock),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
