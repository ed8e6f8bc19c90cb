/*
 * The summary's lines that run most.  Lines of one function that run equally
 * often, as those of a loop do, are one entry.
 */
#include "report/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "report/printable.h"
#include "util/mem.h"

enum { PLACE_MAX = 28, PLACE_MIN = 8, COUNT_MIN = 9 };

/* The first line of some that run equally often. */
struct hot {
	const struct line_entry *line;
	size_t more;		/* how many others there are */
};

/* Descending count; ties in the order of files and lines. */
static int
by_count(const void *va, const void *vb)
{
	const struct line_entry *a = *(struct line_entry *const *)va;
	const struct line_entry *b = *(struct line_entry *const *)vb;

	if (a->count.n != b->count.n)
		return a->count.n > b->count.n ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* The lines that ran, most often run first; owned by the caller. */
static struct line_entry **
lines_rank(const struct table *table, size_t *n)
{
	struct line_entry **rank = NULL;

	*n = 0;
	for (size_t i = 0; i < table->nlines; i++)
		if (figure_ran(&table->lines[i].count))
			*vec_push(rank, *n) = &table->lines[i];
	if (rank)
		qsort(rank, *n, sizeof(struct line_entry *), by_count);
	return rank;
}

static bool
lines_alike(const struct line_entry *a, const struct line_entry *b)
{
	return a->count.n == b->count.n && a->file == b->file &&
	       a->plan == b->plan && a->func == b->func && a->func != FUNC_NONE;
}

/* The hottest lines, as many as --top says; owned by the caller. */
static struct hot *
hot_find(const struct table *table, size_t *n)
{
	struct hot *hot = NULL;
	size_t nrank;
	struct line_entry **rank = lines_rank(table, &nrank);

	*n = 0;
	for (size_t i = 0; i < nrank; i++)
		if (*n && lines_alike(hot[*n - 1].line, rank[i]))
			hot[*n - 1].more++;
		else if (*n < table->opts->top)
			*vec_push(hot, *n) = (struct hot){ rank[i], 0 };
		else
			break;
	free(rank);
	return hot;
}

/* Write the line's text in so many columns. */
static void
text_write(const struct source *source, const struct hot *hot, FILE *out,
	   size_t room)
{
	char *lines = text_number(hot->more, "more line");
	char *more = hot->more ? mem_printf(" (and %s)", lines) :
				 mem_strdup("");
	size_t len, wide = strlen(more);
	const char *text = source_line(source, hot->line->line, &len);

	while (text && len && (*text == ' ' || *text == '\t')) {
		text++;
		len--;
	}
	if (text)
		text_print(out, text, len, room > wide ? room - wide : 0);
	fputs(more, out);
	free(more);
	free(lines);
}

static void
hot_write(struct table *table, const struct hot *hot, FILE *out, size_t digits,
	  size_t width)
{
	const struct line_entry *line = hot->line;
	struct file_entry *file = &table->files[line->file];
	struct source *source = table_source(table, file);
	char *place = table_place(table, line->file, line->line);
	size_t used = digits + 4 + width;

	text_count(out, line->count.n, digits);
	fputs("  ", out);
	if (source) {
		text_column(out, place, width);
		fputs("  ", out);
		text_write(source, hot, out,
			   table->columns > used ? table->columns - used : 0);
	} else {
		text_print(out, place, strlen(place), WIDTH_ALL);
	}
	putc('\n', out);
	free(place);
}

/* The columns of the places. */
static size_t
places_width(const struct table *table, const struct hot *hot, size_t n)
{
	size_t width = PLACE_MIN;

	for (size_t i = 0; i < n; i++) {
		char *place = table_place(table, hot[i].line->file,
					  hot[i].line->line);

		text_widen(&width, place, table_widest(table, PLACE_MAX));
		free(place);
	}
	return width;
}

void
hot_lines_write(struct table *table, FILE *out)
{
	size_t n, digits = COUNT_MIN;
	struct hot *hot = hot_find(table, &n);
	size_t width = places_width(table, hot, n);

	if (n) {
		figure_widen(&digits, &hot[0].line->count);
		text_section(out, "Lines run most");
		fprintf(out, "%*s  LINE\n", (int)digits, "COUNT");
	}
	for (size_t i = 0; i < n; i++)
		hot_write(table, &hot[i], out, digits, width);
	free(hot);
}
