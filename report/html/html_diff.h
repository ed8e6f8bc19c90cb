/*
 * A page that also shows what changed since an earlier run.
 */
#ifndef REPORT_HTML_HTML_DIFF_H
#define REPORT_HTML_HTML_DIFF_H

#include "report/profile/profile.h"
#include "report/report.h"
#include "util/fail.h"

/* The earlier run. */
struct html_before {
	const char *command;
	/* NULL if its programs are not there: then no lines are compared. */
	const struct report_input *report_input;
	const struct profile_diff *diff;	/* from it to the page's run */
};

/* Make the page in the directory; 0, or -1 with the message set. */
MUST_CHECK int html_diff_write(const struct report_options *opts,
			       const struct html_before *before,
			       const struct report_input *after,
			       const char *path);

#endif
