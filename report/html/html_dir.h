/*
 * The directory of a page, which is replaced in whole or not at all.
 */
#ifndef REPORT_HTML_HTML_DIR_H
#define REPORT_HTML_HTML_DIR_H

#include <stdio.h>

#include "util/fail.h"

struct html_dir;

/* Begin a new page for the path.  NULL with the message set. */
struct html_dir *html_dir_open(const char *path);

/*
 * Open a file of the page for writing; never NULL.  html_dir_close reports
 * what cannot be written.
 */
FILE *html_dir_file(struct html_dir *dir, const char *name);
void html_dir_file_close(struct html_dir *dir, FILE *out);

/*
 * Put the new page in place of the old, and free dir.  0, or -1 with the
 * message set; then the old page is still there.
 */
MUST_CHECK int html_dir_close(struct html_dir *dir);

/* ---- html_assets.c: the files that are the same in every page */

struct html_asset {
	const char *name;
	const char *bytes, *end;
};

/* The last one has no name. */
extern const struct html_asset html_assets[];

#endif
