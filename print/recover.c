/*
 * Finds what pmon saved beside a data file while it counted, gives it the data
 * file's name, and removes what killed writers left.  Changes no counts.
 */
#include "print/recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/profile/profile.h"
#include "util/fail.h"
#include "util/mem.h"

struct part {
	char *path;		/* the newest, or NULL */
	struct timespec when;
	size_t others;
};

static bool
later(struct timespec a, struct timespec b)
{
	return a.tv_sec > b.tv_sec ||
	       (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

/* What follows base, a dot, a number, and ".part" in the name, or NULL. */
static const char *
part_rest(const char *name, const char *base)
{
	size_t len = strlen(base), digits;

	if (strncmp(name, base, len) || name[len] != '.')
		return NULL;
	name += len + 1;
	digits = strspn(name, "0123456789");
	if (!digits || strncmp(name + digits, ".part", 5))
		return NULL;
	return name + digits + 5;
}

/*
 * Is a part's file beside it, with what follows ".part" in its name, one that a
 * process was writing (report/target.c) which has ended?
 */
static bool
rest_deserted(const char *rest)
{
	char *end;
	long pid = *rest == '.' ? strtol(rest + 1, &end, 10) : 0;
	size_t digits;

	if (pid <= 0 || pid > INT_MAX || *end != '-')
		return false;
	digits = strspn(end + 1, "0123456789");
	return digits && !strcmp(end + 1 + digits, ".tmp") &&
	       kill((pid_t)pid, 0) && errno == ESRCH;
}

static void
part_add(struct part *part, char *path)
{
	struct stat st;

	if (lstat(path, &st) || !S_ISREG(st.st_mode)) {
		free(path);
		return;
	}
	if (part->path)
		part->others++;
	if (part->path && !later(st.st_mtim, part->when)) {
		free(path);
		return;
	}
	free(part->path);
	part->path = path;
	part->when = st.st_mtim;
}

/*
 * Find the newest part of the data file, and remove what writers of parts left
 * that were killed; finding none is no error.
 */
static int
part_find(const char *path, struct part *part)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	char *dir = slash ? mem_strndup(path, (size_t)(base - path)) :
			    mem_strdup("./");
	DIR *entries = opendir(dir);
	struct dirent *entry;

	*part = (struct part){ 0 };
	if (!entries) {
		fail("%s: %s", dir, strerror(errno));
		free(dir);
		return -1;
	}
	while ((entry = readdir(entries))) {
		const char *rest = part_rest(entry->d_name, base);

		if (rest && !*rest)
			part_add(part, mem_printf("%s%s", slash ? dir : "",
						  entry->d_name));
		else if (rest && rest_deserted(rest))
			unlinkat(dirfd(entries), entry->d_name, 0);
	}
	closedir(entries);
	free(dir);
	return 0;
}

/* May the part replace what is at the data file's path? */
static int
replace_check(const char *path, const struct part *part)
{
	struct stat st;

	if (stat(path, &st) || !st.st_size)
		return 0;
	if (!S_ISREG(st.st_mode) || !profile_is(path))
		return fail("%s: not a data file: %s does not replace it", path,
			    part->path);
	if (later(st.st_mtim, part->when))
		return fail("%s: newer than %s, which does not replace it",
			    path, part->path);
	return 0;
}

static int
part_take(const char *path, const struct part *part)
{
	struct profile *profile = profile_read(part->path);

	if (!profile)
		return -1;
	profile_free(profile);
	if (replace_check(path, part))
		return -1;
	if (rename(part->path, path))
		return fail("%s: %s", path, strerror(errno));
	return 0;
}

/*
 * Remove the part if it is empty, as before the first save; whether it was.
 */
static bool
part_empty(const struct part *part)
{
	struct stat st;

	return !lstat(part->path, &st) && !st.st_size && !unlink(part->path);
}

/*
 * pmon's writer goes on when pmon is killed, and has locked the part that it is
 * about to replace.  Wait for its end; whether there was one.
 */
static bool
part_awaited(const struct part *part)
{
	int fd = open(part->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool written = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) &&
		       errno == EWOULDBLOCK;

	while (written && flock(fd, LOCK_EX) && errno == EINTR)
		;
	if (fd >= 0)
		close(fd);
	return written;
}

int
data_recover(const char *path, char **said)
{
	struct part part;
	int err = part_find(path, &part);

	while (!err && part.path &&
	       (part_awaited(&part) || part_empty(&part))) {
		free(part.path);
		err = part_find(path, &part);
	}
	if (!err && !part.path)
		err = fail("%s: there is no file %s.PID.part to recover it "
			   "from",
			   path, path);
	if (!err)
		err = part_take(path, &part);
	if (!err)
		*said = part.others ?
				mem_printf(
					"%s: recovered from %s; %zu older %s left",
					path, part.path, part.others,
					part.others == 1 ? "file is" :
							   "files are") :
				mem_printf("%s: recovered from %s", path,
					   part.path);
	free(part.path);
	return err;
}
