/*
 * Finding programs in $PATH.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"
#include "util/program_path.h"

#include <setjmp.h>
#include <cmocka.h>

static void
path_is(const char *dirs, const char *name, const char *expected)
{
	char *path;

	if (dirs)
		setenv("PATH", dirs, 1);
	else
		unsetenv("PATH");
	path = program_path(name);
	if (expected)
		assert_string_equal(path, expected);
	else
		assert_null(path);
	free(path);
}

/* As execvp(3): an empty directory is the working directory. */
static void
test_program(void **state)
{
	char *dirs = mem_strdup(getenv("PATH"));

	assert_int_equal(chdir("/bin"), 0);
	path_is("/nowhere:/bin", "sh", "/bin/sh");
	path_is("/nowhere:", "sh", "sh");
	path_is("/nowhere", "./sh", "./sh");
	path_is("/nowhere", "sh", NULL);
	assert_string_equal(fail_message(), "sh: not found in PATH");
	path_is(NULL, "sh", NULL);
	setenv("PATH", dirs, 1);
	free(dirs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
