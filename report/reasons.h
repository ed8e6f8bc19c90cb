/*
 * The reasons why counts are not known, each with its number of counts.
 */
#ifndef REPORT_REASONS_H
#define REPORT_REASONS_H

#include <stddef.h>
#include <stdio.h>

#include "program/select.h"

struct reason {
	const char *why;	/* lent: static, or the plan's */
	const char *what, *whats;	/* its units' name: one, several */
	size_t n;
};

struct reasons {
	struct reason *reasons;
	size_t n;
};

/* "function", "functions" */
const char *unit_word(enum unit_kind kind, size_t n);

/* Count one more for the reason, unless why is NULL. */
void reasons_add(struct reasons *reasons, const char *why, const char *what,
		 const char *whats);
void reasons_add_unit(struct reasons *reasons, const char *why,
		      enum unit_kind kind);

/*
 * Write "Not counted:" and a line for each reason, or nothing if there is none;
 * then free the reasons.
 */
void reasons_write(struct reasons *reasons, FILE *out);

#endif
