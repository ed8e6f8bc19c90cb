/*
 * The histogram reports: a bar for each line with code.
 */
#include "report/kinds.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/printable.h"
#include "util/mem.h"

enum { PLACE_MAX = 28, PLACE_MIN = 4, COUNT_MIN = 5, BAR_MIN = 10 };

struct scale {
	enum report_kind kind;
	uint64_t max;		/* the largest count */
	size_t width;		/* room for a bar */
	unsigned bits;		/* log: each further mark is a factor of
				   2^bits */
};

static unsigned
log2_floor(uint64_t n)
{
	unsigned bits = 0;

	while (n >>= 1)
		bits++;
	return bits;
}

/* The number of marks of a bar, which may exceed the width. */
static uint64_t
bar_length(const struct scale *scale, uint64_t n)
{
	if (!n || scale->kind == REPORT_HIST)
		return n;
	if (scale->kind == REPORT_HIST_LOG)
		return 1 + log2_floor(n) / scale->bits;
	/* Rounded up, so that every line that ran has a bar. */
	return (uint64_t)(((unsigned __int128)n * scale->width + scale->max -
			   1) /
			  scale->max);
}

static void
bar_write(const struct scale *scale, uint64_t n, FILE *out)
{
	uint64_t i, marks = bar_length(scale, n);
	bool cut = marks > scale->width;

	if (cut)
		marks = scale->width - 1;
	for (i = 0; i < marks; i++)
		putc('*', out);
	if (cut)
		putc('>', out);
}

static char *
explain(const struct scale *scale)
{
	double each = (double)scale->max / (double)scale->width;

	switch (scale->kind) {
	case REPORT_HIST_SCALED:
		return mem_printf("The longest bar, %zu *, is %" PRIu64
				  "; each * is up to %.*f.",
				  scale->width, scale->max,
				  each < 10 ? 2 : each < 100, each);
	case REPORT_HIST_LOG:
		if (scale->bits == 1)
			return mem_strdup("Each further * doubles the count: "
					  "* is 1, ** 2 to 3, *** 4 to 7.");
		return mem_printf("Each further * is %" PRIu64
				  " times the count: * is 1 to %" PRIu64 ".",
				  UINT64_C(1) << scale->bits,
				  (UINT64_C(1) << scale->bits) - 1);
	default:
		return mem_strdup("Each * is one execution; a bar that does "
				  "not fit ends in >.");
	}
}

static size_t
place_width(const struct table *table)
{
	size_t i, wide, width = PLACE_MIN;
	char *place;

	for (i = 0; i < table->nlines && width < PLACE_MAX; i++) {
		place = table_place(table, table->lines[i].file,
				    table->lines[i].line);
		wide = text_width(place, strlen(place));
		if (wide > width)
			width = wide < PLACE_MAX ? wide : PLACE_MAX;
		free(place);
	}
	return width;
}

static void
row_write(const struct table *table, const struct line_entry *line,
	  const struct scale *scale, size_t width, int digits, FILE *out)
{
	char *place = table_place(table, line->file, line->line);

	text_column(out, place, width);
	free(place);
	if (line->count.why) {
		fprintf(out, " %*s  ", digits, "?");
		text_put(out, line->count.why);
		putc('\n', out);
		return;
	}
	putc(' ', out);
	text_count(out, line->count.n, (size_t)digits);
	if (line->count.n)
		fputs("  ", out);
	bar_write(scale, line->count.n, out);
	putc('\n', out);
}

static void
bars_write(struct table *table, FILE *out, enum report_kind kind)
{
	struct scale scale = { .kind = kind, .bits = 1 };
	size_t i, digits, width, columns = table->columns;
	char *text;

	title_write(table, out, "Histogram of the lines");
	if (!lines_present(table, out))
		return;
	for (i = 0; i < table->nlines; i++)
		if (table->lines[i].count.n > scale.max)
			scale.max = table->lines[i].count.n;
	digits = table_lines_digits(table, COUNT_MIN);
	width = place_width(table);
	scale.width = BAR_MIN;
	if (columns > COLUMNS_USUAL)
		columns = COLUMNS_USUAL;
	if (columns > width + digits + 3 + BAR_MIN)
		scale.width = columns - width - digits - 3;
	while (1 + log2_floor(scale.max) / scale.bits > scale.width)
		scale.bits++;
	text = explain(&scale);
	text_paragraph(out, "  ", text, columns);
	free(text);
	putc('\n', out);
	text_column(out, "LINE", width);
	fprintf(out, " %*s\n", (int)digits, "COUNT");
	for (i = 0; i < table->nlines; i++)
		row_write(table, &table->lines[i], &scale, width, (int)digits,
			  out);
}

void
hist_write(struct table *table, FILE *out)
{
	bars_write(table, out, REPORT_HIST);
}

void
hist_scaled_write(struct table *table, FILE *out)
{
	bars_write(table, out, REPORT_HIST_SCALED);
}

void
hist_log_write(struct table *table, FILE *out)
{
	bars_write(table, out, REPORT_HIST_LOG);
}
