/*
 * Replaces a file in whole or not at all.  The text goes to a new file beside
 * the old one, which takes its name in the end.  If there can be no new file,
 * the text is kept in memory, and put into the old file once room for it is
 * reserved.  Never follows a link of a stranger's.
 */
#include "report/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"

enum {
	MODE_NEW = 0666,
	MODE_BITS = 0777,
	LINKS_MAX = 40,
	TRIES = 100,
	PIECE = 1 << 16
};

/* ---- the file behind a path */

/* The directory of a path, "." for "file"; owned by the caller. */
static char *
directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_strdup(".");
	return mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/*
 * Refuse an entry of a directory where everybody may write, unless it belongs
 * to this process's user or to the directory's owner.  The kernel has the same
 * rule for sticky directories (fs.protected_symlinks and others).
 */
static int
stranger_check(const char *path, const struct stat *dir,
	       const struct stat *entry)
{
	if (!(dir->st_mode & S_IWOTH) || entry->st_uid == geteuid() ||
	    entry->st_uid == dir->st_uid)
		return 0;
	return fail("%s: refused: a %s of another user in a world-writable "
		    "directory",
		    path, S_ISLNK(entry->st_mode) ? "link" : "file");
}

/* The file type (S_IFMT) of `real`, 0 if it does not exist; or -1. */
static int
entry_look(const char *path, const char *real)
{
	char *dir = directory_of(real);
	struct stat st, dir_st;
	int result = 0;

	if (lstat(real, &st) == 0) {
		if (stat(dir, &dir_st) == 0 &&
		    stranger_check(path, &dir_st, &st) < 0)
			result = -1;
		else
			result = (int)(st.st_mode & S_IFMT);
	}
	free(dir);
	return result;
}

/* Whether the path is a device's: /dev/shm is an ordinary file system. */
static bool
under_dev(const char *real)
{
	return strncmp(real, "/dev/", 5) == 0 &&
	       strncmp(real, "/dev/shm/", 9) != 0;
}

/*
 * Whether to write to the file as it is.  A file under /proc is not ours to
 * replace: /dev/stdout leads there, and may be a file that somebody else is
 * writing.  Nor is one under /dev.
 */
static bool
written_directly(const char *real, int type)
{
	char *dir = directory_of(real);
	struct statfs fs;
	bool proc = statfs(dir, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;

	free(dir);
	return proc || (type && type != S_IFREG && type != S_IFLNK) ||
	       (under_dev(real) && type != S_IFLNK);
}

/* Where a link leads, owned by the caller; NULL with the message set. */
static char *
link_follow(const char *path, const char *link)
{
	char to[PATH_MAX], *dir, *real;
	ssize_t n = readlink(link, to, sizeof(to) - 1);

	if (n < 0)
		return fail_null("%s: %s", path, strerror(errno));
	to[n] = '\0';
	if (*to == '/')
		return mem_strdup(to);
	dir = directory_of(link);
	real = mem_printf("%s/%s", dir, to);
	free(dir);
	return real;
}

/* Find the file behind the path, which need not exist; 0 or -1. */
static int
target_resolve(struct target *target)
{
	int type = 0;

	target->real = mem_strdup(target->path);
	for (int i = 0; i < LINKS_MAX; i++) {
		char *next;

		type = entry_look(target->path, target->real);
		if (type < 0)
			return -1;
		if (type == S_IFDIR)
			return fail("%s: %s", target->path, strerror(EISDIR));
		target->direct = written_directly(target->real, type);
		if (target->direct || type != S_IFLNK)
			return 0;
		next = link_follow(target->path, target->real);
		if (!next)
			return -1;
		free(target->real);
		target->real = next;
	}
	return fail("%s: %s", target->path, strerror(ELOOP));
}

/* ---- the file written to */

static void
target_free(struct target *target)
{
	if (!target)
		return;
	if (target->dir >= 0)
		close(target->dir);
	free(target->path);
	free(target->real);
	free(target->temp);
	free(target);
}

/* Resolve the path and open its directory.  NULL with the message set. */
static struct target *
target_make(const char *path)
{
	struct target *target = mem_alloc(sizeof(*target));
	char *dir;

	target->path = mem_strdup(path);
	target->dir = -1;
	if (target_resolve(target) < 0) {
		target_free(target);
		return NULL;
	}
	if (target->direct)
		return target;
	dir = directory_of(target->real);
	target->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	if (target->dir >= 0)
		return target;
	fail("%s: %s", path, strerror(errno));
	target_free(target);
	return NULL;
}

static const char *
name_of(const struct target *target)
{
	const char *slash = strrchr(target->real, '/');

	return slash ? slash + 1 : target->real;
}

/* Look at the old file, if it is a regular one; false if there is none. */
static bool
old_find(const struct target *target, struct stat *st)
{
	return fstatat(target->dir, name_of(target), st, AT_SYMLINK_NOFOLLOW) ==
		       0 &&
	       S_ISREG(st->st_mode);
}

static void
temp_remove(struct target *target)
{
	if (target->temp)
		unlinkat(target->dir, target->temp, 0);
	free(target->temp);
	target->temp = NULL;
}

/* Create a file beside the old one, with its owner and mode; -1 and errno. */
static int
temp_create(struct target *target)
{
	struct stat st, new;
	int fd, try = 0, err;

	do {
		free(target->temp);
		target->temp = mem_printf("%s.%ld-%d.tmp", name_of(target),
					  (long)getpid(), try);
		fd = openat(target->dir, target->temp,
			    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, MODE_NEW);
	} while (fd < 0 && errno == EEXIST && ++try < TRIES);
	if (fd < 0) {
		err = errno;
		free(target->temp);
		target->temp = NULL;
		errno = err;
		return -1;
	}
	if (!old_find(target, &st) || fstat(fd, &new) < 0)
		return fd;
	if ((st.st_uid == new.st_uid &&st.st_gid == new.st_gid) ||
	    fchown(fd, st.st_uid, st.st_gid) == 0) {
		(void)!fchmod(fd, st.st_mode & MODE_BITS);
		return fd;
	}
	err = errno;
	temp_remove(target);
	close(fd);
	errno = err;
	return -1;
}

/* The open descriptor of this process that the path names, or -1. */
static int
descriptor_of(const char *real)
{
	static const char *const dirs[] = { "/proc/self/fd/", "/dev/fd/" };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		size_t len = strlen(dirs[i]);
		unsigned long fd;
		char *end;

		if (strncmp(real, dirs[i], len) || !real[len])
			continue;
		fd = strtoul(real + len, &end, 10);
		return *end || fd > INT_MAX ? -1 : (int)fd;
	}
	return -1;
}

/*
 * Open a target that is written to as it is.  A descriptor that is open already
 * is duplicated, to share its offset: if the file were opened anew, whoever
 * has it open would overwrite the text.
 */
static int
direct_open(const char *real)
{
	bool links = under_dev(real) || strncmp(real, "/proc/", 6) == 0;
	int fd = descriptor_of(real);

	if (fd >= 0)
		return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return open(real, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY |
				  (links ? 0 : O_NOFOLLOW));
}

/*
 * Open the descriptor to write to, which can also be read unless the target is
 * direct; -1 and errno.
 */
static int
target_fd(struct target *target)
{
	struct stat st;
	int fd, err;

	if (target->direct)
		return direct_open(target->real);
	fd = temp_create(target);
	err = errno;
	/* We may write the file, but not its directory. */
	if (fd < 0 && (err == EACCES || err == EPERM || err == EROFS) &&
	    old_find(target, &st))
		fd = memfd_create("pmon", MFD_CLOEXEC);
	else
		errno = err;
	return fd;
}

int
target_check(const char *path)
{
	struct target *target = target_make(path);
	int fd = -1;
	bool good;

	if (!target)
		return -1;
	good = access(target->real, W_OK) == 0 ||
	       (errno == ENOENT && !target->direct);
	if (good && !target->direct) {
		fd = target_fd(target);
		good = fd >= 0;
	}
	if (!good)
		fail("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	temp_remove(target);
	target_free(target);
	return good ? 0 : -1;
}

bool
target_direct(const char *path)
{
	struct target *target = target_make(path);
	bool direct = target && target->direct;

	target_free(target);
	return direct;
}

struct target *
target_open(const char *path)
{
	struct target *target = target_make(path);
	int fd;

	if (!target)
		return NULL;
	fd = target_fd(target);
	if (fd >= 0)
		target->out = fdopen(fd, "w");
	if (target->out)
		return target;
	fail("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	temp_remove(target);
	target_free(target);
	return NULL;
}

/* ---- in the end */

/*
 * Reserve room in a file before anything in it is changed, so that a full disk
 * does no harm; 0, or errno.
 */
static int
room_take(int fd, off_t size)
{
	struct stat st;
	int err;

	if (!size || fstat(fd, &st) < 0 || fallocate(fd, 0, 0, size) == 0 ||
	    errno == EOPNOTSUPP || errno == ENOSYS)
		return 0;
	err = errno;
	(void)!ftruncate(fd, st.st_size);
	return err;
}

/* Replace the content of `to`; 0, or errno. */
static int
bytes_copy(int from, int to, off_t size)
{
	char piece[PIECE];
	off_t at = 0;

	while (at < size) {
		ssize_t n = pread(from, piece, sizeof(piece), at), done = 0;

		while (done < n) {
			ssize_t more = pwrite(to, piece + done,
					      (size_t)(n - done), at + done);

			if (more < 0 && errno == EINTR)
				continue;
			if (more <= 0)
				return errno ? errno : EIO;
			done += more;
		}
		if (n <= 0)
			return n < 0 ? errno : EIO;
		at += n;
	}
	return ftruncate(to, size) < 0 || fsync(to) < 0 ? errno : 0;
}

/* Put the new text into the old file; 0, or errno. */
static int
put_into(struct target *target)
{
	int from = fileno(target->out), to, err;
	struct stat st, now;
	off_t size;

	if (!old_find(target, &st))
		return EACCES;
	to = openat(target->dir, name_of(target),
		    O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (to < 0)
		return errno;
	size = lseek(from, 0, SEEK_END);
	if (fstat(to, &now) < 0 || now.st_dev != st.st_dev ||
	    now.st_ino != st.st_ino)
		err = EBUSY;
	else
		err = room_take(to, size);
	if (!err)
		err = bytes_copy(from, to, size);
	if (close(to) < 0 && !err)
		err = errno;
	return err;
}

/* Put the new text in place of the old, in whichever way; 0, or errno. */
static int
put_in_place(struct target *target)
{
	if (target->direct)
		return 0;
	if (!target->temp)
		return put_into(target);
	/* Without this a crash of the machine may leave an empty file. */
	if (fsync(fileno(target->out)) < 0)
		return errno;
	if (renameat(target->dir, target->temp, target->dir, name_of(target)) ==
	    0) {
		free(target->temp);
		target->temp = NULL;
		return 0;
	}
	/* Others own the name, or something is mounted there. */
	if (errno == EBUSY || errno == EPERM || errno == EACCES)
		return put_into(target);
	return errno;
}

/* Flush the stream, and tell of any earlier error; 0, or errno. */
static int
out_flush(FILE *out)
{
	bool bad = ferror(out) != 0;

	errno = 0;
	if (fflush(out) != 0)
		return errno ? errno : EIO;
	return bad ? EIO : 0;
}

/* The same for the text of a target. */
static int
temp_flush(const struct target *target)
{
	int err = out_flush(target->out);

	/* The errno of an earlier write is lost; one more write tells it. */
	if (err == EIO && !target->direct &&
	    write(fileno(target->out), "", 1) < 0)
		return errno;
	return err;
}

int
stream_flush(FILE *out, const char *name)
{
	int err = out_flush(out);

	return err ? fail("%s: %s", name, strerror(err)) : 0;
}

int
target_flush(const struct target *target)
{
	int err = temp_flush(target);

	return err ? fail("%s: %s", target->path, strerror(err)) : 0;
}

int
target_close(struct target *target)
{
	int err = temp_flush(target), result = 0;

	if (!err)
		err = put_in_place(target);
	if (fclose(target->out) != 0 && !err)
		err = errno;
	if (err)
		result = fail("%s: %s", target->path, strerror(err));
	temp_remove(target);
	target_free(target);
	return result;
}

void
target_drop(struct target *target)
{
	fclose(target->out);
	temp_remove(target);
	target_free(target);
}
