/*
 * Replies of a stub that are not what the GDB manual (appendix E) allows: pmon
 * reads no byte that a reply does not have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host/remote_state.h"

#include <cmocka.h>

static void
test_bytes(void **state)
{
	static const char *const bad[] = { "",	 "4",  "4g", " 4",
					   "4 ", "-1", "+1", "0x41" };

	assert_int_equal(remote_byte("00"), 0);
	assert_int_equal(remote_byte("7fff"), 0x7f);
	assert_int_equal(remote_byte("Ff"), 0xff);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(remote_byte(bad[i]), -1);
}

/* The path is what the pairs of digits stand for; a last half is no byte. */
static void
test_exec(void **state)
{
	static const struct {
		const char *reply, *path;
	} cases[] = {
		{ "T05exec:2f61;", "/a" },
		{ "T05exec:2f61", "/a" },
		{ "T05exec:2f616", "/a" },
		{ "T05exec:2f616;thread:62;", "/a" },
		{ "T05exec:6", "" },
		{ "T05exec:", "" },
		{ "T05exec: 6 6 6 6", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct event event;

		remote_stop_event(&event, cases[i].reply);
		assert_int_equal(event.kind, EVENT_EXEC);
		assert_string_equal(remote.path, cases[i].path);
	}
	free(remote.path);
	remote.path = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_exec),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
