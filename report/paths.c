/*
 * Gives source files short names: relative to the current directory if they
 * are below it, else the last components of the path that tell it from others.
 * Never opens a file.
 */
#include "report/table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/mem.h"

/* Compare paths from the end to the beginning, '/' before everything else. */
static int
by_reverse(const void *va, const void *vb)
{
	const char *a = (*(struct file_entry *const *)va)->path;
	const char *b = (*(struct file_entry *const *)vb)->path;
	size_t i = strlen(a), j = strlen(b);

	while (i && j && a[i - 1] == b[j - 1]) {
		i--;
		j--;
	}
	if (!i || !j)
		return i ? 1 : j ? -1 : 0;
	if (a[i - 1] == '/' || b[j - 1] == '/')
		return a[i - 1] == '/' ? -1 : 1;
	return (unsigned char)a[i - 1] < (unsigned char)b[j - 1] ? -1 : 1;
}

/* The length in bytes of the whole components that two paths end in. */
static size_t
common_end(const char *a, const char *b)
{
	size_t i = strlen(a), j = strlen(b), n = 0, whole = 0;

	while (i && j && a[i - 1] == b[j - 1]) {
		i--;
		j--;
		n++;
		if (a[i] == '/' || !i || !j)
			whole = n;
	}
	return whole;
}

/*
 * The shortest end of the path that begins with a component and is longer than
 * `common` bytes.
 */
static const char *
path_end(const char *path, size_t common)
{
	size_t len = strlen(path), i;

	for (i = len; i; i--)
		if (path[i - 1] == '/' && len - i > common)
			return path + i;
	return path;
}

void
paths_shorten(struct file_entry *files, size_t n)
{
	struct file_entry **order = mem_alloc(n * sizeof(*order));
	char cwd[PATH_MAX];
	size_t i, cwd_len = 0;

	if (getcwd(cwd, sizeof(cwd)))
		cwd_len = strlen(cwd);
	for (i = 0; i < n; i++)
		order[i] = &files[i];
	if (n)
		qsort(order, n, sizeof(struct file_entry *), by_reverse);
	for (i = 0; i < n; i++) {
		const char *path = order[i]->path;
		size_t before = 0, after = 0;

		if (cwd_len > 1 && strncmp(path, cwd, cwd_len) == 0 &&
		    path[cwd_len] == '/' && path[cwd_len + 1]) {
			order[i]->shown = mem_strdup(path + cwd_len + 1);
			continue;
		}
		if (i)
			before = common_end(order[i - 1]->path, path);
		if (i + 1 < n)
			after = common_end(path, order[i + 1]->path);
		order[i]->shown = mem_strdup(
			path_end(path, before > after ? before : after));
	}
	free(order);
}
