/*
 * Merges data files.
 */
#ifndef PRINT_MERGE_H
#define PRINT_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/profile/profile.h"

struct merge {
	char **files;		/* at least one */
	size_t n;
	size_t jobs;		/* processes at a time; 0: as many as there are
				   processors */
	bool quiet;		/* show no progress */
	bool skip;		/* leave out files that cannot be merged */
	void (*warn)(const char *why);	/* is told of each of these */
};

/*
 * Read and merge the files; the caller owns the result.  NULL with the message
 * set, which names a file, if one cannot be read or has a run that another one
 * has, too; with `skip` only if none can be read.
 */
struct profile *files_merge(const struct merge *merge);

#endif
