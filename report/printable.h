/*
 * Text that comes from elsewhere (names, paths, source lines), printed so
 * that it fits its column and does nothing to a terminal; and the parts of a
 * page that all reports share.
 */
#ifndef REPORT_PRINTABLE_H
#define REPORT_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static const size_t WIDTH_ALL = SIZE_MAX;

/*
 * Print s, len bytes of it: tabs become spaces, control characters ^X, bytes
 * that are not UTF-8 "?".  What is wider than `width` columns is cut and ends
 * in "...".  Returns the columns used.
 */
size_t text_print(FILE *out, const char *s, size_t len, size_t width);

/* All of it, whose end is a zero byte. */
void text_put(FILE *out, const char *s);

/* s in brackets, with a blank before them, unless it is NULL. */
void text_note(FILE *out, const char *s);

/* The columns that text_print would use if it had them all. */
size_t text_width(const char *s, size_t len);

/* Make the width such that s fits, or as much of it as `max` columns have. */
void text_widen(size_t *width, const char *s, size_t max);

/* Room for a heading too, of a column that is there: not 0 wide. */
void text_head(size_t *width, const char *heading);

/* s padded to width; if too wide its beginning is cut off instead. */
void text_column(FILE *out, const char *s, size_t width);

/* A paragraph, wrapped at `width`; the first line begins with `first`. */
void text_paragraph(FILE *out, const char *first, const char *s,
		    size_t width);

/*
 * The same text in UTF-8, with what is not, or turns the direction of writing,
 * replaced by U+FFFD; control characters are kept.  Owned by the caller.
 */
char *text_utf8(const char *s);

/*
 * The same on one line, with control characters as ^X: for formats that cannot
 * quote them.  Owned by the caller.
 */
char *text_line(const char *s);

/* Print that, with `instead` in place of each character of `special`. */
void text_line_put(FILE *out, const char *s, const char *special,
		   char instead);

/* "PROGRAM: MESSAGE" on one line of standard error. */
void text_message(const char *program, const char *message);

/* As the value of an attribute in XML; control characters become U+FFFD. */
void text_xml(FILE *out, const char *s);

/* Digits of n. */
size_t text_digits(uint64_t n);

/* "1 line", "2 lines"; owned by the caller. */
char *text_number(uint64_t n, const char *what);

#endif
