/*
 * Directories that are the user's alone: their paths, and opening them.  Never
 * uses one that another user could have made or may change.
 */
#include "util/user_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/mem.h"

char *
user_path(const char *variable, const char *fallback)
{
	const char *base = getenv(variable);
	const char *home = getenv("HOME");

	if (base && *base == '/')
		return mem_printf("%s/pmon", base);
	return home && *home == '/' ? mem_printf("%s/%s/pmon", home, fallback) :
				      NULL;
}

int
user_dir_check(const char *dir, const struct stat *st, uid_t uid)
{
	if (!S_ISDIR(st->st_mode))
		return fail("%s is not a directory", dir);
	if (st->st_uid != uid)
		return fail("%s belongs to user %u", dir, (unsigned)st->st_uid);
	if (st->st_mode & 077)
		return fail("%s is open to other users (mode %04o)", dir,
			    (unsigned)st->st_mode & 07777);
	return 0;
}

int
user_dir_open(const char *dir)
{
	struct stat st;
	int fd;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return fail("%s: %s", dir, strerror(errno));
	if (lstat(dir, &st))
		return fail("%s: %s", dir, strerror(errno));
	if (user_dir_check(dir, &st, geteuid()))
		return -1;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		fail("%s: %s", dir, strerror(errno));
	else if (!user_dir_check(dir, &st, geteuid()))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}
