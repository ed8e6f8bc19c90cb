/*
 * Why counts are not known, and how many of them for each reason.
 */
#ifndef REPORT_TEXT_REASONS_H
#define REPORT_TEXT_REASONS_H

#include <stddef.h>
#include <stdio.h>

#include "plan/select.h"

struct reason {
	const char *why;	/* lent: static, or the plan's */
	const char *what, *whats;	/* one, several */
	size_t n;
};

struct reasons {
	struct reason *reasons;
	size_t n;
};

/* "function", "functions" */
const char *unit_word(enum unit_kind kind, size_t n);

/* One more, unless why is NULL. */
void reasons_add(struct reasons *reasons, const char *why, const char *what,
		 const char *whats);
void reasons_add_unit(struct reasons *reasons, const char *why,
		      enum unit_kind kind);

/* "Not counted:" and a line for each, or nothing at all; and forget them. */
void reasons_write(struct reasons *reasons, FILE *out);

#endif
