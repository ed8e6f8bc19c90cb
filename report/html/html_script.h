/*
 * The data files of the page: JavaScript, each one call that hands a value
 * to the page, which loads them by script elements, since a page that was
 * opened as a file may not fetch anything else.  Values are JSON.
 */
#ifndef REPORT_HTML_HTML_SCRIPT_H
#define REPORT_HTML_HTML_SCRIPT_H

#include "report/html/html_dir.h"
#include "report/table.h"

/* Why counts are not known: counts in data files refer to these. */
struct script_reasons {
	const char **whys;	/* lent */
	size_t n;
};

struct script {
	struct html_dir *dir;
	struct script_reasons *reasons;
	FILE *out;
	FILE *scratch;		/* strings, made harmless, pass through it */
	char *text;
	size_t size;
	bool comma;		/* before the next value */
};

/* Begin the data file `name`, without ".js"; what it hands over follows. */
void script_open(struct script *script, struct html_dir *dir,
		 struct script_reasons *reasons, const char *name);
/* An error is kept by the directory. */
void script_close(struct script *script);

/* '[' or '{', and its end; in an object each value has a key before it. */
void script_begin(struct script *script, char bracket);
void script_end(struct script *script, char bracket);
void script_key(struct script *script, const char *key);
void script_key_begin(struct script *script, const char *key, char bracket);

/* A number; as a string if it is more than a double holds exactly. */
void script_number(struct script *script, uint64_t n);
/* Addresses are hexadecimal strings. */
void script_addr(struct script *script, uint64_t addr);
/* The count; if it is not known -1 - the index of its reason. */
void script_figure(struct script *script, const struct figure *figure);
/* As text_print shows it, so no control characters, no broken UTF-8. */
void script_string(struct script *script, const char *s);
void script_null(struct script *script);
/* -1: there is none. */
void script_minus(struct script *script);

/* One string of many lines: begin, lines, end. */
void script_lines_begin(struct script *script);
void script_line(struct script *script, const char *s, size_t len);
void script_lines_end(struct script *script);

#endif
