/*
 * An output file that is replaced in whole or not at all.  Never follows a
 * link of a stranger's.
 */
#ifndef REPORT_TARGET_H
#define REPORT_TARGET_H

#include <stdbool.h>
#include <stdio.h>

#include "util/fail.h"

struct target {
	FILE *out;		/* write here */
	char *path;		/* as the user gave it */
	char *real;		/* path with links followed */
	bool direct;		/* a device, a pipe or an open descriptor:
				   written to as it is, never replaced */
	int dir;		/* the directory of real; -1 if direct */
	char *temp;		/* the new file in dir; NULL: the text is kept
				   in memory and put into the old file */
};

/*
 * Check that the target can be written; changes nothing.  0, or -1 with the
 * message set.  A link or file of a stranger's in a directory where everybody
 * may write is refused.
 */
MUST_CHECK int target_check(const char *path);

/* Whether the target is written to as it is, not replaced. */
bool target_direct(const char *path);

/* Open the target for writing to target->out.  NULL with the message set. */
struct target *target_open(const char *path);

/*
 * Put the new text in place of the old.  0, or -1 with the message set if any
 * of it could not be written.  Frees the target in any case.
 */
MUST_CHECK int target_close(struct target *target);

/*
 * Write what is buffered, as of a device that gets more reports.  0, or -1 with
 * the message set if any of the text could not be written.
 */
MUST_CHECK int target_flush(const struct target *target);
/* The same for a stream that is no target; the message calls it `name`. */
MUST_CHECK int stream_flush(FILE *out, const char *name);

/* Discard the new text, so that the old stays, and free the target. */
void target_drop(struct target *target);

#endif
