/*
 * Opens files whose names a hostile program may have chosen.  A handle
 * (O_PATH) opens nothing; what that is of is looked at, and then that is opened,
 * whatever the name means by then.
 */
#include "util/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/fail.h"

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
