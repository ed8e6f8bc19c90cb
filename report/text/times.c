/*
 * The report of times: how long functions took, in themselves and with what they
 * called.
 */
#include "report/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/printable.h"
#include "util/mem.h"

enum {
	TIME_WIDTH = 9,
	CALLS_MIN = 9,
};

struct line {
	struct times times;	/* without bins */
	const char *why;	/* they are not known, or NULL */
	struct figure calls;
	char *name;
};

struct lines {
	struct line *lines;
	size_t n;
};

static void
time_write(FILE *out, const struct line *line, uint64_t ns)
{
	char *text = line->why ? mem_strdup("?") : text_time(ns);

	fprintf(out, "%*s ", TIME_WIDTH, text);
	free(text);
}

static int
by_self(const void *va, const void *vb)
{
	const struct line *a = va, *b = vb;

	if (!a->why != !b->why)
		return a->why ? 1 : -1;
	if (!a->why && a->times.self != b->times.self)
		return a->times.self > b->times.self ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void
line_add(struct lines *lines, const struct table *table,
	 const struct plan *plan, const struct func_plan *fplan)
{
	struct line line = { .why = fplan_untimed(fplan) };

	if (fplan->func == FUNC_NONE || (!fplan->times && !line.why))
		return;
	if (fplan->times)
		line.times = *fplan->times;
	line.calls = figure_of(&fplan->calls);
	if (!fplan->times && !line.calls.why && !line.calls.n)
		return;
	line.name = name_with_aliases(fplan_func(fplan, plan->image),
				      table->opts->demangle);
	*vec_push(lines->lines, lines->n) = line;
}

static struct lines
lines_make(const struct table *table)
{
	const struct report_input *report_input = table->report_input;
	struct lines lines = { 0 };

	for (size_t i = 0; i < report_input->nplans; i++) {
		const struct plan *plan = report_input->plans[i];

		for (size_t k = 0; plan_timed(plan) && k < plan->nfplans; k++)
			line_add(&lines, table, plan, &plan->fplans[k]);
	}
	if (lines.n)
		qsort(lines.lines, lines.n, sizeof(*lines.lines), by_self);
	return lines;
}

static void
line_write(const struct table *table, const struct line *line,
	   const struct figure *all, size_t calls, FILE *out)
{
	const struct times *times = &line->times;
	struct figure self = { .n = times->self, .why = line->why };
	size_t used = 4 * (TIME_WIDTH + 1) + calls + SHARE_WIDTH + 5;
	size_t width = table->columns > used ? table->columns - used : 0;
	char *name = name_shorten(line->name, width);

	time_write(out, line, times->self);
	figure_share(out, &self, all);
	putc(' ', out);
	time_write(out, line, times->total);
	figure_write(out, &line->calls, calls);
	putc(' ', out);
	time_write(out, line, times->ended ? times->sum / times->ended : 0);
	time_write(out, line, times->max);
	putc(' ', out);
	text_print(out, name, strlen(name), width);
	putc('\n', out);
	free(name);
}

/* Explain the question marks, once each. */
static void
whys_write(const struct table *table, const struct lines *lines, FILE *out)
{
	for (size_t i = 0; i < lines->n; i++) {
		const char *why = lines->lines[i].why;
		size_t k = 0;

		while (k < i && (!lines->lines[k].why || !why ||
				 strcmp(lines->lines[k].why, why)))
			k++;
		if (why && k == i)
			text_paragraph(out, "?: not known: ", why,
				       table->columns);
	}
}

static bool
times_measured(const struct report_input *report_input)
{
	for (size_t i = 0; i < report_input->nplans; i++)
		if (plan_timed(report_input->plans[i]))
			return true;
	return false;
}

void
times_write(struct table *table, FILE *out)
{
	struct lines lines = lines_make(table);
	struct figure all = { 0 };
	size_t calls = CALLS_MIN;

	title_write(table, out, "Times");
	run_line_write(table, out);
	if (!times_measured(table->report_input))
		fputs("\nNo times were measured; pmon --time measures them.\n",
		      out);
	for (size_t i = 0; i < lines.n; i++) {
		all.n += lines.lines[i].times.self;
		figure_widen(&calls, &lines.lines[i].calls);
	}
	if (lines.n)
		fprintf(out, "\n%*s %*s  %*s %*s %*s %*s  %s\n", TIME_WIDTH,
			"SELF", SHARE_WIDTH + 2, "%", TIME_WIDTH, "TOTAL",
			(int)calls, "CALLS", TIME_WIDTH, "AVERAGE", TIME_WIDTH,
			"MAX", "FUNCTION");
	for (size_t i = 0; i < lines.n; i++)
		line_write(table, &lines.lines[i], &all, calls, out);
	whys_write(table, &lines, out);
	for (size_t i = 0; i < lines.n; i++)
		free(lines.lines[i].name);
	free(lines.lines);
}
