/*
 * The text of source files, where --source-path says they are.
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
 * The file that an image names, which root reads as the image's owner would.
 * NULL, with the message set, if it cannot be read.
 */
struct source *source_open(const struct report_options *opts,
			   const struct image *image, const char *path);
/*
 * Where --source-path says that the file is; if it is nowhere, where the first
 * one that fits says.  Owned by the caller.
 */
char *source_path(const struct report_options *opts, const char *path);
void source_close(struct source *source);

/* The line, from 1 on, without its end; NULL if there is no such line. */
const char *source_line(const struct source *source, uint32_t line,
			size_t *len);

#endif
