/*
 * Reads the text of source files.  Reads regular files of a sane size only, as
 * paths come from debugging information, which anyone may have written.
 */
#include "report/source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fail.h"
#include "util/mem.h"
#include "util/path_map.h"
#include "util/regular.h"

enum { SOURCE_MAX = 256 << 20 };

static int
source_load(struct source *source, int fd, const struct stat *st,
	    const char *path)
{
	size_t size = (size_t)st->st_size;
	ssize_t n = 1;

	if (st->st_size > SOURCE_MAX)
		return fail("%s: too large for a source file", path);
	source->changed = st->st_mtim;
	source->text = mem_alloc(size);
	while (source->size < size && n > 0) {
		n = read(fd, source->text + source->size, size - source->size);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			return fail("%s: %s", path, strerror(errno));
		else
			source->size += (size_t)n;
	}
	return 0;
}

static void
source_split(struct source *source)
{
	size_t at = 0;

	while (at < source->size) {
		const char *end = memchr(source->text + at, '\n',
					 source->size - at);

		*vec_push(source->lines, source->nlines) = at;
		at = end ? (size_t)(end - source->text) + 1 : source->size;
	}
	*vec_push(source->lines, source->nlines) = at;
	source->nlines--;
}

static struct source *
source_read(const struct image *image, const char *path)
{
	struct source *source;
	struct stat st;
	int fd = regular_open_as(image->owner, image->group, path, &st);

	if (fd < 0)
		return NULL;
	source = mem_alloc(sizeof(*source));
	if (source_load(source, fd, &st, path) < 0) {
		source_close(source);
		source = NULL;
	} else {
		source_split(source);
	}
	close(fd);
	return source;
}

struct source *
source_open(const struct report_options *opts, const struct image *image,
	    const char *path)
{
	struct source *source = NULL;
	size_t i;

	for (i = 0; i < opts->nsource_paths && !source; i++) {
		char *mapped = path_map(opts->source_paths[i], path);

		if (mapped)
			source = source_read(image, mapped);
		free(mapped);
	}
	return source ? source : source_read(image, path);
}

char *
source_path(const struct report_options *opts, const char *path)
{
	char *first = NULL;

	for (size_t i = 0; i < opts->nsource_paths; i++) {
		char *mapped = path_map(opts->source_paths[i], path);

		if (mapped && access(mapped, R_OK) == 0) {
			free(first);
			return mapped;
		}
		if (mapped && !first)
			first = mapped;
		else
			free(mapped);
	}
	if (first && access(path, R_OK) == 0) {
		free(first);
		first = NULL;
	}
	return first ? first : mem_strdup(path);
}

char *
source_shown(const struct report_options *opts, const char *path)
{
	char *mapped = source_path(opts, path), *below;
	const char *root = opts->source_root;
	/* Of "/" nothing stands before the '/' of what is below. */
	size_t len = root && root[1] ? strlen(root) : 0;

	if (!root || strncmp(mapped, root, len) != 0 || mapped[len] != '/')
		return mapped;
	below = mem_strdup(mapped + len + 1);
	free(mapped);
	return below;
}

void
source_close(struct source *source)
{
	if (!source)
		return;
	free(source->text);
	free(source->lines);
	free(source);
}

const char *
source_line(const struct source *source, uint32_t line, size_t *len)
{
	size_t from, to;

	if (!line || line > source->nlines)
		return NULL;
	from = source->lines[line - 1];
	to = source->lines[line];
	if (to > from && source->text[to - 1] == '\n')
		to--;
	if (to > from && source->text[to - 1] == '\r')
		to--;
	*len = to - from;
	return source->text + from;
}
