/*
 * Text that is edited in bulk: how often memory is read and written meanwhile,
 * and what is there in the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "monitor/patch/text_edit.h"

#include <cmocka.h>

enum { PAGES = 80, BASE = 16 * PAGE };

/* ---- a host with memory at BASE, whose last page is not there */

static uint8_t memory[PAGES * PAGE];
static unsigned reads, writes;

static bool
there(uint64_t va, size_t n)
{
	return va >= BASE && va + n <= BASE + sizeof(memory) - PAGE;
}

static int
host_mem_read(int mem, pid_t tid, uint64_t va, void *buf, size_t n)
{
	(void)mem;
	(void)tid;
	reads++;
	if (!there(va, n))
		return HOST_GONE;
	memcpy(buf, memory + (va - BASE), n);
	return HOST_OK;
}

static int
host_mem_write(int mem, pid_t tid, uint64_t va, const void *buf, size_t n)
{
	(void)mem;
	(void)tid;
	writes++;
	if (!there(va, n))
		return HOST_GONE;
	memcpy(memory + (va - BASE), buf, n);
	return HOST_OK;
}

/* ---- what two threads may ask the host for */

/* Memory from here on is refused to them. */
static uint64_t refused;
static atomic_uint asked;

static int
host_mem_get(int mem, uint64_t va, void *buf, size_t n)
{
	(void)mem;
	asked++;
	if (!there(va, n) || va + n > refused)
		return HOST_GONE;
	memcpy(buf, memory + (va - BASE), n);
	return HOST_OK;
}

static int
host_mem_put(int mem, uint64_t va, const void *buf, size_t n)
{
	(void)mem;
	asked++;
	if (!there(va, n) || va + n > refused)
		return HOST_GONE;
	memcpy(memory + (va - BASE), buf, n);
	return HOST_OK;
}

static const struct host_native native = {
	.mem_get = host_mem_get,
	.mem_put = host_mem_put,
};

static const struct host native_host = {
	.name = "native memory",
	.native = &native,
	.mem_read = host_mem_read,
	.mem_write = host_mem_write,
};

static const struct host host = {
	.name = "memory",
	.mem_read = host_mem_read,
	.mem_write = host_mem_write,
};

static struct run run = { .host = &host };
static struct space space;

static int
clear(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	reads = writes = 0;
	asked = 0;
	run.host = &host;
	return 0;
}

/* ---- tests */

/* Two changes in each of two pages that are neighbours. */
static void
edit(void)
{
	for (int page = 1; page <= 2; page++) {
		uint64_t va = BASE + (uint64_t)page * PAGE - 8;

		assert_int_equal(text_write(&run, &space, 1, va, "first", 5),
				 HOST_OK);
		assert_int_equal(text_write(&run, &space, 1, va - 99, "2nd", 3),
				 HOST_OK);
	}
}

static void
edited(void)
{
	assert_memory_equal(memory + PAGE - 8, "first", 5);
	assert_memory_equal(memory + 2 * PAGE - 8, "first", 5);
	assert_memory_equal(memory + PAGE - 107, "2nd", 3);
	assert_memory_equal(memory + 2 * PAGE - 107, "2nd", 3);
}

static void
buffered(void **state)
{
	(void)state;
	text_buffer(&space, BASE, BASE + PAGES * PAGE, BUFFER_TEXT);
	edit();
	assert_int_equal(reads, 2);
	assert_int_equal(writes, 0);
	assert_int_equal(text_flush(&run, &space, 1), HOST_OK);
	assert_int_equal(writes, 1);
	edited();
}

static void
fresh(void **state)
{
	uint8_t byte = 1;

	(void)state;
	text_buffer(&space, BASE, BASE + PAGES * PAGE, BUFFER_FRESH);
	edit();
	assert_int_equal(text_read(&run, &space, 1, BASE + 20 * PAGE, &byte, 1),
			 HOST_OK);
	assert_int_equal(byte, 0);
	assert_int_equal(text_flush(&run, &space, 1), HOST_OK);
	assert_int_equal(reads, 0);
	assert_int_equal(writes, 1);
	edited();
}

/* Bytes are compared where they are, over the end of a page. */
static void
same(void **state)
{
	const uint64_t va = BASE + PAGE - 3;

	(void)state;
	memcpy(memory + PAGE - 3, "abcdef", 6);
	for (int buffered = 0; buffered < 2; buffered++) {
		if (buffered)
			text_buffer(&space, BASE, BASE + PAGES * PAGE,
				    BUFFER_TEXT);
		assert_int_equal(text_same(&run, &space, 1, va, "abcdef", 6),
				 HOST_OK);
		assert_int_equal(text_same(&run, &space, 1, va, "abXdef", 6),
				 HOST_ERROR);
		assert_int_equal(text_same(&run, &space, 1, va, "abcdeX", 6),
				 HOST_ERROR);
		assert_int_equal(text_same(&run, &space, 1,
					   BASE + (PAGES - 1) * PAGE - 2,
					   "\0\0\0", 3),
				 HOST_GONE);
	}
	text_write(&run, &space, 1, va, "ABC", 3);
	assert_int_equal(text_same(&run, &space, 1, va, "ABCdef", 6), HOST_OK);
	assert_int_equal(text_flush(&run, &space, 1), HOST_OK);
	assert_memory_equal(memory + PAGE - 3, "ABCdef", 6);
}

/* What is buffered early counts only if nothing has changed. */
static void
early(void **state)
{
	(void)state;
	text_buffer(&space, BASE, BASE + PAGES * PAGE, BUFFER_EARLY);
	edit();
	assert_int_equal(reads, 2);
	assert_true(text_unchanged(&run, &space, 1));
	/* Both pages at once. */
	assert_int_equal(reads, 3);
	assert_int_equal(text_flush(&run, &space, 1), HOST_OK);
	assert_int_equal(writes, 1);
	edited();
}

static void
early_changed(void **state)
{
	(void)state;
	text_buffer(&space, BASE, BASE + PAGES * PAGE, BUFFER_EARLY);
	edit();
	memory[3 * PAGE - 1] = 1;
	assert_true(text_unchanged(&run, &space, 1));
	text_drop(&space);
	assert_null(space.text);
	text_buffer(&space, BASE, BASE + PAGES * PAGE, BUFFER_EARLY);
	edit();
	memory[2 * PAGE - 1] = 1;
	assert_false(text_unchanged(&run, &space, 1));
	text_drop(&space);
	assert_int_equal(writes, 0);
}

/* A page that was not there may be there now. */
static void
early_absent(void **state)
{
	const uint64_t last = BASE + (PAGES - 1) * PAGE;
	uint8_t byte;

	(void)state;
	text_buffer(&space, BASE, BASE + PAGES * PAGE, BUFFER_EARLY);
	assert_int_equal(text_read(&run, &space, 1, last, &byte, 1), HOST_GONE);
	assert_false(text_unchanged(&run, &space, 1));
	text_drop(&space);
}

/*
 * Two threads do what they can, and what was refused to them is done by what
 * else the host can: nothing, or all behind a page, or all.
 */
static void
by_two(void **state)
{
	(void)state;
	for (uint64_t pages = 0; pages <= PAGES; pages += PAGES / 2) {
		clear(state);
		run.host = &native_host;
		refused = BASE + pages * PAGE;
		text_buffer(&space, BASE, BASE + (PAGES - 1) * PAGE,
			    BUFFER_EARLY);
		for (uint64_t at = 0; at < PAGES - 1; at++)
			assert_int_equal(text_write(&run, &space, 1,
						    BASE + at * PAGE + 7,
						    "text", 4),
					 HOST_OK);
		reads = 0;
		assert_true(text_unchanged(&run, &space, 1));
		assert_int_equal(text_flush(&run, &space, 1), HOST_OK);
		for (uint64_t at = 0; at < PAGES - 1; at++)
			assert_memory_equal(memory + at * PAGE + 7, "text", 4);
		assert_int_equal(reads == 0, pages == PAGES);
		assert_int_equal(writes == 0, pages == PAGES);
		assert_true(asked);
	}
	text_buffer(&space, BASE, BASE + (PAGES - 1) * PAGE, BUFFER_EARLY);
	for (uint64_t at = 0; at < PAGES - 1; at++)
		text_write(&run, &space, 1, BASE + at * PAGE, "text", 4);
	memory[70 * PAGE] = 1;
	assert_false(text_unchanged(&run, &space, 1));
	text_drop(&space);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(buffered, clear),
		cmocka_unit_test_setup(fresh, clear),
		cmocka_unit_test_setup(same, clear),
		cmocka_unit_test_setup(early, clear),
		cmocka_unit_test_setup(early_changed, clear),
		cmocka_unit_test_setup(early_absent, clear),
		cmocka_unit_test_setup(by_two, clear),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("text_edit", tests, NULL, NULL);
}
