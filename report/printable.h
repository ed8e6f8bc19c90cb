/*
 * Printing of text that others chose (names, paths, source lines), so that it
 * fits its column and cannot control a terminal; and columns, paragraphs and
 * numbers, which all reports share.  Never asks the locale.
 */
#ifndef REPORT_PRINTABLE_H
#define REPORT_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static const size_t WIDTH_ALL = SIZE_MAX;

enum { COLUMNS_USUAL = 80 };	/* of a terminal */

/*
 * Print len bytes of s.  Tabs become spaces, control characters ^X, bytes that
 * are not UTF-8 "?".  Text wider than `width` columns is cut and ends in
 * "...".  Returns the columns used.
 */
size_t text_print(FILE *out, const char *s, size_t len, size_t width);

/* Print the whole string. */
void text_put(FILE *out, const char *s);

/* Print " [s]"; nothing if s is NULL. */
void text_note(FILE *out, const char *s);

/*
 * The same at the end of a line of which `used` columns are taken: where it does
 * not fit it is a paragraph of its own, in the lines below.
 */
void text_note_below(FILE *out, const char *s, size_t used, size_t columns);

/* The columns that text_print uses with WIDTH_ALL. */
size_t text_width(const char *s, size_t len);

/* Increase the width to that of s, but to no more than `max`. */
void text_widen(size_t *width, const char *s, size_t max);

/* Increase the width to that of the heading, unless it is 0: no column. */
void text_head(size_t *width, const char *heading);

/* Print s, padded to width; if s is too wide its beginning is cut off. */
void text_column(FILE *out, const char *s, size_t width);

/* Print a paragraph, wrapped at `width`; its first line begins with `first`. */
void text_paragraph(FILE *out, const char *first, const char *s, size_t width);

/*
 * The text in UTF-8.  U+FFFD replaces bytes that are not UTF-8 and characters
 * that are not printable or turn the direction of writing; ASCII control
 * characters are kept.  Owned by the caller.
 */
char *text_utf8(const char *s);

/*
 * As text_utf8, but with control characters as ^X: for formats that cannot
 * quote them.  Owned by the caller.
 */
char *text_line(const char *s);

/* Print text_line's result, with `instead` for each character of `special`. */
void text_line_put(FILE *out, const char *s, const char *special, char instead);

/* Print "PROGRAM: MESSAGE" as one line on standard error. */
void text_message(const char *program, const char *message);

/* Print s as XML text or attribute; control characters become U+FFFD. */
void text_xml(FILE *out, const char *s);

/*
 * Choose how the functions below print from now on: for a person at a terminal,
 * with commas between thousands and with colours, or, as at first, plainly.
 */
void text_style(bool commas, bool colours);

/* The columns of n. */
size_t text_digits(uint64_t n);

/* Print n, aligned to the right of `width` columns. */
void text_count(FILE *out, uint64_t n, size_t width);

/* Print how much more than before it is now, with its sign, likewise. */
void text_change(FILE *out, uint64_t before, uint64_t now, size_t width);

/* "12.3 us", with three digits; owned by the caller. */
char *text_time(uint64_t ns);

/* "1 line", "2 lines"; owned by the caller. */
char *text_number(uint64_t n, const char *what);

enum text_colour {
	TEXT_PLAIN,
	TEXT_TITLE,
	TEXT_GOOD,
	TEXT_FAIR,
	TEXT_BAD,
};

/* What is printed next is in this colour, until TEXT_PLAIN. */
void text_colour(FILE *out, enum text_colour colour);

/* The heading of a part of a report, behind a blank line: "Title:". */
void text_section(FILE *out, const char *title);

#endif
