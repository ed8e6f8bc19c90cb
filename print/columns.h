/*
 * Functions with a column for each group of files.
 */
#ifndef PRINT_COLUMNS_H
#define PRINT_COLUMNS_H

#include <stdio.h>

#include "print/merge.h"
#include "print/print_options.h"

/*
 * Print what each function executed, in all files and in those of each label, by
 * opts->by.  0, or -1 with the message set: a file cannot be merged, or has no
 * label.
 */
int columns_print(const struct options *opts, const struct merge *merge,
		  FILE *out);

/*
 * The label of a file: what the first '*' of the glob stands for, if it matches
 * the path or the last components of it.  Owned by the caller; NULL: none.
 */
char *column_label(const char *glob, const char *path);

#endif
