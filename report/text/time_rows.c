/*
 * Prints the rows of reports of times, those with the most time first.
 */
#include "report/text/time_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum {
	TIME_WIDTH = 9,
	EVENT_WIDTH = 7,
	NAME_MIN = 12,
	CALLS_MIN = 9,
};

/* How the rows are written. */
struct style {
	const char *event;	/* what they are of, or NULL: of time */
	struct figure all;	/* in the functions alone */
	size_t calls;		/* width of a number of calls ... */
	int width;		/* ... and of another */
	size_t columns;
};

static void
time_write(FILE *out, const struct time_row *row, int width, uint64_t ns)
{
	char *text = row->why	      ? mem_strdup("?") :
		     row->times.event ? mem_printf("%" PRIu64, ns) :
					text_time(ns);

	fprintf(out, "%*s ", width, text);
	free(text);
}

static int
by_self(const void *va, const void *vb)
{
	const struct time_row *a = va, *b = vb;

	if (!a->why != !b->why)
		return a->why ? 1 : -1;
	if (!a->why && a->times.self != b->times.self)
		return a->times.self > b->times.self ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* The columns behind the calls' number. */
struct column {
	const char *title;
	uint64_t n;
};

enum { COLUMNS_MAX = 4 };

static size_t
columns_of(const struct style *style, const struct times *times,
	   struct column *columns)
{
	uint64_t average = times->ended ? times->sum / times->ended : 0;
	size_t n = 0;

	if (!style->event) {
		columns[n++] = (struct column){ "AVERAGE", average };
	} else {
		columns[n++] = (struct column){ "MIN", times->min };
		columns[n++] = (struct column){ "MEDIAN",
						times_percentile(times, 50) };
		columns[n++] = (struct column){ "99%",
						times_percentile(times, 99) };
	}
	columns[n++] = (struct column){ "MAX", times->max };
	return n;
}

static void
row_write(const struct style *style, const struct time_row *row, FILE *out)
{
	const struct times *times = &row->times;
	struct column columns[COLUMNS_MAX];
	size_t n = columns_of(style, times, columns);
	struct figure self = { .n = times->self, .why = row->why };
	size_t used = (2 + n) * ((size_t)style->width + 1) + style->calls +
		      SHARE_WIDTH + 5;
	size_t room = style->columns > used + NAME_MIN ? style->columns - used :
							 NAME_MIN;
	char *name = name_shorten(row->name, room);

	time_write(out, row, style->width, times->self);
	figure_share(out, &self, &style->all);
	putc(' ', out);
	time_write(out, row, style->width, times->total);
	figure_write(out, &row->calls, style->calls);
	putc(' ', out);
	for (size_t i = 0; i < n; i++)
		time_write(out, row, style->width, columns[i].n);
	putc(' ', out);
	text_print(out, name, strlen(name), room);
	putc('\n', out);
	free(name);
}

static void
head_write(const struct style *style, const struct times *times, FILE *out)
{
	struct column columns[COLUMNS_MAX];
	size_t n = columns_of(style, times, columns);

	fprintf(out, "\n%*s %*s  %*s %*s", style->width, "SELF",
		SHARE_WIDTH + 2, "%", style->width, "TOTAL", (int)style->calls,
		"CALLS");
	for (size_t i = 0; i < n; i++)
		fprintf(out, " %*s", style->width, columns[i].title);
	fputs("  FUNCTION\n", out);
}

/* Explain the question marks, once each. */
static void
whys_write(const struct time_rows *rows, size_t columns, FILE *out)
{
	for (size_t i = 0; i < rows->n; i++) {
		const char *why = rows->rows[i].why;
		size_t k = 0;

		while (k < i && (!rows->rows[k].why || !why ||
				 strcmp(rows->rows[k].why, why)))
			k++;
		if (why && k == i)
			text_paragraph(out, "?: not known: ", why, columns);
	}
}

const char *
time_rows_event(const struct time_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->rows[i].times.event)
			return rows->rows[i].times.event;
	return NULL;
}

/* The width of the number, or the least. */
static int
number_width(uint64_t n, int least)
{
	int width = snprintf(NULL, 0, "%" PRIu64, n);

	return width > least ? width : least;
}

static struct style
style_of(const struct time_rows *rows, size_t columns)
{
	struct style style = {
		.event = time_rows_event(rows),
		.calls = CALLS_MIN,
		.columns = columns,
	};

	style.width = style.event ? EVENT_WIDTH : TIME_WIDTH;
	for (size_t i = 0; i < rows->n; i++) {
		const struct times *times = &rows->rows[i].times;

		style.all.n += times->self;
		figure_widen(&style.calls, &rows->rows[i].calls);
		if (!style.event)
			continue;
		style.width = number_width(times->total, style.width);
		style.width = number_width(times->self, style.width);
		style.width = number_width(times->max, style.width);
	}
	return style;
}

void
time_rows_write(struct time_rows *rows, size_t top, size_t columns, FILE *out)
{
	struct style style = style_of(rows, columns);
	size_t shown = rows->n < top ? rows->n : top;

	if (rows->n)
		qsort(rows->rows, rows->n, sizeof(*rows->rows), by_self);
	if (rows->n)
		head_write(&style, &rows->rows[0].times, out);
	for (size_t i = 0; i < shown; i++)
		row_write(&style, &rows->rows[i], out);
	whys_write(rows, columns, out);
	for (size_t i = 0; i < rows->n; i++)
		free(rows->rows[i].name);
	free(rows->rows);
}
