/*
 * Keeps lists of the functions that ran, from run to run, in the user's cache
 * directory: a file for each image, named by its build-id.  What is in a list is
 * looked at when the image is planned, so that pmon need not stop the program at
 * the function's first entry (doc/decisions/0020-functions-that-ran.md).  The
 * lists are hints: counts never depend on them.  Where a list cannot be read or
 * written nothing is said and nothing fails.
 */
#include "monitor/process/ran.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/addrs.h"
#include "util/mem.h"
#include "util/user_dir.h"

enum {
	LIST_MAX = 1 << 22,	/* bytes; some 400,000 functions */
	LISTS_MAX = 512,	/* files */
};

static const char head[] = "pmon: functions that ran, 1";

/* ---- the directory */

static bool
directory_own(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode) &&
	       st.st_uid == geteuid();
}

/* The directory's parent, owned by the caller. */
static char *
parent_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	return mem_printf("%.*s", (int)(slash - path), path);
}

/*
 * Make the directory if there is none and its parent is the user's own: after
 * sudo HOME may be another user's.  Whether it is there, and the user's own.
 */
static bool
directory_make(const char *path)
{
	char *parent = parent_path(path);
	bool made = directory_own(parent) && !mkdir(path, 0700);

	free(parent);
	return made || directory_own(path);
}

/* The descriptor, or -1. */
static int
lists_open(void)
{
	char *path = user_path("XDG_CACHE_HOME", ".cache"), *parent;
	int fd = -1;

	if (!path)
		return -1;
	parent = parent_path(path);
	if (directory_make(parent))
		fd = user_dir_open(path);
	free(parent);
	free(path);
	return fd;
}

/* Remove the list that was used least recently, if there are too many. */
static void
lists_limit(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct stat st, oldest = { 0 };
	struct dirent *entry;
	char *name = NULL;
	size_t n = 0;

	while (entries && (entry = readdir(entries))) {
		if (fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		n++;
		if (name && st.st_mtime >= oldest.st_mtime)
			continue;
		oldest = st;
		free(name);
		name = mem_strdup(entry->d_name);
	}
	if (n > LISTS_MAX)
		unlinkat(dir, name, 0);
	free(name);
	if (entries)
		closedir(entries);
	else if (fd >= 0)
		close(fd);
}

/* ---- lists */

/* The name of the image's list, owned by the caller, or NULL. */
static char *
list_name(const struct image *image)
{
	char name[2 * BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < image->build_id_len; i++)
		sprintf(name + 2 * i, "%02x", image->build_id[i]);
	return *name ? mem_strdup(name) : NULL;
}

static void
lines_read(FILE *in, struct ran *ran)
{
	char line[sizeof(head) + 1];
	uint64_t addr, last = 0;

	if (!fgets(line, sizeof(line), in) ||
	    strncmp(line, head, sizeof(head) - 1))
		return;
	for (; fscanf(in, "%" SCNx64, &addr) == 1; last = addr)
		if (!ran->n || addr > last)
			*vec_push(ran->addrs, ran->n) = addr;
}

static struct ran
list_read(int dir, const char *name)
{
	int fd = openat(dir, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct ran ran = { 0 };
	struct stat st;
	FILE *in = NULL;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    st.st_size <= LIST_MAX)
		in = fdopen(fd, "r");
	if (in) {
		/* It was used now: see lists_limit. */
		futimens(fd, NULL);
		lines_read(in, &ran);
		fclose(in);
	} else if (fd >= 0) {
		close(fd);
	}
	return ran;
}

static void
list_write(int dir, const char *name, const struct ran *ran)
{
	char *temp = mem_printf("%s.%d", name, (int)getpid());
	int fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	bool bad = !out;

	if (out) {
		fprintf(out, "%s\n", head);
		for (size_t i = 0; i < ran->n; i++)
			fprintf(out, "%" PRIx64 "\n", ran->addrs[i]);
		bad = ferror(out) || ftello(out) > LIST_MAX;
		bad |= fclose(out) != 0;
	} else if (fd >= 0) {
		close(fd);
	}
	if (fd >= 0 && (bad || renameat(dir, temp, dir, name)))
		unlinkat(dir, temp, 0);
	free(temp);
	lists_limit(dir);
}

void
ran_forget(const struct image *image)
{
	char *name = list_name(image);
	int dir = name ? lists_open() : -1;

	if (dir >= 0) {
		unlinkat(dir, name, 0);
		close(dir);
	}
	free(name);
}

struct ran
ran_read(const struct image *image)
{
	char *name = list_name(image);
	int dir = name ? lists_open() : -1;
	struct ran ran = { 0 };

	if (dir >= 0) {
		ran = list_read(dir, name);
		close(dir);
	}
	free(name);
	return ran;
}

/* ---- what ran */

/* Whether the plan counts the function's calls, or code of it. */
static bool
fplan_counted(const struct func_plan *fplan)
{
	return fplan->units && fplan->func != FUNC_NONE &&
	       fplan->state != FPLAN_FAULTY;
}

/*
 * Whether the function ran and may be relocated early the next time.  Whatever
 * made its counts unknown, such as that the program moved its code, might be
 * worse then.
 */
static bool
fplan_ran(const struct func_plan *fplan)
{
	return fplan_counted(fplan) && fplan->state == FPLAN_READY &&
	       !fplan->lost && fplan->calls.state != COUNT_UNKNOWN &&
	       (fplan->increments || fplan->nabnormal_insns || fplan->calls.n);
}

/*
 * The functions that ran, and the earlier ones that were not counted now.  What
 * a program does differs from run to run: the earlier ones that did not run stay
 * in the list, too, unless they are more than those that ran.
 */
static struct ran
ran_merge(const struct plan *plan, const struct ran *earlier)
{
	const struct image *image = plan->image;
	size_t idle = 0, nran = 0;
	struct ran merged = { 0 };

	for (size_t i = 0; i < plan->nfplans; i++) {
		const struct func_plan *fplan = &plan->fplans[i];

		if (fplan_ran(fplan))
			nran++;
		else if (fplan_counted(fplan) &&
			 addrs_has(earlier->addrs, earlier->n,
				   image->funcs[fplan->func].addr))
			idle++;
	}
	for (size_t i = 0; i < plan->nfplans; i++) {
		const struct func_plan *fplan = &plan->fplans[i];
		uint64_t addr;

		if (fplan->func == FUNC_NONE)
			continue;
		addr = image->funcs[fplan->func].addr;
		if (fplan_ran(fplan) ||
		    (addrs_has(earlier->addrs, earlier->n, addr) &&
		     (!fplan_counted(fplan) || idle <= nran)))
			*vec_push(merged.addrs, merged.n) = addr;
	}
	return merged;
}

void
ran_write(const struct plan *plan)
{
	char *name = list_name(plan->image);
	int dir = name ? lists_open() : -1;
	struct ran earlier, merged;

	if (dir >= 0) {
		earlier = list_read(dir, name);
		merged = ran_merge(plan, &earlier);
		if (merged.n != earlier.n ||
		    (merged.n && memcmp(merged.addrs, earlier.addrs,
					merged.n * sizeof(*merged.addrs)) != 0))
			list_write(dir, name, &merged);
		free(earlier.addrs);
		free(merged.addrs);
		close(dir);
	}
	free(name);
}
