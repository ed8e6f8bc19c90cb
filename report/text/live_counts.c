/*
 * The snapshot for the live view of a running program: all counts that are
 * known and not 0, one a line.  See man/pmon-control.7.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/table.h"
#include "report/printable.h"

static void
text_write(FILE *out, const char *what, const char *text)
{
	fprintf(out, "%s ", what);
	text_line_put(out, text, "", 0);
	putc('\n', out);
}

static void
totals_write(FILE *out, const char *what, const struct totals *totals)
{
	fprintf(out, "%s %zu %zu %zu\n", what, totals->all, totals->run,
		totals->unknown);
}

static void
funcs_list(const struct table *table, FILE *out)
{
	struct totals totals = { 0 };

	for (size_t i = 0; i < table->funcs.n; i++)
		totals_add(&totals, &table->funcs.entries[i].count);
	totals_write(out, "funcs", &totals);
	table_names(table, &table->funcs, totals.run);
	for (size_t i = 0; i < table->funcs.n; i++) {
		const struct func_entry *func = &table->funcs.entries[i];

		if (func->count.why || !func->count.n)
			continue;
		fprintf(out, "f %" PRIu64, func->count.n);
		text_write(out, "", func->name);
	}
}

static void
lines_list(const struct table *table, FILE *out)
{
	struct totals totals = { 0 };

	for (size_t i = 0; i < table->nlines; i++)
		totals_add(&totals, &table->lines[i].count);
	totals_write(out, "lines", &totals);
	for (size_t i = 0; i < table->nlines; i++) {
		const struct line_entry *line = &table->lines[i];
		char *place;

		if (line->count.why || !line->count.n)
			continue;
		place = table_place(table, line->file, line->line);
		fprintf(out, "l %" PRIu64, line->count.n);
		text_write(out, "", place);
		free(place);
	}
}

void
live_write(const struct report_options *opts,
	   const struct report_input *report_input, FILE *out)
{
	struct table *table = table_make(opts, report_input);

	fprintf(out, "time %.3f\n", report_input->seconds);
	text_write(out, "command", report_input->command);
	text_write(out, "outcome",
		   report_input->outcome ? report_input->outcome : "");
	fprintf(out, "processes %zu\nthreads %zu\n", report_input->nprocesses,
		report_input->nthreads);
	funcs_list(table, out);
	lines_list(table, out);
	table_free(table);
}
