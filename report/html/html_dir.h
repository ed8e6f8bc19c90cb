/*
 * The directory of a page, which is replaced in whole or not at all.
 */
#ifndef REPORT_HTML_HTML_DIR_H
#define REPORT_HTML_HTML_DIR_H

#include <stdio.h>

struct html_dir;

/*
 * Whether a page can be written there: it is not there, empty, or a page;
 * changes nothing.  0, or -1 with the message.
 */
int html_dir_check(const char *path);

/* NULL with the message set. */
struct html_dir *html_dir_open(const char *path);

/*
 * A file of it, to be written; never NULL.  What cannot be written is an
 * error of html_dir_close.
 */
FILE *html_dir_file(struct html_dir *dir, const char *name);
void html_dir_file_close(struct html_dir *dir, FILE *out);

/*
 * Put what was written in place; 0, or -1 with the message: then what was
 * there before still is.
 */
int html_dir_close(struct html_dir *dir);

/* ---- html_assets.c: what is the same in every page */

struct html_asset {
	const char *name;
	const char *bytes, *end;
};

/* The last one has no name. */
extern const struct html_asset html_assets[];

#endif
