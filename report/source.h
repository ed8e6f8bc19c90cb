/*
 * The text of source files, found by --source-path.  Reads regular files only.
 */
#ifndef REPORT_SOURCE_H
#define REPORT_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "report/report.h"

struct source {
	char *text;
	size_t size;
	size_t *lines;		/* offset of each line, and of the end */
	size_t nlines;
	struct timespec changed;
};

/*
 * Read the source file that an image names; root reads it with the rights of
 * the image's owner.  NULL, with the message set, if it cannot be read.
 */
struct source *source_open(const struct report_options *opts,
			   const struct image *image, const char *path);
/*
 * The path that --source-path maps the file to.  If several mappings fit, the
 * first that leads to a readable file; if none does, the unmapped path if that
 * is readable, else the first mapping.  Owned by the caller.
 */
char *source_path(const struct report_options *opts, const char *path);
/*
 * The same without the directory of --source-root, for exports of coverage.
 * Owned by the caller.
 */
char *source_shown(const struct report_options *opts, const char *path);
/* Nothing if source is NULL. */
void source_close(struct source *source);

/*
 * A line, from 1 on, without its end, *len bytes long; NULL if there is no such
 * line.  Lent.
 */
const char *source_line(const struct source *source, uint32_t line,
			size_t *len);

#endif
