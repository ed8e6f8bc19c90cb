/*
 * Opens files whose names a hostile program may have chosen.  Checks a file
 * through an O_PATH handle, which opens nothing, and then opens it through the
 * handle, since the name may stand for another file by then.  Never opens a
 * name for reading.
 */
#include "util/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"

int
handle_reopen(int handle)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

int
regular_open(const char *path, const char *name, struct stat *st)
{
	int handle = open(path, O_PATH | O_CLOEXEC), fd = -1, error;

	if (!name)
		name = path;
	if (handle < 0 || fstat(handle, st)) {
		error = errno;
		fail("%s: %s", name, strerror(error));
	} else if (!S_ISREG(st->st_mode)) {
		error = 0;
		fail("%s: not a regular file", name);
	} else {
		fd = handle_reopen(handle);
		error = errno;
		if (fd < 0)
			fail("%s: %s", name, strerror(error));
	}
	if (handle >= 0)
		close(handle);
	errno = error;
	return fd;
}

int
regular_open_as(uid_t user, gid_t group, const char *path, struct stat *st)
{
	int n = getgroups(0, NULL), fd, error;
	gid_t own = getegid(), *groups;

	if (geteuid() || !user)
		return regular_open(path, NULL, st);
	groups = mem_alloc((size_t)n * sizeof(*groups));
	n = getgroups(n, groups);
	if (setgroups(0, NULL))
		n = -1;
	setfsgid(group);
	setfsuid(user);
	/* setfsuid reports no errors; it returns the user set before. */
	if ((uid_t)setfsuid((uid_t)-1) == user) {
		fd = regular_open(path, NULL, st);
		error = errno;
	} else {
		fd = fail("%s: cannot be read as user %u", path,
			  (unsigned)user);
		error = EPERM;
	}
	setfsuid(0);
	setfsgid(own);
	must(n < 0 || !setgroups((size_t)n, groups));
	free(groups);
	errno = error;
	return fd;
}
