/*
 * Prints the rows of reports of times, those with the most time first.
 */
#include "report/text/time_rows.h"

#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum {
	TIME_WIDTH = 9,
	CALLS_MIN = 9,
};

static void
time_write(FILE *out, const struct time_row *row, uint64_t ns)
{
	char *text = row->why ? mem_strdup("?") : text_time(ns);

	fprintf(out, "%*s ", TIME_WIDTH, text);
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

static void
row_write(const struct time_row *row, const struct figure *all, size_t calls,
	  size_t columns, FILE *out)
{
	const struct times *times = &row->times;
	struct figure self = { .n = times->self, .why = row->why };
	size_t used = 4 * (TIME_WIDTH + 1) + calls + SHARE_WIDTH + 5;
	size_t width = columns > used ? columns - used : 0;
	char *name = name_shorten(row->name, width);

	time_write(out, row, times->self);
	figure_share(out, &self, all);
	putc(' ', out);
	time_write(out, row, times->total);
	figure_write(out, &row->calls, calls);
	putc(' ', out);
	time_write(out, row, times->ended ? times->sum / times->ended : 0);
	time_write(out, row, times->max);
	putc(' ', out);
	text_print(out, name, strlen(name), width);
	putc('\n', out);
	free(name);
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

void
time_rows_write(struct time_rows *rows, size_t top, size_t columns, FILE *out)
{
	struct figure all = { 0 };
	size_t calls = CALLS_MIN, shown = rows->n < top ? rows->n : top;

	if (rows->n)
		qsort(rows->rows, rows->n, sizeof(*rows->rows), by_self);
	for (size_t i = 0; i < rows->n; i++) {
		all.n += rows->rows[i].times.self;
		figure_widen(&calls, &rows->rows[i].calls);
	}
	if (rows->n)
		fprintf(out, "\n%*s %*s  %*s %*s %*s %*s  %s\n", TIME_WIDTH,
			"SELF", SHARE_WIDTH + 2, "%", TIME_WIDTH, "TOTAL",
			(int)calls, "CALLS", TIME_WIDTH, "AVERAGE", TIME_WIDTH,
			"MAX", "FUNCTION");
	for (size_t i = 0; i < shown; i++)
		row_write(&rows->rows[i], &all, calls, columns, out);
	whys_write(rows, columns, out);
	for (size_t i = 0; i < rows->n; i++)
		free(rows->rows[i].name);
	free(rows->rows);
}
