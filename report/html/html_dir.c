/*
 * The directory of a page.  It is made beside its final place, and put there
 * when it is whole.  Never deletes a file that pmon does not write.
 */
#include "report/html/html_dir.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/kinds.h"
#include "util/fail.h"
#include "util/mem.h"

enum { MODE_NEW = 0777, TRIES = 100 };

struct html_dir {
	char *path;		/* as the user gave it */
	char *real;		/* path with links followed */
	char *temp;		/* the new page, beside it */
	char *fault;		/* the first write error, or NULL */
};

/* ---- the files of a page */

/* Whether a data file may have this name, which is not "". */
static bool
data_name(const char *name)
{
	static const char *const names[] = {
		"index.js",
		"calls.js",
		"diff.js",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	if (!strchr("dfp", *name) || !isdigit((unsigned char)name[1]))
		return false;
	for (name++; isdigit((unsigned char)*name); name++)
		;
	return strcmp(name, ".js") == 0;
}

static bool
page_name(const char *name)
{
	if (strcmp(name, "data") == 0)
		return true;
	for (size_t i = 0; html_assets[i].name; i++)
		if (strcmp(name, html_assets[i].name) == 0)
			return true;
	return false;
}

/*
 * Call `each` for every entry of a directory, until it returns false.  False if
 * it did, or if the directory cannot be read.
 */
static bool
entries_visit(const char *path,
	      bool (*each)(const char *path, const char *name, void *arg),
	      void *arg)
{
	DIR *entries = opendir(path);
	struct dirent *entry;
	bool good = entries != NULL;

	while (good && (entry = readdir(entries)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			good = each(path, entry->d_name, arg);
	if (entries)
		closedir(entries);
	return good;
}

static bool
data_entry_check(const char *path, const char *name, void *arg)
{
	return data_name(name);
}

static bool
page_entry_check(const char *path, const char *name, void *arg)
{
	bool *data = arg, good = page_name(name);
	char *inner;

	if (strcmp(name, "data"))
		return good;
	*data = true;
	inner = mem_printf("%s/%s", path, name);
	good = entries_visit(inner, data_entry_check, NULL);
	free(inner);
	return good;
}

static bool
any_entry(const char *path, const char *name, void *arg)
{
	return false;
}

/* Whether a directory is empty, or has only files of a page. */
static bool
replaceable(const char *path)
{
	bool data = false;

	if (entries_visit(path, any_entry, NULL))
		return true;
	return entries_visit(path, page_entry_check, &data) && data;
}

static bool
data_entry_remove(const char *path, const char *name, void *arg)
{
	char *file = mem_printf("%s/%s", path, name);

	if (data_name(name))
		unlink(file);
	free(file);
	return true;
}

/* Remove a page.  Other files stay, and then so does their directory. */
static void
page_remove(const char *path)
{
	char *data = mem_printf("%s/data", path);

	entries_visit(data, data_entry_remove, NULL);
	rmdir(data);
	free(data);
	for (size_t i = 0; html_assets[i].name; i++) {
		char *file = mem_printf("%s/%s", path, html_assets[i].name);

		unlink(file);
		free(file);
	}
	rmdir(path);
}

/* ---- making a page */

static void
dir_free(struct html_dir *dir)
{
	free(dir->path);
	free(dir->real);
	free(dir->temp);
	free(dir->fault);
	free(dir);
}

/* The path with links followed; if it does not exist, without final slashes. */
static char *
path_resolve(const char *path)
{
	char *real = realpath(path, NULL);
	size_t len = strlen(path);

	if (real)
		return real;
	while (len > 1 && path[len - 1] == '/')
		len--;
	return mem_strndup(path, len);
}

static int
temp_make(struct html_dir *dir)
{
	int err, try = 0;

	do {
		free(dir->temp);
		dir->temp = mem_printf("%s.%ld-%d.tmp", dir->real,
				       (long)getpid(), try);
		err = mkdir(dir->temp, MODE_NEW);
	} while (err && errno == EEXIST && ++try < TRIES);
	return err ? fail("%s: %s", dir->path, strerror(errno)) : 0;
}

/* Check that the path does not exist or can be replaced. */
static int
place_check(const struct html_dir *dir)
{
	struct stat st, here;

	if (stat(dir->real, &st) < 0)
		return errno == ENOENT ?
			       0 :
			       fail("%s: %s", dir->path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return fail("%s: %s", dir->path, strerror(ENOTDIR));
	if (stat(".", &here) == 0 && here.st_dev == st.st_dev &&
	    here.st_ino == st.st_ino)
		return fail("%s: the current directory cannot be replaced by "
			    "a page",
			    dir->path);
	if (!replaceable(dir->real))
		return fail("%s: the directory has files that are not part of "
			    "a pmon page",
			    dir->path);
	return 0;
}

struct html_dir *
html_dir_open(const char *path)
{
	struct html_dir *dir = mem_alloc(sizeof(*dir));
	char *data;

	dir->path = mem_strdup(path);
	dir->real = path_resolve(path);
	if (place_check(dir) || temp_make(dir)) {
		dir_free(dir);
		return NULL;
	}
	data = mem_printf("%s/data", dir->temp);
	if (mkdir(data, MODE_NEW)) {
		fail("%s: %s", dir->path, strerror(errno));
		page_remove(dir->temp);
		dir_free(dir);
		dir = NULL;
	}
	free(data);
	return dir;
}

int
html_dir_check(const char *path)
{
	struct html_dir *dir = html_dir_open(path);

	if (!dir)
		return -1;
	page_remove(dir->temp);
	dir_free(dir);
	return 0;
}

static void
fault_record(struct html_dir *dir, const char *name)
{
	if (!dir->fault)
		dir->fault = mem_printf("%s%s%s: %s", dir->path,
					*name ? "/" : "", name,
					strerror(errno ? errno : EIO));
}

FILE *
html_dir_file(struct html_dir *dir, const char *name)
{
	char *path = mem_printf("%s/%s", dir->temp, name);
	FILE *out = fopen(path, "we");

	if (!out) {
		fault_record(dir, name);
		out = fopen("/dev/null", "we");
		must(out);
	}
	free(path);
	return out;
}

void
html_dir_file_close(struct html_dir *dir, FILE *out)
{
	bool bad = ferror(out) != 0;

	errno = 0;
	if (fclose(out) || bad)
		fault_record(dir, "");
}

/* Exchange the new page and the old, even if the file system cannot do so. */
static int
exchange(const struct html_dir *dir)
{
	char *old;
	int err;

	if (renameat2(AT_FDCWD, dir->temp, AT_FDCWD, dir->real,
		      RENAME_EXCHANGE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	old = mem_printf("%s.old", dir->temp);
	err = rename(dir->real, old);
	if (!err && rename(dir->temp, dir->real)) {
		err = -1;
		(void)!rename(old, dir->real);
	} else if (!err) {
		err = rename(old, dir->temp);
	}
	free(old);
	return err;
}

/* Put the new page in place.  What dir->temp names then is to be removed. */
static int
place(struct html_dir *dir)
{
	struct stat st;
	int err;

	if (dir->fault)
		return fail("%s", dir->fault);
	if (place_check(dir))
		return -1;
	if (stat(dir->real, &st) == 0) {
		(void)!chmod(dir->temp, st.st_mode & MODE_NEW);
		err = exchange(dir);
	} else {
		err = rename(dir->temp, dir->real);
	}
	return err ? fail("%s: %s", dir->path, strerror(errno)) : 0;
}

int
html_dir_close(struct html_dir *dir)
{
	int err = place(dir);

	page_remove(dir->temp);
	dir_free(dir);
	return err;
}
