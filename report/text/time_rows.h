/*
 * The rows of reports of times.
 */
#ifndef REPORT_TEXT_TIME_ROWS_H
#define REPORT_TEXT_TIME_ROWS_H

#include <stdio.h>

#include "probe/times.h"
#include "report/figure.h"

struct time_row {
	struct times times;	/* nanoseconds, or of an event; lent */
	const char *why;	/* they are not known, or NULL */
	struct figure calls;
	char *name;		/* owned */
};

struct time_rows {
	struct time_row *rows;
	size_t n;
};

/* The event that the rows are of, or NULL: they are of time.  Lent. */
const char *time_rows_event(const struct time_rows *rows);
/*
 * Sort the rows and print `top` of them in so many columns, and why times are
 * not known; and free them.
 */
void time_rows_write(struct time_rows *rows, size_t top, size_t columns,
		     FILE *out);

#endif
