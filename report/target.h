/*
 * A file that is replaced in whole or not at all.
 */
#ifndef REPORT_TARGET_H
#define REPORT_TARGET_H

#include <stdbool.h>
#include <stdio.h>

struct target {
	FILE *out;		/* write here */
	char *path;		/* as the user gave it */
	char *real;		/* what it stands for, links followed */
	bool direct;		/* a device, a pipe, what is open already: it is
				   written to as it is, never replaced */
	int dir;		/* where real is, if that is replaced; or -1 */
	char *temp;		/* the new file there; NULL: kept in memory, to
				   be put into the old one */
};

/*
 * Whether the target can be written; changes nothing.  0 or -1.  A link or file
 * of a stranger's in a directory where everybody may write is refused.
 */
int target_check(const char *path);

/* Whether what is written goes there at once. */
bool target_direct(const char *path);

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
