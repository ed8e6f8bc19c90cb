/*
 * The lines that reports of code have in common: names, places, headings and
 * totals of views.  Knows nothing of how counts are found: view.c does.
 */
#include "report/view.h"

#include <stdlib.h>
#include <string.h>

#include "report/kinds.h"
#include "report/names.h"
#include "report/printable.h"
#include "util/fail.h"
#include "util/mem.h"

char *
view_name(const struct view *view)
{
	return name_of_fplan(view->plan, view->fplan,
			     view->table->opts->demangle);
}

char *
view_place(const struct view *view, uint32_t insn)
{
	const struct row *row = view->rows[insn];

	if (!row)
		return mem_strdup("");
	return table_place(view->table,
			   table_file(view->table, view->plan_index, row->file),
			   row->line);
}

static int
by_file_line(const void *va, const void *vb)
{
	const struct row *a = *(const struct row *const *)va;
	const struct row *b = *(const struct row *const *)vb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Write the lines of sorted rows as ranges. */
static void
rows_write(const struct view *view, const struct row **rows, size_t n,
	   FILE *out)
{
	size_t i, j;

	for (i = 0; i < n; i = j) {
		const struct row *row = rows[i];
		uint32_t last = row->line;

		for (j = i + 1; j < n && rows[j]->file == row->file &&
				rows[j]->line - last <= 1;
		     j++)
			last = rows[j]->line;
		if (i && rows[i - 1]->file == row->file) {
			fprintf(out, ",%u", row->line);
		} else {
			char *place = table_place(view->table,
						  table_file(view->table,
							     view->plan_index,
							     row->file),
						  row->line);

			fprintf(out, "%s%s", i ? " " : "", place);
			free(place);
		}
		if (last != row->line)
			fprintf(out, "-%u", last);
	}
}

char *
view_lines(const struct view *view, uint32_t first, uint32_t end)
{
	const struct row **rows = NULL;
	size_t n = 0, size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	must(out);
	for (uint32_t i = first; i < end; i++)
		if (view->rows[i])
			*vec_push(rows, n) = view->rows[i];
	if (n)
		qsort(rows, n, sizeof(*rows), by_file_line);
	rows_write(view, rows, n, out);
	fclose(out);
	free(rows);
	return text;
}

void
view_heading_write(const struct view *view, FILE *out)
{
	const struct table *table = view->table;
	const struct func_plan *fplan = view->fplan;
	const struct func *func = fplan_func(fplan, view->plan->image);
	struct figure calls = figure_of(&fplan->calls);
	char *name = view_name(view);
	char *place = func ? table_place(table,
					 table_file(table, view->plan_index,
						    func->file),
					 func->line) :
			     mem_strdup("");
	char *called = !func || (calls.why && !fplan->named) ? mem_strdup("") :
		       calls.why ? mem_strdup("? calls") :
				   text_number(calls.n, "call");
	char *tail = mem_printf("%s%s%s%s%s%s", *place ? "  " : "", place,
				*called ? "  " : "", called,
				table->report_input->nplans > 1 ? "  " : "",
				table->report_input->nplans > 1 ?
					table_object(table, view->plan_index) :
					"");

	text_colour(out, TEXT_TITLE);
	name_fit(out, name, table->columns, text_width(tail, strlen(tail)));
	text_colour(out, TEXT_PLAIN);
	text_print(out, tail, strlen(tail), WIDTH_ALL);
	putc('\n', out);
	free(tail);
	free(called);
	free(place);
	free(name);
}

bool
view_idle_write(const struct view *view, enum unit_kind kind, FILE *out)
{
	struct totals totals = { 0 };
	struct reasons reasons = { 0 };

	if (!view_idle(view))
		return false;
	view_totals(view, kind, &totals, &reasons);
	free(reasons.reasons);
	fputs(view->table->report_input->attached ?
		      "  not run since attaching: " :
		      "  never run: ",
	      out);
	text_count(out, totals.all, 0);
	fprintf(out, " %s\n", unit_word(kind, totals.all));
	return true;
}

bool
units_present(const struct table *table, FILE *out, enum unit_kind kind)
{
	unsigned units = kind == UNIT_CALL ? VIEW_CALLS : 1U << kind;

	for (size_t i = 0; i < table->report_input->nplans; i++)
		if (table->report_input->plans[i]->units & units)
			return true;
	fprintf(out, "\nNo %s were counted (see --units).\n",
		unit_word(kind, 0));
	return false;
}

void
totals_rest_write(const struct totals *totals, const char *never, FILE *out)
{
	text_count(out, totals->never, 0);
	fputs(never, out);
	if (totals->unknown) {
		fputs(", ", out);
		text_count(out, totals->unknown, 0);
		fputs(" not known (?)", out);
	}
	putc('\n', out);
}

void
totals_line_write(const struct totals *totals, enum unit_kind kind, FILE *out)
{
	fputs("  ", out);
	text_count(out, totals->all, 0);
	fprintf(out, " %s, ", unit_word(kind, totals->all));
	text_count(out, totals->run, 0);
	fputs(" run, ", out);
	totals_rest_write(totals, " never run", out);
}
