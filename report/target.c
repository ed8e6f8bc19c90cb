/*
 * A file that is replaced in whole or not at all: what is written goes to a
 * new file beside it, which takes its name in the end.
 */
#include "report/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"

enum { MODE_NEW = 0666, MODE_BITS = 0777 };

/*
 * What a name under /dev or /proc stands for is not ours to replace:
 * /dev/stdout may be a file that somebody else is writing.
 */
static bool
written_directly(const char *path)
{
	struct stat st;

	if (strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0)
		return true;
	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* The file behind path, which may be a link, and need not be there. */
static char *
path_resolve(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : mem_strdup(path);
}

static int
temp_create(struct target *target)
{
	struct stat st;
	int fd, try = 0;

	do {
		free(target->temp);
		target->temp = mem_printf("%s.%ld-%d.tmp", target->real,
					  (long)getpid(), try);
		fd = open(target->temp, O_WRONLY | O_CREAT | O_EXCL |
			  O_CLOEXEC, MODE_NEW);
	} while (fd < 0 && errno == EEXIST && ++try < 100);
	if (fd < 0)
		return fail("%s: %s", target->path, strerror(errno));
	if (stat(target->real, &st) == 0)
		(void)!fchmod(fd, st.st_mode & MODE_BITS);
	return fd;
}

static void
target_free(struct target *target)
{
	free(target->path);
	free(target->real);
	free(target->temp);
	free(target);
}

static struct target *
target_make(const char *path)
{
	struct target *target = mem_alloc(sizeof(*target));

	target->path = mem_strdup(path);
	if (!written_directly(path))
		target->real = path_resolve(path);
	return target;
}

static int
target_fd(struct target *target)
{
	int fd;

	if (target->real)
		return temp_create(target);
	fd = open(target->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return fail("%s: %s", target->path, strerror(errno));
	return fd;
}

int
target_check(const char *path)
{
	struct target *target = target_make(path);
	struct stat st;
	int fd, result = 0;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		result = fail("%s: %s", path, strerror(EISDIR));
	} else if (access(path, W_OK) < 0 && errno != ENOENT) {
		result = fail("%s: %s", path, strerror(errno));
	} else if (target->real) {
		fd = temp_create(target);
		if (fd >= 0) {
			close(fd);
			unlink(target->temp);
		}
		result = fd < 0 ? -1 : 0;
	} else if (access(path, W_OK) < 0) {
		result = fail("%s: %s", path, strerror(errno));
	}
	target_free(target);
	return result;
}

struct target *
target_open(const char *path)
{
	struct target *target = target_make(path);
	int fd = target_fd(target);

	if (fd >= 0)
		target->out = fdopen(fd, "w");
	if (target->out)
		return target;
	if (fd >= 0) {
		fail("%s: %s", path, strerror(errno));
		close(fd);
	}
	target_free(target);
	return NULL;
}

int
target_close(struct target *target)
{
	bool bad = ferror(target->out) != 0;
	int error = EIO, result = 0;

	errno = 0;
	if (fflush(target->out) != 0)
		bad = true;
	/* Else a crash of the machine may leave the name with nothing. */
	else if (target->real && fsync(fileno(target->out)) < 0)
		bad = true;
	/* Why an earlier write failed is not kept: so will one more. */
	else if (bad && target->real && write(fileno(target->out), "", 1) < 0)
		error = errno;
	if (errno)
		error = errno;
	if (fclose(target->out) != 0 && !bad) {
		error = errno;
		bad = true;
	}
	if (!bad && target->real && rename(target->temp, target->real) < 0) {
		error = errno;
		bad = true;
	}
	if (bad) {
		result = fail("%s: %s", target->path, strerror(error));
		if (target->real)
			unlink(target->temp);
	}
	target_free(target);
	return result;
}

void
target_drop(struct target *target)
{
	fclose(target->out);
	if (target->real)
		unlink(target->temp);
	target_free(target);
}
