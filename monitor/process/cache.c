/*
 * Keeps files from run to run in the user's cache directory, a few for each
 * image, named by its build-id.  Knows nothing of what is in them.  Where a
 * file cannot be read or written nothing is said and nothing fails.
 */
#include "monitor/process/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/build_id.h"
#include "util/mem.h"
#include "util/user_dir.h"

enum {
	FILE_MAX = 1 << 22,	/* bytes; some 400,000 functions */
	FILES_MAX = 1024,
};

struct cache {
	int dir;		/* -1: there is none that may be used */
	bool opened;		/* dir is known */
};

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

static int
directory_open(void)
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

struct cache *
cache_open(void)
{
	return mem_alloc(sizeof(struct cache));
}

void
cache_close(struct cache *cache)
{
	if (cache && cache->opened && cache->dir >= 0)
		close(cache->dir);
	free(cache);
}

bool
cache_keeps(struct cache *cache, const struct image *image)
{
	if (image->build_id_len && !cache->opened) {
		cache->dir = directory_open();
		cache->opened = true;
	}
	return image->build_id_len && cache->dir >= 0;
}

/* Remove the file that was used least recently, if there are too many. */
static void
files_limit(int dir)
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
	if (n > FILES_MAX)
		unlinkat(dir, name, 0);
	free(name);
	if (entries)
		closedir(entries);
	else if (fd >= 0)
		close(fd);
}

/* ---- files */

/*
 * The name of the image's file of this kind, owned by the caller; NULL if there
 * can be none.
 */
static char *
file_name(struct cache *cache, const struct image *image, const char *suffix)
{
	char *id, *name;

	if (!cache_keeps(cache, image))
		return NULL;
	id = build_id_text(image->build_id, image->build_id_len);
	name = mem_printf("%s%s", id, suffix);
	free(id);
	return name;
}

/* The name of a file until all of it is written. */
static char *
temp_name(const char *name)
{
	return mem_printf("%s.%d", name, (int)getpid());
}

FILE *
cache_read(struct cache *cache, const struct image *image, const char *suffix)
{
	char *name = file_name(cache, image, suffix);
	int fd = !name ? -1 :
			 openat(cache->dir, name,
				O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	FILE *in = NULL;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    st.st_size <= FILE_MAX)
		in = fdopen(fd, "r");
	if (in)
		/* It was used now: see files_limit. */
		futimens(fd, NULL);
	else if (fd >= 0)
		close(fd);
	free(name);
	return in;
}

FILE *
cache_write(struct cache *cache, const struct image *image, const char *suffix)
{
	char *name = file_name(cache, image, suffix), *temp;
	FILE *out;
	int fd;

	if (!name)
		return NULL;
	temp = temp_name(name);
	fd = openat(cache->dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out && fd >= 0) {
		close(fd);
		unlinkat(cache->dir, temp, 0);
	}
	free(temp);
	free(name);
	return out;
}

void
cache_written(struct cache *cache, const struct image *image,
	      const char *suffix, FILE *out)
{
	char *name = file_name(cache, image, suffix), *temp = temp_name(name);
	bool bad = ferror(out) || ftello(out) > FILE_MAX;

	bad |= fclose(out) != 0;
	if (bad || renameat(cache->dir, temp, cache->dir, name))
		unlinkat(cache->dir, temp, 0);
	free(temp);
	free(name);
	files_limit(cache->dir);
}

void
cache_forget(struct cache *cache, const struct image *image, const char *suffix)
{
	char *name = file_name(cache, image, suffix);

	if (name)
		unlinkat(cache->dir, name, 0);
	free(name);
}
