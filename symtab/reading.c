/*
 * What the readers of a file share: its text, the source files found, remarks,
 * and whether the reading goes on.  Reads nothing itself.
 */
#include "symtab/reading.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"
#include "util/search.h"

const struct text *
reading_text(const struct reading *r, uint64_t addr)
{
	size_t lo;

	if (addr >= r->texts_end)
		return NULL;
	lo = search_first(r->ntexts, i, r->texts[i].lo > addr);
	if (lo && addr < r->texts[lo - 1].hi)
		return &r->texts[lo - 1];
	return NULL;
}

bool
reading_is_code(const struct reading *r, uint64_t lo, uint64_t hi)
{
	const struct text *text = lo && lo < hi ? reading_text(r, lo) : NULL;

	return text && hi <= text->hi;
}

/*
 * Collapse "//", "." and ".." in place, looking at no file.  A ".." that
 * leads out of a relative path stays.
 */
static void
path_normalise(char *path)
{
	char *from = path, *to = path, *floor, *next;
	bool more = true;

	if (*path == '/')
		to++;
	for (floor = to; more; from = next) {
		size_t n = strcspn(from, "/");
		bool up = n == 2 && from[0] == '.' && from[1] == '.';

		next = from + n + 1;
		more = from[n] != '\0';
		if (up && to > floor) {
			for (to--; to > floor && to[-1] != '/'; to--)
				;
			continue;
		}
		if (n == 0 || (n == 1 && *from == '.') || (up && *path == '/'))
			continue;
		memmove(to, from, n);
		to += n;
		*to++ = '/';
		if (up)
			floor = to;
	}
	if (to > path + 1)
		to--;
	*to = '\0';
}

uint32_t
reading_file(struct reading *r, char *path)
{
	struct image *image = r->image;
	uint64_t hash;
	uint32_t i;

	path_normalise(path);
	hash = map_hash(path, strlen(path));
	for (; map_get(&r->paths, hash, &i); hash++)
		if (strcmp(image->files[i], path) == 0)
			return i;
	i = (uint32_t)image->nfiles;
	*vec_push(image->files, image->nfiles) = mem_strdup(path);
	map_put(&r->paths, hash, i);
	return i;
}

void
reading_remark(struct reading *r, const char *fmt, ...)
{
	struct image *image = r->image;
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = mem_strdup(fmt);
	va_end(ap);
	*vec_push(image->remarks, image->nremarks) = text;
}

bool
reading_goes_on(struct reading *r, uint64_t n)
{
	r->since += n;
	if (r->since < PROGRESS_STEP || r->stopped)
		return !r->stopped;
	r->since = 0;
	r->stopped = r->progress && !r->progress(r->arg);
	return !r->stopped;
}
