/*
 * The files that pmon keeps of images from run to run.
 */
#ifndef MONITOR_PROCESS_CACHE_H
#define MONITOR_PROCESS_CACHE_H

#include <stdbool.h>
#include <stdio.h>

#include "symtab/image.h"

/* The directory of these files. */
struct cache;

/*
 * The directory is opened, and made if need be, when a file is first asked for,
 * and only then; if it is not the user's alone there are no files.  cache_close
 * accepts NULL.
 */
struct cache *cache_open(void);
void cache_close(struct cache *cache);

/* Whether there can be files of the image: one without a build-id has none. */
bool cache_keeps(struct cache *cache, const struct image *image);

/*
 * Open the image's file of this kind, which the suffix of its name tells, to
 * read it; fclose it.  NULL if there is none.
 */
FILE *cache_read(struct cache *cache, const struct image *image,
		 const char *suffix);

/*
 * Begin to write the image's file of this kind.  cache_written closes it, and
 * puts it in the place of an earlier one if all of it was written.  NULL if it
 * cannot be written.
 */
FILE *cache_write(struct cache *cache, const struct image *image,
		  const char *suffix);
void cache_written(struct cache *cache, const struct image *image,
		   const char *suffix, FILE *out);

/* Remove the image's file of this kind. */
void cache_forget(struct cache *cache, const struct image *image,
		  const char *suffix);

#endif
