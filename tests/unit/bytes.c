/*
 * Reading descriptors to their ends, and no further than a limit.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/bytes.h"

#include <setjmp.h>
#include <cmocka.h>

/* A device has no end: the limit is one, whatever the buffer's growth. */
static void
test_limit(void **state)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	uint8_t *bytes = NULL;
	size_t n = 0;

	assert_int_equal(bytes_read(fd, 12, &bytes, &n), 0);
	assert_int_equal(n, 12);
	assert_int_equal(bytes_read(fd, 12, &bytes, &n), 0);
	assert_int_equal(n, 12);
	assert_int_equal(bytes_read(fd, 1000001, &bytes, &n), 0);
	assert_int_equal(n, 1000001);
	assert_int_equal(bytes[n - 1], 0);
	close(fd);
	free(bytes);
}

/* What was written to a pipe in two pieces is read as one. */
static void
test_end(void **state)
{
	uint8_t *bytes = NULL;
	size_t n = 0;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "one ", 4), 4);
	assert_int_equal(bytes_read(ends[0], 4, &bytes, &n), 0);
	assert_int_equal(write(ends[1], "two", 3), 3);
	close(ends[1]);
	assert_int_equal(bytes_read(ends[0], SIZE_MAX, &bytes, &n), 0);
	assert_int_equal(n, 7);
	assert_memory_equal(bytes, "one two", 7);
	close(ends[0]);
	free(bytes);
}

static void
test_error(void **state)
{
	int fd = open("/", O_RDONLY | O_CLOEXEC);
	uint8_t *bytes = NULL;
	size_t n = 0;

	assert_int_equal(bytes_read(fd, 12, &bytes, &n), -1);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(n, 0);
	close(fd);
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
