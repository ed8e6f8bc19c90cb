/*
 * Finds what pmon saved beside a data file while it counted, and gives it the
 * data file's name.  Changes no counts.
 */
#include "print/recover.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* Is the name base, a dot, a number, and ".part"? */
static bool
part_is(const char *name, const char *base)
{
	size_t len = strlen(base), digits;

	if (strncmp(name, base, len) || name[len] != '.')
		return false;
	name += len + 1;
	digits = strspn(name, "0123456789");
	return digits && !strcmp(name + digits, ".part");
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

/* Find the newest part of the data file; finding none is no error. */
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
	while ((entry = readdir(entries)))
		if (part_is(entry->d_name, base))
			part_add(part, mem_printf("%s%s", slash ? dir : "",
						  entry->d_name));
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

int
data_recover(const char *path, char **said)
{
	struct part part;
	int err = part_find(path, &part);

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
