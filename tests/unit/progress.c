/*
 * The line that says what takes long: shown once, at terminals, and erased.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/progress.h"

#include <setjmp.h>
#include <cmocka.h>

static int ends[2];

/* All that was written since. */
static void
shown(const char *expected)
{
	char text[256];
	ssize_t n = read(ends[0], text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	assert_string_equal(text, expected);
}

static void
test_line(void **state)
{
	struct progress progress = {
		.fd = ends[1],
		.text = "pmon: reading symbols of ",
		.name = "a\nb",
	};

	/* It began when the machine did, or will begin. */
	progress.started = 1e18;
	progress_step(&progress);
	shown("");
	progress.started = -1e9;
	progress_step(&progress);
	shown("pmon: reading symbols of a^Jb ...\r");
	progress_step(&progress);
	shown("");
	progress_end(&progress);
	shown("\r\033[K");
	progress_step(&progress);
	progress_end(&progress);
	shown("");
}

static void
test_terminal(void **state)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);

	assert_true(terminal >= 0);
	assert_int_equal(progress_begin(ends[1], false, "", NULL).fd, -1);
	assert_int_equal(progress_begin(terminal, false, "", NULL).fd,
			 terminal);
	assert_int_equal(progress_begin(terminal, true, "", NULL).fd, -1);
	close(terminal);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_terminal),
	};

	if (pipe2(ends, O_NONBLOCK))
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
