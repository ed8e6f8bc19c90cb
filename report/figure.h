/*
 * Figures: counts, and sums of counts, as reports show them.  Knows no plan.
 */
#ifndef REPORT_FIGURE_H
#define REPORT_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "flow/propagate.h"

enum { SHARE_WIDTH = 6 };

/* A count, or the reason why it is not known. */
struct figure {
	uint64_t n;		/* of an unknown sum: its known part */
	const char *why;	/* NULL: n is known */
};

/* Whether the figure is known and not zero. */
static inline bool
figure_ran(const struct figure *figure)
{
	return !figure->why && figure->n;
}

/* How much a number has grown or shrunk. */
static inline uint64_t
change_size(uint64_t before, uint64_t after)
{
	return before < after ? after - before : before - after;
}

/* Numbers of units: all, and by what is known of their counts. */
struct totals {
	size_t all, run, never, unknown;
};

/* The figure of a count; n is 0 if the count is not known. */
struct figure figure_of(const struct count *count);
/*
 * Add to a sum.  A sum with an unknown summand is unknown, for the reason of
 * the first such summand.
 */
void figure_add(struct figure *to, const struct figure *count);
/* Write the number, or "?", aligned to the right of `width` columns. */
void figure_write(FILE *out, const struct figure *count, size_t width);
/* The same, but "#####" for a count of 0. */
void figure_or_never(FILE *out, const struct figure *count, size_t width);
/* Write "12" or "at least 12". */
void figure_say(FILE *out, const struct figure *count);
/* For qsort(3): largest first, unknown ones last. */
int figure_compare(const struct figure *a, const struct figure *b);
/* Increase the width if the figure needs more. */
void figure_widen(size_t *width, const struct figure *count);

/* Count one more unit. */
void totals_add(struct totals *totals, const struct figure *count);

/*
 * Write the part in percent of the whole, aligned to the right of SHARE_WIDTH
 * columns behind two blanks.  Only exactly nothing is "0.0", only the whole
 * "100.0".
 */
void figure_share(FILE *out, const struct figure *part,
		  const struct figure *whole);

#endif
