/*
 * A file that is replaced in whole or not at all.
 */
#ifndef REPORT_TARGET_H
#define REPORT_TARGET_H

#include <stdio.h>

struct target {
	FILE *out;		/* write here */
	char *path;		/* as the user gave it */
	char *real;		/* what will be replaced; NULL if written to
				   directly: a device, a pipe */
	char *temp;		/* beside it */
};

/* Whether the target can be written; changes nothing.  0 or -1. */
int target_check(const char *path);

/* NULL with the message set. */
struct target *target_open(const char *path);

/*
 * Put what was written in place; 0, or -1 with the message if any of it
 * could not be written: then what was there before is still there.
 */
int target_close(struct target *target);

/* Forget what was written: what was there before stays. */
void target_drop(struct target *target);

#endif
