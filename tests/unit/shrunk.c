/*
 * A mapped file becomes shorter.
 */
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/shrunk.h"

#include <setjmp.h>
#include <cmocka.h>

enum { PAGE = 4096, SIZE = 4 * PAGE };

static void
test_shorter(void **state)
{
	int fd = memfd_create("shorter", MFD_CLOEXEC);
	volatile uint8_t *bytes;

	assert_int_equal(ftruncate(fd, SIZE), 0);
	bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (size_t i = 0; i < SIZE; i += PAGE)
		bytes[i + 1] = 7;
	shrunk_catch();
	assert_int_equal(bytes[2 * PAGE + 1], 7);
	assert_false(shrunk_met());
	assert_int_equal(ftruncate(fd, 2 * PAGE), 0);
	assert_int_equal(bytes[PAGE + 1], 7);
	assert_false(shrunk_met());
	assert_int_equal(bytes[2 * PAGE + 1], 0);
	assert_true(shrunk_met());
	bytes[3 * PAGE + 1] = 8;
	assert_int_equal(bytes[3 * PAGE + 1], 8);
	munmap((void *)bytes, SIZE);
	close(fd);
}

/* A SIGBUS of another kind is the end, as ever. */
static void
test_other(void **state)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		shrunk_catch();
		raise(SIGBUS);
		raise(SIGBUS);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shorter),
		cmocka_unit_test(test_other),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
