/*
 * The data files of the page.  Each is JavaScript: one call that hands a JSON
 * value to the page.  The page loads them by script elements, since a page
 * that was opened as a file may not fetch anything else.  Large values are
 * compressed.
 */
#ifndef REPORT_HTML_HTML_SCRIPT_H
#define REPORT_HTML_HTML_SCRIPT_H

#include "report/html/html_dir.h"
#include "report/table.h"

/* The reasons of unknown counts; data files refer to them by index. */
struct script_reasons {
	const char **whys;	/* lent */
	size_t n;
};

struct script {
	struct html_dir *dir;
	struct script_reasons *reasons;
	char *name;		/* owned */
	FILE *out;		/* memory stream of the value */
	char *value;		/* its buffer */
	size_t value_size;
	FILE *scratch;		/* memory stream that makes strings harmless */
	char *text;		/* its buffer */
	size_t size;
	bool comma;		/* before the next value */
};

/* Begin the data file `name`, without ".js"; the caller writes its value. */
void script_open(struct script *script, struct html_dir *dir,
		 struct script_reasons *reasons, const char *name);
/* html_dir_close reports a write error. */
void script_close(struct script *script);

/*
 * Begin and end an array or an object: '[' or '{', then ']' or '}'.  In an
 * object a key comes before each value.
 */
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
/* The string as text_print shows it: no control characters, valid UTF-8. */
void script_string(struct script *script, const char *s);
void script_null(struct script *script);
/* -1, which stands for a missing index. */
void script_minus(struct script *script);

/* One string that has many lines: begin, each line, end. */
void script_lines_begin(struct script *script);
void script_line(struct script *script, const char *s, size_t len);
void script_lines_end(struct script *script);

#endif
