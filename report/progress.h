/*
 * A line on the terminal that says what takes long, until it is done.
 */
#ifndef REPORT_PROGRESS_H
#define REPORT_PROGRESS_H

#include <stdbool.h>

struct progress {
	int fd;			/* where it is shown; -1: nowhere */
	double started;		/* of clock_seconds */
	bool shown;
	const char *text;	/* "pmon: reading symbols of " */
	const char *name;	/* what that is done to, as others chose it;
				   or NULL */
};

/*
 * Begin something that is shown on fd, if that is a terminal and pmon is not to
 * be quiet.  The text and the name are lent until progress_end.
 */
struct progress progress_begin(int fd, bool quiet, const char *text,
			       const char *name);

/* Call this now and then: shows the line once a second has passed. */
void progress_step(struct progress *progress);

/* Erase the line, and show none again. */
void progress_end(struct progress *progress);

#endif
