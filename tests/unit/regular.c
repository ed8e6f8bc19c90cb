/*
 * What is opened of files whose names somebody else chose: the kernel says so
 * (inotify).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/regular.h"

#include <setjmp.h>
#include <cmocka.h>

static char dir[] = "/tmp/pmon-regular-XXXXXX";

static const char *
in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* How often files of the directory were opened meanwhile. */
static int
opened(int watch)
{
	char events[4096];
	ssize_t n = read(watch, events, sizeof(events));
	int count = 0;

	for (ssize_t i = 0; i < n; count++)
		i += (ssize_t)sizeof(struct inotify_event) +
		     ((struct inotify_event *)(void *)(events + i))->len;
	return count;
}

static void
refused(int watch, const char *path)
{
	struct stat st;

	assert_int_equal(regular_open(path, "it", &st), -1);
	assert_int_equal(errno, 0);
	assert_string_equal(fail_message(), "it: not a regular file");
	assert_int_equal(opened(watch), 0);
}

static void
test_kinds(void **state)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;
	struct stat st;
	char text[8];

	assert_non_null(mkdtemp(dir));
	fd = open(in_dir("file"), O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, "text", 4), 4);
	close(fd);
	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	assert_int_equal(symlink("fifo", in_dir("to-fifo")), 0);
	assert_int_equal(symlink("file", in_dir("to-file")), 0);
	assert_int_equal(symlink("/dev/zero", in_dir("to-zero")), 0);
	assert_true(inotify_add_watch(watch, dir, IN_OPEN) >= 0);

	refused(watch, in_dir("fifo"));
	refused(watch, in_dir("to-fifo"));
	refused(watch, in_dir("to-zero"));
	refused(watch, dir);
	fd = regular_open(in_dir("to-file"), NULL, &st);
	assert_true(fd >= 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	assert_int_equal(opened(watch), 1);
	close(fd);
	assert_int_equal(regular_open(in_dir("none"), "it", &st), -1);
	assert_int_equal(errno, ENOENT);
	assert_string_equal(fail_message(), "it: No such file or directory");

	unlink(in_dir("fifo"));
	unlink(in_dir("to-fifo"));
	unlink(in_dir("to-zero"));
	unlink(in_dir("to-file"));
	unlink(in_dir("file"));
	rmdir(dir);
	close(watch);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
