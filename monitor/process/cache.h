/*
 * The files that pmon keeps of images from run to run.
 */
#ifndef MONITOR_PROCESS_CACHE_H
#define MONITOR_PROCESS_CACHE_H

#include <stdio.h>

#include "symtab/image.h"

/*
 * Open the directory, which is made if need be and is the user's own: its
 * descriptor, or -1.
 */
int cache_open(void);

/*
 * The name of the image's file of this kind, owned by the caller, or NULL if
 * the image has no build-id.
 */
char *cache_name(const struct image *image, const char *suffix);

/* Open a file to read it; fclose it.  NULL if there is none. */
FILE *cache_read(int dir, const char *name);

/*
 * Begin to write a file, under another name *temp.  cache_written closes it,
 * frees temp, and puts the file in the place of an earlier one if all of it
 * was written.  NULL if it cannot be written.
 */
FILE *cache_write(int dir, const char *name, char **temp);
void cache_written(int dir, const char *name, FILE *out, char *temp);

/* Remove the image's file of this kind. */
void cache_forget(const struct image *image, const char *suffix);

#endif
